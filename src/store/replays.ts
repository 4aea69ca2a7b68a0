import { open, type Place, seal } from "../crypto/seal.ts";
import type { VaultKeys } from "../crypto/vault-keys.ts";
import type { Answer, Idempotency } from "../model/operation.ts";
import { firstIdAt } from "../model/ids.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { forget } from "./forget.ts";

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

/** The first id of a day ago: older replays are forgotten. */
export const oldestReplay = (now: number): string => firstIdAt(now - DAY);

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

/** Forgets what is older than a day. */
export const forgetReplays = (db: D1Database, now: number): Promise<void> => forget(db, FORGET, oldestReplay(now));
