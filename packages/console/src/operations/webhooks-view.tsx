import { useMemo } from "preact/hooks";
import type { Webhook, WebhookDelivery } from "@item-vault/client";
import { shortId } from "../admin/filter.ts";
import { createList, vaultLabel } from "../admin/lists.ts";
import { AdminView, ID_FACT, ListContent, type RowsView } from "../admin/rows.tsx";
import { dayColumn } from "../admin/scope-column.tsx";
import { call } from "../state/client.ts";
import { FromNow } from "../ui/day.tsx";
import { plural } from "../ui/plural.ts";
import { type Column, Table } from "../ui/table.tsx";
import {
  ChangeWebhook,
  DeleteWebhook,
  describeFault,
  NewWebhookDialog,
  Outcome,
  pathOf,
  RotateSecret,
  TestWebhook,
  type WebhookRow,
  webhooks,
} from "./webhook-dialogs.tsx";

/** The webhooks: which URL gets the events of which vault, and whether it gets them. */

export const WebhooksView = () => (
  <AdminView
    title="Webhooks"
    noun="webhook"
    list={webhooks}
    empty="Get notified when a vault changes. Webhooks send IDs and times, never secrets."
    create={{ label: "Add webhook", dialog: NewWebhookDialog }}
    view={VIEW}
    textsOf={({ vault }) => [vaultLabel(vault)]}
  />
);

const STATES: Readonly<Record<Webhook["state"] | "FAILING", readonly [word: string, explanation: string]>> = {
  ACTIVE: ["Active", ""],
  FAILING: ["Failing", ": tried again for a day, then paused. Check the receiver."],
  PAUSED: ["Paused", ": nothing is delivered. Fix the receiver, then resume under Change."],
  DISABLED: ["Disabled", ""],
};

/** An active webhook fails from its first attempt that failed to the next delivery. */
const stateOf = ({ state, failures }: WebhookRow): keyof typeof STATES =>
  state === "ACTIVE" && failures > 0 ? "FAILING" : state;

const State = ({ row, full = false }: { readonly row: WebhookRow; readonly full?: boolean }) => {
  const [word, explanation] = STATES[stateOf(row)];
  return <span class={explanation === "" ? "state" : "state error"}>{full ? word + explanation : word}</span>;
};

const VIEW: RowsView<WebhookRow> = {
  name: "URL",
  nameOf: ({ url, id }) => url ?? `Damaged webhook ${shortId(id)}`,
  columns: [
    { label: "Vault", cell: ({ vault }) => vaultLabel(vault) },
    { label: "State", cell: (row) => <State row={row} />, full: (row) => <State row={row} full /> },
    {
      label: "Deliveries",
      cell: ({ lastDelivery, lastError, failures, pending }) => (
        <>
          {lastDelivery === undefined ? (
            "Nothing delivered yet"
          ) : (
            <>
              Last <FromNow time={lastDelivery} />
            </>
          )}
          {pending > 0 && `\u00a0· ${pending.toLocaleString("en")} pending`}
          {failures > 0 && `\u00a0· ${failures.toLocaleString("en")} failed`}
          {lastError && <small class="broken">{describeFault(lastError.kind, lastError.status)}</small>}
        </>
      ),
    },
  ],
  facts: [dayColumn("Created"), ID_FACT],
  acts: [
    { label: "Send a test", dialog: TestWebhook },
    { label: "Change", dialog: ChangeWebhook },
    { label: "New secret", dialog: RotateSecret },
  ],
  end: { label: "Delete", dialog: DeleteWebhook },
  sections: [{ label: "Last deliveries", content: Deliveries }],
};

function Deliveries({ row }: { readonly row: WebhookRow }) {
  const list = useMemo(() => {
    const path = pathOf(row);
    return createList(
      async () => (await call("GET /v1/admin/vaults/{vault}/webhooks/{webhook}/deliveries", { path })).data,
      false,
    );
  }, []);
  return (
    <ListContent list={list} empty="Nothing has been sent yet.">
      {(rows) => <Table label="Deliveries" rows={rows} keyOf={keyOf} columns={COLUMNS} />}
    </ListContent>
  );
}

/** Two attempts may begin in the same millisecond, but not end in it too. */
const keyOf = ({ at, milliseconds, test }: WebhookDelivery): string => `${at} ${milliseconds} ${String(test)}`;

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { label: "Time", cell: ({ at }) => <FromNow time={at} /> },
  { label: "Result", cell: (attempt) => <Outcome attempt={attempt} /> },
  { label: "Message", cell: ({ events, test }) => (test ? "test" : plural(events, "event")) },
  { label: "Took", cell: ({ milliseconds }) => `${milliseconds.toLocaleString("en")} ms` },
];
