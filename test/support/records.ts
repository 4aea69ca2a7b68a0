import { env } from "cloudflare:workers";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys, type VaultKeys } from "../../src/crypto/vault-keys.ts";
import type { Result } from "../../src/model/result.ts";
import { type IdempotencyRecord, openRecord, type RecordRow, sealRecord } from "../../src/store/commit/idempotency.ts";

/** The idempotency records of a vault, as they lie in D1 and opened. */

export const recordRows = async (vault: string): Promise<RecordRow[]> =>
  (await env.DB.prepare("SELECT key, id, sealed FROM replays WHERE vault_id = ?1").bind(vault).all<RecordRow>()).results;

export async function keysOf(vault: string): Promise<VaultKeys> {
  const keyring = unwrap(await openKeyring(env.ROOT_KEYS));
  const row = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?1").bind(vault).first<Record<string, string>>())!;
  const wrapped = { rootKeyId: row["root_key_id"]!, list: row["keys"]! };
  return unwrap(await unwrapVaultKeys(keyring, vault, wrapped, Date.now()));
}

/** Changes each record of a vault. Its id is part of the associated data, so it is sealed again. */
export async function changeRecords(vault: string, change: (record: IdempotencyRecord) => IdempotencyRecord): Promise<void> {
  const keys = await keysOf(vault);
  for (const row of await recordRows(vault)) {
    const record = change(unwrap(await openRecord(keys, vault, row)));
    const sealed = await sealRecord(keys, vault, record);
    await env.DB.prepare("UPDATE replays SET id = ?2, sealed = ?3 WHERE id = ?1").bind(row.id, record.id, sealed).run();
  }
}

export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.failure.kind);
  return result.value;
}
