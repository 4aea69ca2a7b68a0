import type { Webhook, WebhookChange, WebhookDelivery, WebhookTest } from "@item-vault/client";
import { useSignal } from "@preact/signals";
import type { ComponentProps } from "preact";
import { useMemo } from "preact/hooks";
import { ActDialog, type Closable, type DialogProps, ending, UrlField } from "../admin/dialogs.tsx";
import { adminVaults, createList, nameOfVault, shortId, vaultLabel, type WebhookRow, webhooks } from "../admin/lists.ts";
import { type AdminList, AdminView, dayColumn, ID_FACT, ListContent } from "../admin/rows.tsx";
import { call } from "../state/client.ts";
import { Button } from "../ui/button.tsx";
import { Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { FormDialog, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { SecretForm, ShownOnce } from "../ui/shown-once.tsx";
import { type Column, Table } from "../ui/table.tsx";

/** The webhooks: which URL gets the events of which vault, and whether it gets them. */

const PATH = "/v1/admin/vaults/{vault}/webhooks/{webhook}" as const;

const pathOf = ({ vault, id }: WebhookRow) => ({ vault, webhook: id });

export const WebhooksView = () => <AdminView view={VIEW} />;

const STATES: Readonly<Record<Webhook["state"] | "FAILING", readonly [word: string, explanation: string]>> = {
  ACTIVE: ["Active", ""],
  FAILING: ["Failing", ": tried again for a day, then paused. Check the receiver."],
  PAUSED: ["Paused", ": nothing is delivered. Fix the receiver, then resume under Change."],
  DISABLED: ["Disabled", ""],
};

/** A webhook counts as failing from its first failed attempt to its next delivery. */
const stateOf = ({ state, failures }: WebhookRow): keyof typeof STATES =>
  state === "ACTIVE" && failures > 0 ? "FAILING" : state;

const State = ({ row, full = false }: { readonly row: WebhookRow; readonly full?: boolean }) => {
  const [word, explanation] = STATES[stateOf(row)];
  return <span class={explanation === "" ? "state" : "state error"}>{full ? word + explanation : word}</span>;
};

const VIEW: AdminList<WebhookRow> = {
  title: "Webhooks",
  list: webhooks,
  empty: "Get notified when a vault changes. Webhooks send IDs and times, never secrets.",
  create: { label: "Add webhook", dialog: NewWebhookDialog },
  textsOf: ({ vault }) => [vaultLabel(vault)],
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
  end: ending({
    verb: "Delete",
    noun: () => "webhook",
    list: webhooks,
    run: (row) => call(`DELETE ${PATH}`, { path: pathOf(row) }),
    text: ({ url }) => (
      <>
        <strong class="name">{url ?? "A damaged webhook"}</strong> stops receiving events. Missed events are not delivered.
      </>
    ),
  }),
  sections: [{ label: "Last deliveries", content: Deliveries }],
};

function Deliveries({ row }: { readonly row: WebhookRow }) {
  const list = useMemo(() => {
    const path = pathOf(row);
    return createList(async () => (await call(`GET ${PATH}/deliveries`, { path })).data);
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
const describeFault = (kind: Fault, status: number | undefined): string =>
  `${FAULTS[kind]}${status === undefined ? "" : ` ${status}`}.`;

const Outcome = ({ attempt: { status, error } }: { readonly attempt: WebhookTest }) =>
  error === undefined ? <>Accepted ({status})</> : <span class="broken">{describeFault(error, status)}</span>;

type Props = DialogProps<WebhookRow>;

const EXAMPLE = "https://example.com/events";

const keyed = () => ({ "Idempotency-Key": crypto.randomUUID() });

type SecretProps = Omit<ComponentProps<typeof SecretForm>, "secret" | "action"> &
  Readonly<{ done: string; make: (data: FormData) => Promise<{ readonly data: Webhook }>; vault?: string }>;

/** Makes a secret for signatures, and shows it once. `done` is the title then. Absent: the vault is a field of the form. */
function SecretAct({ done, make, vault, ...form }: SecretProps) {
  const secret = useSignal<string | undefined>(undefined);
  const action = async (data: FormData) => {
    const { data: webhook } = await make(data);
    secret.value = webhook.secret ?? "";
    void webhooks.load({ ...webhook, vault: vault ?? textOf(data, "vault") });
  };
  if (secret.value === undefined) return <SecretForm secret="secret" action={action} {...form} />;
  return (
    <ShownOnce title={done} secret="secret" onClose={form.onClose}>
      {(copySecret) => (
        <>
          <p>The receiver checks the signatures of messages with this secret. You won’t be able to see it again.</p>
          <div class="buttons">
            <Button icon="copy" text="Copy" class="primary" onClick={() => copySecret("The secret", secret.value!)} />
          </div>
          <pre class="token-text">{secret.value}</pre>
        </>
      )}
    </ShownOnce>
  );
}

const addWebhook = (data: FormData) =>
  call("POST /v1/admin/vaults/{vault}/webhooks", {
    path: { vault: textOf(data, "vault") },
    headers: keyed(),
    body: { url: textOf(data, "url") },
  });

function NewWebhookDialog({ onClose }: Closable) {
  const usable = (adminVaults.rows.value ?? []).filter((vault) => !("broken" in vault));
  return (
    <SecretAct title="Add webhook" submit="Add webhook" done="Webhook added" make={addWebhook} onClose={onClose}>
      <Select label="Vault" name="vault" options={usable.map((vault) => [vault.id, nameOfVault(vault)])} />
      <UrlField placeholder={EXAMPLE} />
    </SecretAct>
  );
}

function RotateSecret({ row, onClose }: Props) {
  const make = () => call(`PATCH ${PATH}`, { path: pathOf(row), headers: keyed(), body: { rotateSecret: true } });
  return (
    <SecretAct title="New secret" submit="Create new secret" done="New secret" make={make} vault={row.vault} onClose={onClose}>
      <p>
        Messages to <strong class="name">{row.url}</strong> are signed with a new secret. For one day they also carry a signature
        with the old one.
      </p>
    </SecretAct>
  );
}

/** The actions on deliveries, and the states of a webhook that allow them. */
const CHOICES: readonly (readonly [value: string, text: string, states: readonly Webhook["state"][]])[] = [
  ["PAUSED", "Keep paused", ["PAUSED"]],
  ["ACTIVE", "Keep sending", ["ACTIVE"]],
  ["cursor", "Resume and send missed events", ["PAUSED", "DISABLED"]],
  ["latest", "Resume from now", ["PAUSED", "DISABLED"]],
  ["DISABLED", "Stop", ["ACTIVE", "PAUSED"]],
  ["DISABLED", "Keep disabled", ["DISABLED"]],
];

function ChangeWebhook({ row, onClose }: Props) {
  const act = (data: FormData) => {
    const [url, state] = [textOf(data, "url"), textOf(data, "state")];
    const body: WebhookChange = {
      ...(url !== row.url && { url }),
      ...(state === "DISABLED" && { enabled: false }),
      ...((state === "cursor" || state === "latest") && { resume: state }),
    };
    return call(`PATCH ${PATH}`, { path: pathOf(row), headers: keyed(), body });
  };
  const choices = CHOICES.filter(([, , states]) => states.includes(row.state));
  return (
    <ActDialog
      title="Change webhook"
      submit="Save"
      act={act}
      done="Webhook changed"
      list={{ load: () => webhooks.load(row) }}
      onClose={onClose}
    >
      <p class="quiet">Events of {vaultLabel(row.vault)}</p>
      <UrlField placeholder={EXAMPLE} defaultValue={row.url} />
      <Select label="Deliveries" name="state" options={choices.map(([value, text]) => [value, text])} defaultValue={row.state} />
    </ActDialog>
  );
}

function TestWebhook({ row, onClose }: Props) {
  const result = useSignal<WebhookTest | undefined>(undefined);
  const action = async () => {
    result.value = undefined;
    result.value = (await call(`POST ${PATH}/test`, { path: pathOf(row) })).data;
  };
  return (
    <FormDialog title="Send a test" action={action} submit={result.value ? "Send another test" : "Send a test"} onClose={onClose}>
      <p>
        <strong class="name">{row.url}</strong> receives one signed test message. The response has no effect.
      </p>
      <output>{result.value && <Outcome attempt={result.value} />}</output>
    </FormDialog>
  );
}
