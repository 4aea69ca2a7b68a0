import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import { firstIdAt } from "../../model/ids.ts";
import type { Change, Idempotency } from "../../model/operation.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { DAY } from "../../model/time.ts";
import type { Take } from "../d1/database.ts";
import { deleteExpired } from "../d1/expiry.ts";
import { type RowInVault, TABLES } from "../tables/tables.ts";

/**
 * Idempotency records: the effects of writes with an Idempotency-Key. For a day they answer repeated requests. A record has at most 1 KiB,
 * whatever the size of the Item, because the answer is rebuilt from the current rows (docs/design/writes.md).
 */

export interface IdempotencyRecord extends Idempotency {
  /** The operation's id: a UUIDv7, which contains the time. */
  readonly id: string;
  readonly effect: Effect;
}

/** The effect of a write. */
export interface Effect {
  readonly kind: Change["kind"];
  /** The Item that was written, and its version then; `null` for a vault. A deleted Item has no version. */
  readonly item: string | null;
  readonly version: number | null;
  /** The nonce of that version: an Item that was destroyed may exist again. Absent where no Item is answered. */
  readonly nonce?: string | undefined;
  /** The File of the Item that was written. */
  readonly file?: string | undefined;
}

export type RecordRow = RowInVault<"replays">;

/** Returns the first operation id of a day ago. Older records are ignored, and deleted by the cron trigger. */
export const oldestRecord = (now: number): string => firstIdAt(now - DAY);

const { associatedData } = TABLES.replays;

/** Seals a record: the effect, the hash of the request and the key. */
export const sealRecord = (keys: VaultKeys, vault: string, record: IdempotencyRecord): Promise<string> => {
  const { id, key, request, effect } = record;
  return sealText(keys, associatedData.sealed(vault, { id }), JSON.stringify({ key, request, effect }));
};

/** Fails with `integrity`. */
export async function openRecord(keys: VaultKeys, vault: string, row: RecordRow): Promise<Result<IdempotencyRecord>> {
  const text = await openText(keys, associatedData.sealed(vault, row), row.sealed);
  if (!text.ok) return text;
  const record = { ...(JSON.parse(text.value) as Omit<IdempotencyRecord, "id">), id: row.id };
  // The key covers the token: an answer must not move to the record of another token.
  return record.key === row.key ? ok(record) : fail("integrity");
}

const DELETE_OLD = `
  DELETE FROM replays
  WHERE (vault_id, key) IN (SELECT vault_id, key FROM replays WHERE id < ?1 LIMIT 1000)
  RETURNING id`;

/** Deletes records older than a day, as `deleteExpired` does. */
export const deleteOldRecords = (db: D1Database, now: number, take: Take): Promise<void> =>
  deleteExpired(db, DELETE_OLD, oldestRecord(now), take);
