import type { Part } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { bringContent } from "./content.ts";
import { fileRowsOf, openPartFiles, type PartFile } from "./files.ts";
import type { RestorePorts } from "./ports.ts";
import { findingsOf, readablePart } from "./readable.ts";
import type { Step, Stepped } from "./step.ts";

/**
 * The first phase: it loads and checks every part, and copies the contents that FILES does not have. It does not change the vault. A dry
 * run ends with it. The phase `bucket` asks the bucket again, because a sweep that began before the restore may have deleted contents since.
 */

/** Contents that the coordinator records in one call. */
const RECORDED_CONTENTS_MAX = 50;

/** Checks one part, and copies its contents as far as the calls of the step go. Fails with `backup_damaged` or `unavailable`. */
export async function contentsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position } = step;
  const { dryRun } = ports.input;
  const ref = manifest.parts[position.part];
  if (!ref) return ok({ position: nextPhase(position, dryRun) });
  const part = await loadPart(ports.store.backups, manifest, ref);
  if (!part.ok) return part;
  const copied = await copyContents(ports, step, part.value);
  if (!copied.ok) return copied;
  const { next: index, findings: found } = copied.value;
  // One phase makes the findings, so that there is one for each row.
  const isRead = dryRun && position.index === 0;
  const readable = isRead ? await readablePart(ports.store, manifest, part.value, step.keys) : undefined;
  const rows = readable ? await findingsOf(ports.store, step, readable) : [];
  const findings = dryRun || position.phase === "bucket" ? [...rows, ...found] : [];
  const next: Position = index === undefined ? { ...position, part: position.part + 1, index: 0 } : { ...position, index };
  return ok({ position: next, findings });
}

function nextPhase({ phase, rowsLeftOut }: Position, dryRun: boolean): Position {
  if (dryRun) return beginPhase("done");
  return phase === "contents" ? beginPhase("clear") : beginPhase("finish", rowsLeftOut);
}

interface CopiedContents {
  /** The index of the next File; `undefined` when the part has no more. */
  readonly next: number | undefined;
  /** The contents that are missing or damaged in the backup. */
  readonly findings: readonly Finding[];
}

/**
 * Copies the contents of a part that FILES does not have, starting at the File of the position. A dry run only authenticates them. A missing
 * or damaged content becomes a finding, and the other contents are still copied. Fails with `unavailable`.
 */
async function copyContents(ports: RestorePorts, step: Step, part: Part): Promise<Result<CopiedContents>> {
  const { manifest, keys, position } = step;
  const findings: Finding[] = [];
  if (!keys) return ok({ next: undefined, findings }); // the registry has none
  const rows = fileRowsOf(part);
  for (let index = position.index; index < rows.length; index += RECORDED_CONTENTS_MAX) {
    const group = rows.slice(index, index + RECORDED_CONTENTS_MAX);
    if (!ports.input.dryRun) {
      const expected = (await openPartFiles(keys, manifest.vault, group)).map(({ address }) => address);
      const prepared = await ports.prepare(manifest.vault, { expected, released: [] });
      if (!prepared.ok) return prepared;
    }
    for (const [offset, fileRow] of group.entries()) {
      if (index + offset > position.index && ports.isSpent()) return ok({ next: index + offset, findings });
      // A broken row is named with the other rows of the part.
      for (const file of await openPartFiles(keys, manifest.vault, [fileRow])) {
        const copied = await restoreContent(ports, step, file);
        if (!copied.ok) return copied;
        if (copied.value) findings.push(copied.value);
      }
    }
  }
  return ok({ next: undefined, findings });
}

/** Returns the fault of the content in the backup, if FILES does not have the content. */
async function restoreContent(
  { store, input }: RestorePorts,
  { manifest }: Step,
  one: PartFile,
): Promise<Result<Finding | undefined>> {
  const found = await bringContent(store, one, { dryRun: input.dryRun });
  return found.ok && found.value ? ok({ ...found.value, snapshot: manifest.number }) : found;
}
