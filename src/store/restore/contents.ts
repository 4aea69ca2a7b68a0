import type { Manifest, Part } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Position } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import { bringContent } from "./content.ts";
import { finish } from "./finish.ts";
import { fileRowsOf, openPartFiles, type PartFile } from "./files.ts";
import type { RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import type { Budget, Step, Stepped } from "./step.ts";

/**
 * The first phase: it loads and checks every part, and copies the contents that FILES does not have. It does not change the vault. The
 * last phase asks the bucket again, because a sweep that began before the restore may have deleted contents since.
 */

/** The most contents that the coordinator records in one call. */
const RECORDED_CONTENTS_MAX = 50;

/** Checks one part, and copies its contents as far as the budget goes. Errors: `backup_damaged`, `unavailable`, those of `moveRestore`. */
export async function contentsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, position, saved, budget } = step;
  const ref = manifest.parts[position.part];
  const isLast = position.phase === "bucket";
  if (!ref) return isLast ? finish(ports, step) : save(ports, step, { phase: "clear", part: 0, index: 0, rowsLeftOut: 0 }, []);
  budget.spend(0, 1);
  const part = await loadPart(ports.backups, manifest, ref);
  if (!part.ok) return part;
  const copied = await copyContents(ports, { ...step, row: step.row! }, part.value, position.index, false);
  if (!copied.ok) return copied;
  const { next: index, findings: found } = copied.value;
  // The last phase makes the findings, so that there is one for each row.
  const findings = isLast ? found : [];
  const next: Position = index === undefined ? { ...position, part: position.part + 1, index: 0 } : { ...position, index };
  return budget.isSpent() ? save(ports, step, next, findings) : ok({ position: next, saved, findings });
}

async function save({ store }: RestorePorts, step: Step, next: Position, findings: readonly Finding[]): Promise<Result<Stepped>> {
  step.budget.spend(1, 0);
  const outcome = await moveRestore(store.db, step, step.saved, next, []);
  return outcome.ok ? ok({ position: next, saved: next, findings }) : outcome;
}

/** The part and the vault of a slice of contents. */
interface Slice {
  readonly manifest: Manifest;
  readonly row: VaultRow;
  readonly position: Pick<Position, "part">;
  readonly budget: Budget;
}

export interface CopiedContents {
  /** The index of the next File; `undefined` when the part has no more. */
  readonly next: number | undefined;
  /** The contents that are missing or damaged in the backup. */
  readonly findings: readonly Finding[];
}

/**
 * Copies the contents of a part that FILES does not have, from the File of an index on. In: `dryRun` only authenticates them. A content
 * that is missing or does not open becomes a finding, and the other contents are still copied. Errors: `unavailable`, those of opening the
 * keys.
 */
export async function copyContents(
  ports: RestorePorts,
  slice: Slice,
  part: Part,
  from: number,
  dryRun: boolean,
): Promise<Result<CopiedContents>> {
  const { manifest, row, budget } = slice;
  const rows = fileRowsOf(part);
  const findings: Finding[] = [];
  const keys = await openKeys(ports.store, row);
  if (!keys.ok) return keys;
  for (let index = from; index < rows.length; index += RECORDED_CONTENTS_MAX) {
    if (index > from && budget.isSpent()) return ok({ next: index, findings });
    const group = rows.slice(index, index + RECORDED_CONTENTS_MAX);
    if (!dryRun) {
      budget.spend(1, 0);
      const expected = (await openPartFiles(keys.value, manifest.vault, group)).map(({ address }) => address);
      const prepared = await ports.prepare({ expected, released: [] });
      if (!prepared.ok) return prepared;
    }
    for (const [offset, fileRow] of group.entries()) {
      if (offset > 0 && budget.isSpent()) return ok({ next: index + offset, findings });
      // A row that does not open is named with the other rows of the part.
      for (const file of await openPartFiles(keys.value, manifest.vault, [fileRow])) {
        const copied = await restoreContent(ports, slice, file, dryRun);
        if (!copied.ok) return copied;
        if (copied.value) findings.push(copied.value);
      }
    }
  }
  return ok({ next: undefined, findings });
}

/** Out: the fault of the content in the backup, when FILES does not have it. */
async function restoreContent(
  ports: RestorePorts,
  { manifest, budget }: Slice,
  one: PartFile,
  dryRun: boolean,
): Promise<Result<Finding | undefined>> {
  budget.spend(0, 3);
  const found = await bringContent(ports, one, { dryRun });
  return found.ok && found.value ? ok({ ...found.value, snapshot: manifest.number }) : found;
}
