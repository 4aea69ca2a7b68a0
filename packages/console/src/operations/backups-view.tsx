import type { NewJob, RootKey, Snapshot, BackedUpVaults, Job } from "@item-vault/client";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Closable } from "../admin/dialogs.tsx";
import { createList, shortId } from "../admin/lists.ts";
import { RowList, type RowsView } from "../admin/rows.tsx";
import { asVersion } from "../failures/broken.ts";
import { explain } from "../failures/explain.ts";
import { changeWords } from "../history/change-words.ts";
import { difference } from "../history/difference.ts";
import { compareContents, loadVersion } from "../history/load-version.ts";
import { BACK_UP, takeAskedAct, askForAct } from "../state/asked-act.ts";
import { call } from "../state/client.ts";
import { refreshHealth } from "../state/health.ts";
import { entries, listedEntry, may } from "../state/items.ts";
import { loadItem } from "../state/opened.ts";
import { session } from "../state/session.ts";
import { showToast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { Check, Select } from "../ui/controls.tsx";
import { FromNow } from "../ui/day.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Pending } from "../ui/failure.tsx";
import { FormDialog, type FormDialogProps, InputError, textOf } from "../ui/form.tsx";
import { ItemField, itemNamed } from "../ui/item-field.tsx";
import { List } from "../ui/lists.tsx";
import { useLoaded } from "../ui/loaded.ts";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { isolate, named, titleOf } from "../ui/texts.ts";
import { formatTime } from "../ui/time.ts";
import { JobsTable, KINDS, startJob, FindingList, untilEnded } from "./jobs.tsx";

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

/** Restores a vault or one Item from a backup. It first shows the expected result. */

type BackedUpVault = BackedUpVaults["vaults"][number];
type Restore = NewJob & { readonly vault: string };

export function RestoreDialog({ onClose }: Closable) {
  const preview = useSignal<{ readonly body: Restore; readonly job: Job } | undefined>(undefined);
  const abort = useRef(new AbortController());
  useLayoutEffect(() => () => abort.current.abort(), []);
  const { data: vaults, error, retry } = useLoaded(loadVaults);
  if (preview.value) return <Preview {...preview.value} onBack={() => (preview.value = undefined)} onClose={onClose} />;
  // With `overwrite`, because it would be refused if something was changed since, and the person should see that.
  const look = async (data: FormData) => {
    const body = restoreOf(data);
    const job = await untilEnded(await startJob({ ...body, dryRun: true, overwrite: true }), abort.current.signal);
    if (job.state !== "done") throw new InputError(`It can’t be restored: ${(job.reason ?? job.state).replaceAll("_", " ")}.`);
    preview.value = { body, job };
  };
  if (vaults?.length === 0)
    return (
      <FormDialog title="Restore" action={() => askForAct("backups", BACK_UP)} submit={BACK_UP} onClose={onClose}>
        <p>No vault has a backup yet. Back up first; you can then restore from it.</p>
      </FormDialog>
    );
  if (vaults)
    return (
      <FormDialog title="Restore" action={look} submit="Preview" onClose={onClose}>
        <Choice vaults={vaults} />
      </FormDialog>
    );
  return (
    <Dialog title="Restore" onClose={onClose}>
      <Pending error={error} retry={retry} />
    </Dialog>
  );
}

async function loadVaults(): Promise<BackedUpVault[]> {
  const all: BackedUpVault[] = [];
  for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
    const { data } = await call("GET /v1/admin/backups/vaults", { query: after === undefined ? {} : { after } });
    all.push(...data.vaults);
    after = data.next;
  }
  return all;
}

/** Throws an InputError for a text that names no Item. */
function restoreOf(data: FormData): Restore {
  const [vault, typed] = [textOf(data, "vault"), textOf(data, "item")];
  const item = itemNamed(typed, [{ id: vault, name: "" }])?.id;
  if (typed.trim() !== "" && item === undefined)
    throw new InputError("Choose an item of the list, or paste its ID from the end of its address in the console.");
  const snapshot = Number(textOf(data, "snapshot"));
  return { kind: "restore", vault, ...(item && { item }), ...(snapshot > 0 && { snapshot }) };
}

function Choice({ vaults }: { readonly vaults: readonly BackedUpVault[] }) {
  const chosen = useSignal(vaults[0]!.id);
  const item = useSignal("");
  // After a failure only the newest one can be chosen.
  const { data: snapshots = [] } = useLoaded(async () => {
    const { data } = await call("GET /v1/admin/backups/vaults/{vault}", { path: { vault: chosen.value } });
    const whole = data.filter(({ broken }) => broken === undefined);
    return whole.map(({ number, createdAt = "" }) => [String(number), formatTime(createdAt)] as const);
  }, [chosen.value]);
  return (
    <>
      <Select
        label="Vault"
        name="vault"
        signal={chosen}
        options={vaults.map(({ id, name = `Vault ${shortId(id)}`, createdAt }) => [
          id,
          createdAt === undefined ? `${isolate(name)} (cannot be decrypted)` : name,
        ])}
      />
      <Select label="Restore point" name="snapshot" options={[["", "Latest backup"], ...snapshots]} />
      <ItemField
        id="restored-item"
        name="item"
        label="Item title or ID (leave empty to restore the whole vault)"
        among={[{ id: chosen.value, name: "" }]}
        value={item.value}
        onInput={(text) => (item.value = text)}
      />
    </>
  );
}

const EXISTING = {
  none: "It is not in the service now.",
  deleted: "It is deleted now.",
  older: "Nothing newer will be lost.",
  newer: "Changes made since then will be lost.",
} as const;
const KEPT = "Changes made since then stay in its versions.";

type PreviewProps = Closable & Readonly<{ body: Restore; job: Job; onBack: () => void }>;

function Preview({ body, job: { result, findings }, onBack, onClose }: PreviewProps) {
  const { takenAt, items = 0, existing = "none", room, snapshot } = result?.restored ?? {};
  const overwrite = existing === "newer";
  const { vault, item } = body;
  const entry = item ? listedEntry(vault, item) : undefined;
  const restore = async () => {
    // The snapshot that was shown: there may be a newer one by now.
    await startJob({ ...body, ...(snapshot !== undefined && { snapshot }), ...(overwrite && { overwrite }) });
    onClose();
    showToast("Restore started. Follow it under Jobs.");
  };
  return (
    <FormDialog
      title="Preview of the restore"
      action={restore}
      submit={overwrite ? "Replace it" : "Restore"}
      danger={overwrite}
      disabled={room === false}
      onCancel={onBack}
      onClose={onClose}
    >
      <p>
        Restores {entry ? `“${named(titleOf(entry.item))}”` : item ? "the item" : plural(items, "item")}
        {takenAt !== undefined && ` to ${formatTime(takenAt)}`}.{" "}
        {overwrite && item && session.value!.settings.versionsKept > 0 ? KEPT : EXISTING[existing]}
      </p>
      {takenAt !== undefined && !item && <ChangedSince vault={vault} time={takenAt} />}
      {takenAt !== undefined && entry && may(vault, "r") && <ItemChanges vault={vault} item={entry.item.id} time={takenAt} />}
      {room === false && <p class="failure">The database does not have enough free space.</p>}
      {findings.length > 0 && (
        <>
          <p class="failure">The backup is damaged. These will be missing or incomplete:</p>
          <FindingList findings={findings} />
        </>
      )}
    </FormDialog>
  );
}

/** `time` is the time of the backup, in ISO 8601. */
type ItemChangesProps = Readonly<{ vault: string; item: string; time: string }>;

/** The versions of an Item now and in the backup, and what differs, without values. */
function ItemChanges({ vault, item, time }: ItemChangesProps) {
  const { data: words = "Comparing with the backup…", error } = useLoaded(() => describeChanges(vault, item, Date.parse(time)));
  return <output>{error === undefined ? words : explain(error)}</output>;
}

async function describeChanges(vault: string, item: string, time: number): Promise<string> {
  const listed = await call("GET /v1/vaults/{vault}/items/{item}/versions", { path: { vault, item } });
  const then = listed.data.map(asVersion).find(({ updatedAt }) => Date.parse(updatedAt) <= time);
  const { data: now } = await loadItem(vault, item);
  const current = `Now: version ${now.version} of ${formatTime(now.updatedAt)}.`;
  if (then === undefined) return `${current} The version in the backup is no longer kept, so they can’t be compared.`;
  if (then.version === now.version) return `${current} It has not changed since.`;
  const before = await loadVersion(now, then.version);
  const rows = [...difference(before, now), ...(await compareContents(before, now))];
  return `${current} In the backup: version ${then.version} of ${formatTime(then.updatedAt)}. ${changeWords(before, now, rows)}`;
}

/** The Items that have changed since the backup, as far as the session lists them. They are reverted or removed. */
function ChangedSince({ vault, time }: Omit<ItemChangesProps, "item">) {
  const listed = entries.value.filter((entry) => entry.item.vault.id === vault);
  if (listed.length === 0) return null;
  const changed = listed.filter(({ item }) => item.updatedAt > time);
  if (changed.length === 0) return <p class="quiet">No listed item has changed since.</p>;
  return (
    <>
      <p>{plural(changed.length, "item has", "items have")} changed since:</p>
      <List
        class="outcomes"
        rows={changed.map(({ item }) => [
          `${titleOf(item)} `,
          <span class="quiet">{item.createdAt > time ? "created since" : formatTime(item.updatedAt)}</span>,
        ])}
      />
    </>
  );
}
