import type { Manifest } from "../../model/backup.ts";
import type { ContentAddress } from "../../model/file.ts";
import type { Finding } from "../../model/finding.ts";
import { beginPhase, type Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { contentsOfPart, copyContents } from "../backup/contents.ts";
import { loadPart } from "../backup/load.ts";
import { fault, findingOf } from "../checks/fault.ts";
import { contentKey } from "../contents/object-keys.ts";
import { unknownNames } from "../tables/tables.ts";
import { NO_CONTENTS, type RestorePorts, type Step, type Stepped } from "./step.ts";

/**
 * The first phase: it loads every part, checks its hash and the names of its tables and columns, and copies the contents that FILES does not
 * have. It does not change the vault. A dry run ends with it. The phase `bucket` asks the bucket again, because a sweep that began before the restore may have deleted contents since.
 */

/** Contents that the coordinator records in one call. */
const RECORDED_CONTENTS_MAX = 50;

/**
 * Checks one part, and copies its contents as far as the calls of the step go. Fails as `loadPart` does, and with `backup_too_new` for a name that
 * this release does not know.
 */
export async function contentsStep(ports: RestorePorts, { manifest, position }: Step): Promise<Result<Stepped>> {
  const { dryRun } = ports.input;
  const ref = manifest.parts[position.part];
  if (!ref) return ok({ position: nextPhase(position, dryRun) });
  const part = await loadPart(ports.store.backups, manifest, ref);
  if (!part.ok) return part;
  const [later] = unknownNames(manifest.vault, part.value);
  if (later !== undefined) return fail("backup_too_new", `part ${ref.sha256} has ${later}, which this release does not know`);
  const left = contentsOfPart(manifest.vault, part.value).slice(position.index);
  const brought = await bringContents(ports, manifest, left);
  if (!brought.ok) return brought;
  const { done, findings } = brought.value;
  const isDone = done === left.length;
  const next = { ...position, part: position.part + (isDone ? 1 : 0), index: isDone ? 0 : position.index + done };
  // Only one phase makes the findings, so that there is one for each content.
  return ok({ position: next, findings: dryRun || position.phase === "bucket" ? findings : [] });
}

function nextPhase({ phase, rowsLeftOut }: Position, dryRun: boolean): Position {
  if (dryRun) return beginPhase("done");
  return phase === "contents" ? beginPhase("clear") : beginPhase("finish", rowsLeftOut);
}

interface BroughtContents {
  /** Number of contents from the first one on that are done. */
  readonly done: number;
  /** The contents that neither bucket has. */
  readonly findings: readonly Finding[];
}

/** Copies contents that FILES does not have, some of them in one call. A dry run only looks for them. Fails with `unavailable`. */
export async function bringContents(
  { store, input: { dryRun }, prepare, isSpent }: RestorePorts,
  { vault, number: snapshot }: Pick<Manifest, "vault" | "number">,
  contents: readonly ContentAddress[],
): Promise<Result<BroughtContents>> {
  const expected = contents.slice(0, RECORDED_CONTENTS_MAX);
  const prepared = dryRun || expected.length === 0 ? ok(undefined) : await prepare(vault, { ...NO_CONTENTS, expected });
  if (!prepared.ok) return prepared;
  const copied = await copyContents({ store, to: "files", dryRun, isSpent }, expected.map(contentKey));
  if (!copied.ok) return copied;
  const { done, missing } = copied.value;
  const findings = expected.flatMap((address) => {
    const id = contentKey(address);
    const { item, file } = address;
    const named = { vault, item, file, id, snapshot };
    return missing.includes(id) ? findingOf(fault("content_missing", named, "FILES and the backup lack the content")) : [];
  });
  return ok({ done, findings });
}
