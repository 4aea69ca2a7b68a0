import { env } from "cloudflare:workers";
import type { VaultKeys } from "../../src/crypto/vault-keys.ts";
import { type IdempotencyRecord, openRecord, type RecordRow, sealRecord } from "../../src/store/commit/idempotency.ts";
import { keysIn } from "./seed.ts";
import { unwrap } from "./versions.ts";

export { unwrap };

/** The idempotency records of a vault, as they lie in D1 and opened. */

export const recordRows = async (vault: string): Promise<RecordRow[]> =>
  (await env.DB.prepare("SELECT key, id, sealed FROM replays WHERE vault_id = ?1").bind(vault).all<RecordRow>()).results;

export const keysOf = (vault: string): Promise<VaultKeys> => keysIn(env, vault);

/** Changes each record of a vault. Its id is part of the associated data, so it is sealed again. */
export async function changeRecords(vault: string, change: (record: IdempotencyRecord) => IdempotencyRecord): Promise<void> {
  const keys = await keysOf(vault);
  for (const row of await recordRows(vault)) {
    const record = change(unwrap(await openRecord(keys, vault, row)));
    const sealed = await sealRecord(keys, vault, record);
    await env.DB.prepare("UPDATE replays SET id = ?2, sealed = ?3 WHERE id = ?1").bind(row.id, record.id, sealed).run();
  }
}
