import { open, type Place, seal } from "../crypto/seal.ts";
import type { VaultKeys } from "../crypto/vault-keys.ts";
import type { Answer, Idempotency } from "../model/operation.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { call } from "./database.ts";

/** What the writes with an Idempotency-Key answered, kept a day so that a repeated request gets the first answer. */

export interface Replay extends Idempotency {
  /** The operation's id: a UUIDv7, so it also tells the time. */
  readonly id: string;
  readonly answer: Answer;
}

export interface ReplayRow {
  key: string;
  id: string;
  sealed: string;
}

const DAY = 24 * 60 * 60 * 1000;

/** The smallest UUIDv7 of a day ago: older replays are forgotten. */
export const oldestReplay = (now: number): string => {
  const hex = (now - DAY).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

const place = (vault: string, id: string, keys: VaultKeys): Place => ({
  kind: "replay",
  vault,
  record: id,
  version: 0,
  key: keys.id,
});

/** Seals the answer, with the request and the key that it belongs to. */
export const sealReplay = (keys: VaultKeys, vault: string, { id, key, request, answer }: Replay): Promise<string> =>
  seal(keys.data, place(vault, id, keys), JSON.stringify({ key, request, answer }));

/** Errors: `integrity`. */
export async function openReplay(keys: VaultKeys, vault: string, row: ReplayRow): Promise<Result<Replay>> {
  const text = await open(keys.data, place(vault, row.id, keys), row.sealed);
  if (!text.ok) return text;
  const replay = { ...(JSON.parse(text.value) as Omit<Replay, "id">), id: row.id };
  // The key names the token: an answer must not move to another's.
  return replay.key === row.key ? ok(replay) : fail("integrity");
}

const FORGET = `
  DELETE FROM replays
  WHERE (vault_id, key) IN (SELECT vault_id, key FROM replays WHERE id < ?1 LIMIT 1000)
  RETURNING id`;

/** Forgets what is older than a day, a thousand at a time. For the cron trigger: throws when D1 fails, so that the run shows as failed. */
export async function forgetReplays(db: D1Database, now: number): Promise<void> {
  for (;;) {
    const forgotten = await call(db, db.prepare(FORGET).bind(oldestReplay(now)));
    if (!forgotten.ok) throw new Error("replays could not be forgotten");
    if (forgotten.value[0].length === 0) return;
  }
}
