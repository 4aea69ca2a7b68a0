import { REGISTRY } from "../../model/backup.ts";
import type { Position } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { findBrokenVault } from "../backup/broken.ts";
import { loadPart } from "../backup/load.ts";
import { openKeys } from "../vaults/rows.ts";
import { finish } from "./finish-step.ts";
import type { RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import { readablePart } from "./readable.ts";
import { registryStatements } from "./registry-rows.ts";
import type { Step, Stepped } from "./step.ts";
import { groupsOf } from "./groups.ts";
import { rowStatements } from "./write-rows.ts";

/**
 * The third phase: the rows of the parts are written, oldest part first. Carries out what is left of
 * one part, as far as the budget goes. Errors: `backup_damaged`, `unavailable`, those of `moveRestore`.
 */
export async function rowsStep(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  const { manifest, budget } = step;
  const { part: at } = step.position;
  const ref = manifest.parts[at];
  if (!ref) return step.row ? askBucket(ports, step) : finish(ports, step);
  budget.spend(0, 1);
  const part = await loadPart(ports.backups, manifest, ref);
  if (!part.ok) return part;
  const keys = step.row ? await openKeys(ports.store, step.row) : ok(undefined);
  if (!keys.ok) return keys;
  const readable = await readablePart(ports, manifest, at, part.value, keys.value);
  if (!readable.ok) return readable;
  const groups = groupsOf(readable.value.part, at === manifest.parts.length - 1);
  const ofVault = step.row && at === 0 ? await findBrokenVault(ports.store, manifest.row!) : [];
  const findings = step.position.index === 0 ? [...ofVault, ...readable.value.findings] : [];
  const { db } = ports.store;
  let { position, saved } = step;
  const rowsLeftOut = position.rowsLeftOut + readable.value.rowsLeftOut;
  const following: Position = { phase: "rows", part: at + 1, index: 0, rowsLeftOut };
  while (position.index < groups.length) {
    const group = groups[position.index]!;
    const statements =
      manifest.vault === REGISTRY ? registryStatements(db, group, ports.store.now) : rowStatements(db, manifest.vault, group);
    if (!statements.ok) return fail("backup_damaged", `part ${ref.sha256}: ${statements.failure.detail}`);
    const next = position.index + 1 < groups.length ? { ...position, index: position.index + 1 } : following;
    budget.spend(1, 0);
    const moved = await moveRestore(db, step, saved, next, statements.value);
    if (!moved.ok) return moved;
    if (next === following || budget.isSpent()) return ok({ position: next, saved: next, findings });
    position = saved = next;
  }
  return ok({ position: following, saved, findings });
}

async function askBucket(ports: RestorePorts, { position, saved, ...step }: Step): Promise<Result<Stepped>> {
  const next: Position = { ...position, phase: "bucket", part: 0, index: 0 };
  const moved = await moveRestore(ports.store.db, step, saved, next, []);
  return moved.ok ? ok({ position: next, saved: next }) : moved;
}
