import { useSignal, useSignalEffect } from "@preact/signals";
import type { RootKey, Snapshot } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { ListContent, Rows, type RowsView } from "../admin/rows.tsx";
import { BACK_UP, takeAskedAct } from "../state/asked-act.ts";
import { call } from "../state/client.ts";
import { refreshHealth } from "../state/health.ts";
import { FromNow } from "../ui/day.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { formatTime } from "../ui/time.ts";
import { JobsTable } from "./jobs.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { BackupDialog, RewrapDialog, VerifyDialog } from "./start-job.tsx";

/** The backups of everything: making one, verifying, and restoring a vault or an Item. */

const backups = createList(async () =>
  (await call("GET /v1/admin/backups")).data.map((one) => Object.assign(one, { id: String(one.number) })),
);

const DIALOGS = { backup: BackupDialog, verify: VerifyDialog, restore: RestoreDialog };

export function BackupsView() {
  const asked = useSignal<keyof typeof DIALOGS | undefined>(undefined);
  const Asked = asked.value && DIALOGS[asked.value];
  useSignalEffect(() => void (takeAskedAct(BACK_UP) && (asked.value = "backup")));
  const newest = backups.rows.value?.[0]?.createdAt;
  const close = () => {
    asked.value = undefined;
    void backups.load();
  };
  const button = (name: keyof typeof DIALOGS, label: string, style = "") => (
    <button type="button" class={style} onClick={() => (asked.value = name)}>
      {label}
    </button>
  );
  return (
    <Page
      title="Backups"
      actions={
        <>
          {button("verify", "Verify…")}
          {button("restore", "Restore…")}
          {button("backup", BACK_UP, "primary")}
        </>
      }
    >
      {newest !== undefined && (
        <p>
          The last backup was <FromNow time={newest} />.
        </p>
      )}
      <ListContent list={backups} empty="No backups yet. Nightly backups run automatically; you can also back up now.">
        {(rows) => <Rows label="Backups" rows={rows} view={BACKUPS} />}
      </ListContent>
      <JobsTable onEnd={() => void backups.load()} />
      {Asked && <Asked onClose={close} />}
    </Page>
  );
}

const BACKUPS: RowsView<Snapshot & { readonly id: string }> = {
  name: "Backup",
  nameOf: ({ number }) => `Backup ${number}`,
  damaged: "It cannot be restored.",
  columns: [
    {
      label: "Time",
      cell: ({ createdAt }) => createdAt !== undefined && <time dateTime={createdAt}>{formatTime(createdAt)}</time>,
    },
    { label: "Vaults", cell: ({ vaults = 0 }) => vaults.toLocaleString("en") },
    { label: "Size", cell: ({ bytes = 0 }) => formatSize(bytes) },
    {
      label: "Problems",
      cell: ({ missing = [] }) => (missing.length === 0 ? "None" : plural(missing.length, "problem")),
      full: ({ missing = [] }) => (missing.length === 0 ? "None" : missing.join(", ")),
    },
  ],
};

/** The root keys of the service: the use of each, and re-wrapping all keys with the active one. */

const keys = createList(async () => (await call("GET /v1/admin/keys")).data);

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
        {(rows) => <Rows label="Root keys" rows={rows} view={KEYS} />}
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

const KEYS: RowsView<RootKey> = {
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
