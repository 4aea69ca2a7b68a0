import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Store } from "../d1/database.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { faultOfNumber, wrongNumbers } from "../tables/numbers.ts";
import { openDescription, openKeys, openName, openVault, type VaultRow } from "../vaults/rows.ts";
import { type Fault, fault } from "./fault.ts";

/** Checks the row of a vault, its keys and its webhooks, of D1 or of a backup. */
export async function checkVaultRow(store: Store, row: VaultRow, webhooks: readonly WebhookRow[]): Promise<Fault[]> {
  const vault = row.id;
  const keys = await openKeys(store, row);
  const named = { vault, table: "vaults" };
  if (!keys.ok) {
    const missing = !store.keyring.keys.has(row.root_key_id);
    const why = missing ? "ROOT_KEYS does not have the key that wraps them" : "they are damaged, or of another root key";
    return [fault("vault_keys_wrong", { ...named, id: row.root_key_id }, why)];
  }
  const opened = await openVault(store, row);
  const closed = await Promise.all(
    webhooks.map(async (webhook) => ({ id: webhook.id, open: (await openWebhook(keys.value, vault, webhook)).definition })),
  );
  return [
    ...(opened.ok ? [] : await whyClosed(keys.value, row)).map((why) => fault("row_unreadable", named, why)),
    ...closed
      .filter(({ open }) => open === undefined)
      .map(({ id }) => fault("row_unreadable", { vault, table: "webhooks", id }, "the webhook does not open")),
  ];
}

async function whyClosed(keys: VaultKeys, row: VaultRow): Promise<readonly string[]> {
  const wrong = wrongNumbers("vaults", row).map((column) => faultOfNumber("vaults", column));
  if (wrong.length > 0) return wrong;
  const [name, description] = [await openName(keys, row), await openDescription(keys, row)];
  const closed = [...(name.ok ? [] : ["name"]), ...(description.ok ? [] : ["description"])];
  return [`${closed.join(" and ")} ${closed.length > 1 ? "do" : "does"} not open`];
}
