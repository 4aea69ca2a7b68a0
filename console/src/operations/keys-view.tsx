import { useSignal } from "@preact/signals";
import type { RootKey } from "@item-vault/client";
import { ListContent } from "../admin/list-content.tsx";
import { createList } from "../admin/lists.ts";
import { call } from "../api/client.ts";
import { refreshHealth } from "../state/health.ts";
import { Page } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";
import { JobsTable } from "./jobs-table.tsx";
import { RewrapDialog } from "./start-job.tsx";

/** The root keys of the service: what each is used for, and putting all under the active one. */

const keys = createList(async () => (await call("GET /v1/admin/keys")).data, false);

export function KeysView() {
  const asking = useSignal(false);
  const others = keys.rows.value?.some(({ state, vaults, tokens }) => state !== "active" && vaults + tokens > 0) ?? false;
  const rewrap = (
    <button type="button" class={others ? "primary" : ""} onClick={() => (asking.value = true)}>
      Put all under the active key
    </button>
  );
  return (
    <Page title="Keys" actions={rewrap}>
      <p class="quiet">
        A root key wraps the keys of the vaults and signs tokens. A new one comes into ROOT_KEYS by the command line:{" "}
        <code>item-vault admin keys stage</code>
      </p>
      <ListContent list={keys} empty={<p class="empty">There is no root key.</p>}>
        {(rows) => <Table label="Root keys" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />}
      </ListContent>
      <JobsTable onEnd={onEnd} />
      {asking.value && <RewrapDialog onClose={() => (asking.value = false)} />}
    </Page>
  );
}

/** A job may have replaced a key: its number is in the navigation too. */
function onEnd(): void {
  void keys.load();
  refreshHealth();
}

const STATES: Readonly<Record<RootKey["state"], string>> = {
  active: "Active: seals and signs",
  staged: "Staged: not used yet",
  retired: "Retired: opens what is under it",
  missing: "Missing: what is under it cannot be opened",
  removed: "Removed",
};

const COLUMNS = [
  {
    label: "Key",
    cell: ({ id, fingerprint }: RootKey) => (
      <>
        <span class="name">{id}</span>
        {fingerprint !== undefined && <code class="quiet">{fingerprint}</code>}
      </>
    ),
  },
  {
    label: "State",
    cell: ({ state }: RootKey) => <span class={state === "missing" ? "state error" : "state"}>{STATES[state]}</span>,
  },
  { label: "Vaults", cell: ({ vaults }: RootKey) => vaults.toLocaleString() },
  { label: "Tokens", cell: ({ tokens }: RootKey) => tokens.toLocaleString() },
  { label: "Backups", cell: ({ backup }: RootKey) => (backup ? "need it" : "do not need it") },
  {
    label: "May leave ROOT_KEYS",
    cell: ({ removable }: RootKey) => (removable ? "yes" : "no"),
  },
] as const;
