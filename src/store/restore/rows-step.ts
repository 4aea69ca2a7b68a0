import { REGISTRY } from "../../model/backup.ts";
import type { Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { loadPart } from "../backup/load.ts";
import { runningKey } from "../backup/place.ts";
import { tryBucket } from "../backup/ports.ts";
import { finishRegistry, finishStatements } from "./finish.ts";
import { NO_CONTENTS, type RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import { registryStatements } from "./registry-rows.ts";
import type { Step, Stepped } from "./step.ts";
import { groupsOf } from "./groups.ts";
import { rowStatements } from "./write-rows.ts";

/**
 * The third phase: the rows of the parts are written, oldest part first, and at the end the row of the vault. Carries out what is left of
 * one part, as far as the budget goes. Errors: `backup_damaged`, `unavailable`, those of `moveRestore`.
 */
export async function rowsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, budget } = step;
  const { part: at } = step.position;
  const ref = manifest.parts[at];
  if (!ref) return finish(ports, step);
  budget.spend(0, 1);
  const part = await loadPart(ports.backups, manifest, ref);
  if (!part.ok) return part;
  const groups = groupsOf(part.value, at === manifest.parts.length - 1);
  const { db } = ports.store;
  let { position, saved } = step;
  const following: Position = { phase: "rows", part: at + 1, index: 0 };
  while (position.index < groups.length) {
    const group = groups[position.index]!;
    const statements =
      manifest.vault === REGISTRY ? registryStatements(db, group, ports.store.now) : rowStatements(db, manifest.vault, group);
    if (!statements.ok) return fail("backup_damaged", `part ${ref.sha256}: ${statements.failure.detail}`);
    const next = position.index + 1 < groups.length ? { ...position, index: position.index + 1 } : following;
    budget.spend(1, 0);
    const moved = await moveRestore(db, step, saved, next, statements.value);
    if (!moved.ok) return moved;
    if (next === following || budget.isSpent()) return ok({ position: next, saved: next });
    position = saved = next;
  }
  return ok({ position: following, saved });
}

const DONE: Position = { phase: "done", part: 0, index: 0 };

async function finish(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  // What the coordinator has cached is not the vault of the snapshot.
  const prepared = step.row ? await ports.prepare(NO_CONTENTS) : ok(undefined);
  if (!prepared.ok) return prepared;
  // A snapshot that was under way is of the vault as it was.
  const forgotten = await tryBucket(() => ports.backups.delete(runningKey(step.manifest.vault)));
  if (!forgotten.ok) return forgotten;
  const statements = step.row ? await finishStatements(ports, step.row) : [finishRegistry(ports.store.db)];
  const moved = await moveRestore(ports.store.db, step, step.saved, DONE, statements);
  return moved.ok ? ok({ position: DONE, saved: DONE }) : moved;
}
