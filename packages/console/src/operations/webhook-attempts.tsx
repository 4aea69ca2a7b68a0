import { useSignal } from "@preact/signals";
import type { WebhookDelivery, WebhookTest } from "@item-vault/client";
import { useLayoutEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";
import { describeFault, pathOf, type WebhookRow } from "./webhooks.ts";

/** The attempts to deliver to a webhook: sending a test, and the list of the last ones. */

interface Props {
  readonly row: WebhookRow;
  readonly onClose: () => void;
}

/** How the receiver has answered. */
const Outcome = ({ attempt: { status, error } }: { readonly attempt: WebhookTest }) =>
  error === undefined ? <>Accepted ({status})</> : <span class="broken">{describeFault(error, status)}</span>;

export function TestWebhook({ row, onClose }: Props) {
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

export function WebhookDeliveries({ row, onClose }: Props) {
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
          <Table label="Deliveries" rows={rows} keyOf={keyOf} columns={COLUMNS} />
        )}
      </div>
    </Dialog>
  );
}

/** Two attempts may begin in the same millisecond, but not end in it too. */
const keyOf = ({ at, milliseconds, test }: WebhookDelivery): string => `${at} ${milliseconds} ${String(test)}`;

const COLUMNS = [
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
