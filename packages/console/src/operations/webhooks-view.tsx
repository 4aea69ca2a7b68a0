import type { Webhook, WebhookDelivery, WebhookTest } from "@item-vault/client";
import { AdminList, type RowAction } from "../admin/admin-list.tsx";
import { shortId } from "../admin/filter.ts";
import { vaultLabel } from "../admin/vault-names.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { ChangeWebhook, DeleteWebhook, NewWebhookDialog, RotateSecret } from "./webhook-dialogs.tsx";
import { describeFault, type WebhookRow, webhooks, pathOf } from "./webhooks.ts";
import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { call } from "../state/client.ts";
import { Dialog, Done } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";

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

const STATES: Readonly<Record<Webhook["state"] | "FAILING", string>> = {
  ACTIVE: "Active",
  FAILING: "Failing: tried again for a day, then paused. Check the receiver.",
  PAUSED: "Paused: nothing is delivered. Fix the receiver, then resume under Change.",
  DISABLED: "Disabled",
};

/** An active webhook fails from its first attempt that failed to the next delivery. */
const stateOf = ({ state, failures }: WebhookRow): keyof typeof STATES =>
  state === "ACTIVE" && failures > 0 ? "FAILING" : state;

function Deliveries({ row: { lastDelivery, lastError, failures, pending } }: { readonly row: WebhookRow }) {
  const texts = [
    lastDelivery === undefined ? "Nothing delivered yet" : `Last ${formatFromNow(lastDelivery, Date.now())}`,
    pending > 0 && `${pending.toLocaleString("en")} pending`,
    failures > 0 && `${failures.toLocaleString("en")} failed`,
  ];
  return (
    <>
      <span>{texts.filter(Boolean).join("\u00a0· ")}</span>
      {lastError && <span class="broken">{describeFault(lastError.kind, lastError.status)}</span>}
    </>
  );
}

const COLUMNS = [
  { label: "URL", cell: (row: WebhookRow) => <span class="name">{nameOfWebhook(row)}</span> },
  { label: "Vault", cell: ({ vault }: WebhookRow) => vaultLabel(vault) },
  {
    label: "State",
    cell: (row: WebhookRow) => (
      <span class={/PAUSED|FAILING/.test(stateOf(row)) ? "state error" : "state"}>{STATES[stateOf(row)]}</span>
    ),
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

/** The attempts to deliver to a webhook: sending a test, and the list of the last ones. */

interface Props {
  readonly row: WebhookRow;
  readonly onClose: () => void;
}

/** The answer of the receiver. */
const Outcome = ({ attempt: { status, error } }: { readonly attempt: WebhookTest }) =>
  error === undefined ? <>Accepted ({status})</> : <span class="broken">{describeFault(error, status)}</span>;

function TestWebhook({ row, onClose }: Props) {
  const result = useSignal<WebhookTest | undefined>(undefined);
  const action = async () => {
    result.value = undefined;
    result.value = (await call("POST /v1/admin/vaults/{vault}/webhooks/{webhook}/test", { path: pathOf(row) })).data;
  };
  return (
    <Dialog title="Send a test" onClose={onClose}>
      <Form action={action} submit={result.value ? "Send another test" : "Send a test"} onCancel={onClose}>
        <p>
          <strong class="name">{row.url}</strong> receives one signed test message. The response has no effect.
        </p>
        <output>{result.value && <Outcome attempt={result.value} />}</output>
      </Form>
    </Dialog>
  );
}

function WebhookDeliveries({ row, onClose }: Props) {
  const deliveries = useSignal<readonly WebhookDelivery[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const load = async () => {
    failure.value = undefined;
    try {
      deliveries.value = (await call("GET /v1/admin/vaults/{vault}/webhooks/{webhook}/deliveries", { path: pathOf(row) })).data;
    } catch (error) {
      failure.value = error;
    }
  };
  useLayoutEffect(() => void load(), []);
  const rows = deliveries.value;
  return (
    <Dialog title="Deliveries" onClose={onClose}>
      <div class="rows">
        {failure.value !== undefined && <Failure error={failure.value} retry={() => void load()} />}
        {rows === undefined ? (
          failure.value === undefined && <p class="quiet">Loading…</p>
        ) : rows.length === 0 ? (
          <p>Nothing has been sent yet.</p>
        ) : (
          <Table label="Deliveries" rows={rows} keyOf={keyOf} columns={ATTEMPT_COLUMNS} />
        )}
      </div>
      <Done onClose={onClose} />
    </Dialog>
  );
}

/** Two attempts may begin in the same millisecond, but not end in it too. */
const keyOf = ({ at, milliseconds, test }: WebhookDelivery): string => `${at} ${milliseconds} ${String(test)}`;

const ATTEMPT_COLUMNS = [
  {
    label: "Time",
    cell: ({ at }: WebhookDelivery) => (
      <time class="day" dateTime={at} title={formatTime(at)}>
        {formatFromNow(at, Date.now())}
      </time>
    ),
  },
  { label: "Result", cell: (attempt: WebhookDelivery) => <Outcome attempt={attempt} /> },
  { label: "Message", cell: ({ events, test }: WebhookDelivery) => (test ? "test" : plural(events, "event")) },
  { label: "Took", cell: ({ milliseconds }: WebhookDelivery) => `${milliseconds.toLocaleString("en")} ms` },
] as const;
