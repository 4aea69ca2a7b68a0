import type { Store } from "../d1/database.ts";
import { openWebhook, type WebhookRow } from "../events/webhook-rows.ts";
import { openKeys, openVault, type VaultRow, wrongVaultColumns } from "../vaults/rows.ts";
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
    ...(opened.ok ? [] : whyClosed(row).map((why) => fault("row_unreadable", named, why))),
    ...closed
      .filter(({ open }) => open === undefined)
      .map(({ id }) => fault("row_unreadable", { vault, table: "webhooks", id }, "the webhook does not open")),
  ];
}

function whyClosed(row: VaultRow): readonly string[] {
  const wrong = wrongVaultColumns(row);
  return wrong.length > 0 ? wrong : ["name and description do not open"];
}
