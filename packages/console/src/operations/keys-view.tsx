import { useSignal } from "@preact/signals";
import type { RootKey } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { ListContent, Rows, type RowsView } from "../admin/rows.tsx";
import { call } from "../state/client.ts";
import { refreshHealth } from "../state/health.ts";
import { Page } from "../ui/page.tsx";
import { JobsTable } from "./jobs-table.tsx";
import { RewrapDialog } from "./start-job.tsx";

/** The root keys of the service: the use of each, and re-wrapping all keys with the active one. */

const keys = createList(async () => (await call("GET /v1/admin/keys")).data, false);

export function KeysView() {
  const asking = useSignal(false);
  const others = keys.rows.value?.some(({ state, vaults, tokens }) => state !== "active" && vaults + tokens > 0) ?? false;
  const rewrap = (
    <button type="button" class={others ? "primary" : ""} onClick={() => (asking.value = true)}>
      Re-wrap all keys with the active root key
    </button>
  );
  return (
    <Page title="Keys" actions={rewrap}>
      <p class="quiet">
        Root keys encrypt vault keys and sign tokens. Add a new one to <code>ROOT_KEYS</code> with{" "}
        <code>item-vault admin keys stage</code>.
      </p>
      <ListContent list={keys} empty="No root keys.">
        {(rows) => <Rows label="Root keys" rows={rows} view={VIEW} />}
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
  active: "Active: encrypts and signs",
  staged: "Staged: not used yet",
  retired: "Retired: decrypts older data only",
  missing: "Missing: its data cannot be decrypted",
  removed: "Removed",
};

const VIEW: RowsView<RootKey> = {
  name: "Key",
  nameOf: ({ id }) => id,
  columns: [
    {
      label: "State",
      cell: ({ state }) => <span class={state === "missing" ? "state error" : "state"}>{STATES[state]}</span>,
    },
    { label: "Vaults", cell: ({ vaults }) => vaults.toLocaleString("en") },
    { label: "Tokens", cell: ({ tokens }) => tokens.toLocaleString("en") },
    { label: "Safe to remove", cell: ({ removable }) => (removable ? "Yes" : "No") },
  ],
  facts: [
    { label: "Used by backups", cell: ({ backup }) => (backup ? "Yes" : "No") },
    { label: "Fingerprint", cell: ({ fingerprint }) => fingerprint && <code>{fingerprint}</code> },
    { label: "Public key", cell: ({ publicKey }) => publicKey && <code>{publicKey}</code> },
  ],
};
