import type { Webhook } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { call } from "../api/client.ts";
import { isErrorKind } from "../api/error-kind.ts";

/** The webhooks of all vaults. */

export interface WebhookRow extends Webhook {
  /** The id of the vault. */
  readonly vault: string;
}

export const webhooks = createList(async () => {
  const { data: vaults } = await call("GET /v1/admin/vaults");
  return (await Promise.all(vaults.map(({ id }) => loadWebhooks(id)))).flat();
}, true);

/** A vault that was deleted in the meantime has none. */
async function loadWebhooks(vault: string): Promise<WebhookRow[]> {
  try {
    const { data } = await call("GET /v1/admin/vaults/{vault}/webhooks", { path: { vault } });
    return data.map((webhook) => Object.assign(webhook, { vault }));
  } catch (error) {
    if (isErrorKind(error, "vault_not_found")) return [];
    throw error;
  }
}
