import { ok, type Result } from "../model/result.ts";
import type { VerifyAnswer, VerifyRequest } from "../model/verify.ts";
import { listPending, pendingVault, recordReleased, UNKNOWN_ITEM } from "../store/contents/pending.ts";
import type { Store } from "../store/d1/database.ts";
import type { RowCache } from "../store/commit/cache.ts";
import { recountVault } from "../store/commit/repairs.ts";
import { setAlarm } from "./alarm.ts";
import type { Turns } from "./queue.ts";

/** Answers `verify`: what only the coordinator knows, and the repairs that must not run beside a commit. */

export interface VerifyContext {
  readonly storage: DurableObjectStorage;
  readonly store: Store;
  readonly cache: RowCache;
  /** Runs a task when no commit is on its way. */
  readonly turn: Turns;
}

/** Errors: `unavailable`. */
export async function answerVerify(context: VerifyContext, vault: string, request: VerifyRequest): Promise<Result<VerifyAnswer>> {
  const { storage, store, cache, turn } = context;
  if (request.kind === "pending") return ok(listPending(storage.sql, request.keys));
  if (request.kind === "release") {
    const contents = request.keys.map((key) => (key.endsWith("/") ? pendingVault(vault) : { key, item: UNKNOWN_ITEM }));
    recordReleased(storage.sql, contents, store.now, store.settings.fileRetention);
    await setAlarm(storage);
    return ok([]);
  }
  return turn(async () => {
    const done = await recountVault(store.db, vault, request.acceptLoss);
    cache.update(undefined); // its row of the vault has the counters of before
    return done.ok ? ok([]) : done;
  });
}
