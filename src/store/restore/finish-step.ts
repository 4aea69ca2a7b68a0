import type { Position } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { runningKey } from "../backup/place.ts";
import { tryBucket } from "../backup/ports.ts";
import { finishRegistry, finishStatements } from "./finish.ts";
import { NO_CONTENTS, type RestorePorts } from "./ports.ts";
import { moveRestore } from "./progress.ts";
import type { Step, Stepped } from "./step.ts";

/** The end of a restore: the row of the vault, by which it exists. */

const DONE: Position = { phase: "done", part: 0, index: 0, rowsLeftOut: 0 };

export async function finish(ports: RestorePorts, step: Step): Promise<Result<Stepped>> {
  // What the coordinator has cached is not the vault of the snapshot.
  const prepared = step.row ? await ports.prepare(NO_CONTENTS) : ok(undefined);
  if (!prepared.ok) return prepared;
  // A snapshot that was under way is of the vault as it was.
  const forgotten = await tryBucket(() => ports.backups.delete(runningKey(step.manifest.vault)));
  if (!forgotten.ok) return forgotten;
  const statements = step.row ? await finishStatements(ports, step, step.row) : [finishRegistry(ports.store.db)];
  const moved = await moveRestore(ports.store.db, step, step.saved, DONE, statements);
  return moved.ok ? ok({ position: DONE, saved: DONE }) : moved;
}
