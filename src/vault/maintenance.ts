import * as pending from "../store/contents/pending.ts";
import { ok, type Result } from "../model/result.ts";
import type { VerifyAnswer, VerifyRequest } from "../model/verify.ts";
import type { Store } from "../store/d1/database.ts";
import type { RowCache } from "../store/commit/cache.ts";
import { recountVault } from "../store/commit/repairs.ts";
import { type AlarmContext, setAlarm } from "./alarm.ts";
import type { Turns } from "./queue.ts";
import { parseSettings } from "../settings.ts";
import type { RestoreContents } from "../store/restore/ports.ts";

/** The coordinator's part of `verify` and of a restore: what only it knows, and what must not run beside a commit or a sweep. */

export interface VerifyContext {
  readonly storage: DurableObjectStorage;
  readonly store: Store;
  readonly cache: RowCache;
  /** Runs a task when no commit is on its way. */
  readonly turn: Turns;
}

/** Answers `verify`. Errors: `unavailable`. */
export async function answerVerify(context: VerifyContext, vault: string, request: VerifyRequest): Promise<Result<VerifyAnswer>> {
  const { storage, store, cache, turn } = context;
  if (request.kind === "pending") return ok(pending.listPending(storage.sql, request.keys));
  if (request.kind === "release") {
    const contents = request.keys.map((key) =>
      key.endsWith("/") ? pending.pendingVault(vault) : { key, item: pending.UNKNOWN_ITEM },
    );
    pending.recordReleased(storage.sql, contents, store.now, store.settings.fileRetention);
    await setAlarm(storage);
    return ok([]);
  }
  return turn(async () => {
    const recounted = await recountVault(store.db, vault, request.acceptLoss);
    cache.update(undefined); // its row of the vault has the counters of before
    return recounted.ok ? ok([]) : recounted;
  });
}

/**
 * The coordinator's part of a restore (store/restore/vault.ts). Before a step writes or deletes rows of Files, their contents are recorded,
 * as before an upload and as before a commit that releases them, and no object of the vault is deleted for a day: the coordinator may have
 * recorded that the vault was deleted. A sweep that is under way ends before. The cache is empty from then on, because the vault is about
 * to be another one. In: the clock, in Unix milliseconds. Errors: `misconfigured`.
 */
export async function prepareRestore(
  { storage, env, sweepTurn }: AlarmContext,
  { expected, released }: RestoreContents,
  clock: () => number,
): Promise<Result<undefined>> {
  const settings = parseSettings(env);
  if (!settings.ok) return settings;
  await sweepTurn(async () => {
    const now = clock();
    for (const address of expected) pending.recordUpload(storage.sql, address, now);
    pending.recordReleased(storage.sql, released.map(pending.pendingContent), now, settings.value.fileRetention);
    pending.postponeDeletions(storage.sql, now);
  });
  await setAlarm(storage);
  return ok(undefined);
}
