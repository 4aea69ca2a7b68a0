import type { Webhook } from "@item-vault/client";
import { AdminList, type RowAction } from "../admin/admin-list.tsx";
import { shortId } from "../admin/filter.ts";
import { vaultLabel } from "../admin/vault-names.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { ChangeWebhook, DeleteWebhook, NewWebhookDialog, RotateSecret } from "./webhook-dialogs.tsx";
import { TestWebhook, WebhookDeliveries } from "./webhook-attempts.tsx";
import { describeFault, type WebhookRow, webhooks } from "./webhooks.ts";

/** The webhooks: which URL gets the events of which vault, and whether it gets them. */

export const WebhooksView = () => (
  <AdminList
    title="Webhooks"
    noun="webhook"
    list={webhooks}
    empty="Get notified when a vault changes. Webhooks send IDs and times, never secrets."
    create={{ label: "Add webhook", dialog: (close) => <NewWebhookDialog onClose={close} /> }}
    nameOf={nameOfWebhook}
    textsOf={(row) => [nameOfWebhook(row), vaultLabel(row.vault)]}
    columns={COLUMNS}
    actions={ACTIONS}
  />
);

export const nameOfWebhook = ({ url, id }: WebhookRow): string => url ?? `Damaged webhook ${shortId(id)}`;

const STATES: Readonly<Record<Webhook["state"], string>> = {
  ACTIVE: "Active",
  PAUSED: "Paused: nothing is delivered",
  DISABLED: "Disabled",
};

function Deliveries({ row: { lastDelivery, lastError, failures, pending } }: { readonly row: WebhookRow }) {
  const texts = [
    lastDelivery === undefined ? "nothing delivered yet" : `last ${formatFromNow(lastDelivery, Date.now())}`,
    pending > 0 && `${pending.toLocaleString("en")} pending`,
    failures > 0 && `${failures.toLocaleString("en")} failed`,
  ];
  return (
    <>
      <span>{texts.filter(Boolean).join(" · ")}</span>
      {lastError && <span class="broken">{describeFault(lastError.kind, lastError.status)}</span>}
    </>
  );
}

const COLUMNS = [
  { label: "URL", cell: (row: WebhookRow) => <span class="name">{nameOfWebhook(row)}</span> },
  { label: "Vault", cell: ({ vault }: WebhookRow) => vaultLabel(vault) },
  {
    label: "State",
    cell: ({ state }: WebhookRow) => <span class={state === "PAUSED" ? "state error" : "state"}>{STATES[state]}</span>,
  },
  { label: "Deliveries", cell: (row: WebhookRow) => <Deliveries row={row} /> },
] as const;

const ACTIONS: readonly RowAction<WebhookRow>[] = [
  {
    label: "Send a test",
    namedLabel: "Send a test to",
    dialogOf: (row) => (row.broken ? undefined : (close) => <TestWebhook row={row} onClose={close} />),
  },
  {
    label: "Deliveries",
    namedLabel: "Deliveries to",
    only: "shows",
    dialogOf: (row) => (row.broken ? undefined : (close) => <WebhookDeliveries row={row} onClose={close} />),
  },
  {
    label: "Change",
    dialogOf: (row) => (row.broken ? undefined : (close) => <ChangeWebhook row={row} onClose={close} />),
  },
  {
    label: "New secret",
    namedLabel: "New secret for",
    dialogOf: (row) => (row.broken ? undefined : (close) => <RotateSecret row={row} onClose={close} />),
  },
  { label: "Delete", dialogOf: (row) => (close) => <DeleteWebhook row={row} onClose={close} /> },
];
