import { useSignal, useSignalEffect } from "@preact/signals";
import type { NewJob, RootKey, Snapshot } from "@item-vault/client";
import type { Closable } from "../admin/dialogs.tsx";
import { createList } from "../admin/lists.ts";
import { RowList, type RowsView } from "../admin/rows.tsx";
import { BACK_UP, takeAskedAct } from "../state/asked-act.ts";
import { call } from "../state/client.ts";
import { refreshHealth } from "../state/health.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { FormDialog, type FormDialogProps } from "../ui/form.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { formatTime } from "../ui/time.ts";
import { JobsTable, KINDS, startJob } from "./jobs.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";

/** The backups of everything: making one, verifying, and restoring a vault or an Item. The root keys, and re-wrapping all keys. */

const backups = createList(async () =>
  (await call("GET /v1/admin/backups")).data.map((one) => Object.assign(one, { id: String(one.number) })),
);

type JobProps = Omit<FormDialogProps, "action"> & { readonly jobOf: (data: FormData) => NewJob };

function StartJob({ jobOf, ...dialog }: JobProps) {
  const action = async (data: FormData) => {
    const { kind } = await startJob(jobOf(data));
    showToast(`Started: ${KINDS[kind].toLowerCase()}`);
    dialog.onClose();
  };
  return <FormDialog {...dialog} action={action} />;
}

const VerifyDialog = ({ onClose }: Closable) => (
  <StartJob
    title="Verify"
    submit="Verify"
    jobOf={(data) => ({ kind: "verify", quick: data.has("quick"), backup: data.get("what") === "backup" })}
    onClose={onClose}
  >
    <p>Reads and decrypts everything, and reports damage under Jobs.</p>
    <Select label="Data to verify" name="what" options={Object.entries({ service: "Live data", backup: "Backups" })} />
    <Check name="quick" label="Quick check: confirm that files exist without reading them" />
  </StartJob>
);

const BackupDialog = ({ onClose }: Closable) => (
  <StartJob title="Back up now" submit="Back up" jobOf={(data) => ({ kind: "backup", full: data.has("full") })} onClose={onClose}>
    <p>Backs up all vaults to your backup bucket. Only changes since the last backup are written.</p>
    <Check name="full" label="Full backup: write everything again and check every file" />
  </StartJob>
);

const RewrapDialog = ({ onClose }: Closable) => (
  <StartJob title={KINDS.rewrap} submit="Re-wrap" jobOf={() => ({ kind: "rewrap" })} onClose={onClose}>
    <p>
      Vault keys and tokens are re-wrapped with the active root key. Once no backup needs the old keys, you can remove them from
      ROOT_KEYS. The service stays available.
    </p>
  </StartJob>
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
  const button = (name: keyof typeof DIALOGS, text: string, look?: string) => (
    <Button text={text} class={look} onClick={() => (asked.value = name)} />
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
      <RowList view={BACKUPS} />
      <JobsTable onEnd={() => void backups.load()} />
      {Asked && <Asked onClose={close} />}
    </Page>
  );
}

const BACKUPS: RowsView<Snapshot & { readonly id: string }> = {
  title: "Backups",
  list: backups,
  empty: "No backups yet. Nightly backups run automatically; you can also back up now.",
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
  const rewrap = <Button text={KINDS.rewrap} class={others ? "primary" : undefined} onClick={() => (asking.value = true)} />;
  return (
    <Page title="Keys" actions={rewrap}>
      <p class="quiet">
        Root keys encrypt vault keys and sign tokens. Add a new one to <code>ROOT_KEYS</code> with{" "}
        <code>item-vault admin keys stage</code>.
      </p>
      <RowList view={KEYS} />
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
  title: "Root keys",
  list: keys,
  empty: "No root keys.",
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
