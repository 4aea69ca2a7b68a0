import type { Webhook } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { call } from "../state/client.ts";
import { remind } from "../state/health.ts";
import { isErrorKind } from "../failures/error-kind.ts";

/** The webhooks of all vaults. */

export interface WebhookRow extends Webhook {
  /** The id of the vault. */
  readonly vault: string;
}

export const webhooks = createList(async () => {
  const { data: vaults } = await call("GET /v1/admin/vaults");
  const rows = (await Promise.all(vaults.map(({ id }) => loadWebhooks(id)))).flat();
  remind("webhooks", rows.filter(({ state, failures }) => state === "PAUSED" || failures > 0).length);
  return rows;
}, true);

/** A vault that was since deleted has none. */
async function loadWebhooks(vault: string): Promise<WebhookRow[]> {
  try {
    const { data } = await call("GET /v1/admin/vaults/{vault}/webhooks", { path: { vault } });
    return data.map((webhook) => Object.assign(webhook, { vault }));
  } catch (error) {
    if (isErrorKind(error, "vault_not_found")) return [];
    throw error;
  }
}

/** The ids in the path of a webhook. */
export const pathOf = ({ vault, id }: WebhookRow) => ({ vault, webhook: id });

type Fault = NonNullable<Webhook["lastError"]>["kind"];

const FAULTS: Readonly<Record<Fault, string>> = {
  status: "The receiver answered",
  redirect: "Redirects are not followed. Change the URL: the receiver answered",
  timeout: "The receiver did not answer in time",
  network: "The receiver cannot be reached",
  url: "The URL is not allowed any more. Change it",
  restored: "The database was restored. Resume it under Change",
  integrity: "Its stored record is damaged. Delete it and add it again",
};

/** Why an attempt failed, with the status of the receiver's answer. */
export const describeFault = (kind: Fault, status: number | undefined): string =>
  `${FAULTS[kind]}${status === undefined ? "" : ` ${status}`}.`;
