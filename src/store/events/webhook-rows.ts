import { newestKeyId } from "../../crypto/key-list.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import type { Cursor } from "../../model/cursor.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { wrongNumbers } from "../tables/numbers.ts";
import { type RowInVault, TABLES } from "../tables/tables.ts";
import { HEAD_COLUMNS, KEY_COLUMNS, type KeyRow, openKeys } from "../vaults/rows.ts";

/** The rows of webhooks: the admin's definitions, sealed under the key of the vault. commit/webhooks.ts writes them. */

/** The sealed content of a row. */
export interface WebhookDefinition {
  readonly url: string;
  /** The secret that signs (crypto/webhook-signature.ts). */
  readonly secret: string;
  /** The previous secret, which also signs until then: Unix milliseconds. */
  readonly previous?: { readonly secret: string; readonly until: number } | undefined;
  /** A hash of the request that made the webhook, so that a repeated one finds it. */
  readonly request: string;
  /** The request that made the secret. */
  readonly rotation?: string | undefined;
  /** See `Claims.managedBy`. */
  readonly managedBy?: string | undefined;
}

/** A row that was read. */
export interface StoredWebhook {
  readonly id: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Absent if the row cannot be decrypted. */
  readonly definition: WebhookDefinition | undefined;
  /** The text of the row. */
  readonly sealed: string;
}

/** The webhooks of a vault at one moment. */
export interface VaultWebhooks {
  readonly keys: VaultKeys;
  /** The id of the keys, as the row of the vault has it. */
  readonly dataKeyId: string;
  /** The position after the newest write of the vault: see event.ts. */
  readonly head: Cursor;
  /** Oldest first. */
  readonly webhooks: readonly StoredWebhook[];
}

const SQL = {
  vault: `SELECT ${KEY_COLUMNS}, ${HEAD_COLUMNS} FROM vaults WHERE id = ?1`,
  webhooks: "SELECT id, sealed, created_at FROM webhooks WHERE vault_id = ?1 ORDER BY created_at, id",
};

export type WebhookRow = RowInVault<"webhooks">;

/**
 * Loads the webhooks of a vault in one D1 call. Fails with `vault_not_found`, with `unavailable`, and as decrypting the vault's keys does.
 */
export async function loadWebhooks(store: Store, vault: string): Promise<Result<VaultWebhooks>> {
  const { db } = store;
  const read = await runBatch<[KeyRow & Cursor, WebhookRow]>(
    db,
    db.prepare(SQL.vault).bind(vault),
    db.prepare(SQL.webhooks).bind(vault),
  );
  if (!read.ok) return read;
  const [[found], rows] = read.value;
  if (!found) return fail("vault_not_found");
  const keys = await openKeys(store, found);
  if (!keys.ok) return keys;
  const { sequence, at } = found;
  const webhooks = await Promise.all(rows.map((row) => openWebhook(keys.value, vault, row)));
  return ok({ keys: keys.value, dataKeyId: newestKeyId(found.keys), head: { sequence, at }, webhooks });
}

const { associatedData } = TABLES.webhooks;

/** Decrypts a row. The definition is absent if that fails. */
export async function openWebhook(keys: VaultKeys, vault: string, row: WebhookRow): Promise<StoredWebhook> {
  const { id, sealed, created_at: createdAt } = row;
  const text = await openText(keys, associatedData.sealed(vault, { id }), sealed);
  const definition =
    text.ok && wrongNumbers("webhooks", row).length === 0 ? (JSON.parse(text.value) as WebhookDefinition) : undefined;
  return { id, createdAt, definition, sealed };
}

export const sealWebhook = (keys: VaultKeys, vault: string, id: string, definition: WebhookDefinition): Promise<string> =>
  sealText(keys, associatedData.sealed(vault, { id }), JSON.stringify(definition));
