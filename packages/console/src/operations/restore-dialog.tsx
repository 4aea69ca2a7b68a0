import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { BackedUpVaults, Job, NewJob, Snapshot } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { shortId } from "../admin/filter.ts";
import { call } from "../state/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { formatTime } from "../ui/time.ts";
import { FindingList, startJob, untilEnded } from "./jobs.tsx";
import { askForAct, BACK_UP } from "../state/asked-act.ts";
import { entries } from "../state/items.ts";
import { isolate, presentText, titleOf } from "../ui/texts.ts";

/** Restores a vault or one Item from a backup. It first shows the expected result. */

type BackedUpVault = BackedUpVaults["vaults"][number];
type Restore = NewJob & { readonly vault: string };

export function RestoreDialog({ onClose }: { readonly onClose: () => void }) {
  const vaults = useSignal<readonly BackedUpVault[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const preview = useSignal<{ readonly body: Restore; readonly job: Job } | undefined>(undefined);
  const abort = useRef(new AbortController());
  useLayoutEffect(() => {
    void loadVaults().then(
      (all) => (vaults.value = all),
      (error: unknown) => (failure.value = error),
    );
    return () => abort.current.abort();
  }, []);
  if (failure.value !== undefined)
    return (
      <Dialog title="Restore" onClose={onClose}>
        <Failure error={failure.value} />
      </Dialog>
    );
  if (preview.value) return <Preview {...preview.value} onBack={() => (preview.value = undefined)} onClose={onClose} />;
  // With `overwrite`, because it would be refused where something was changed since, and the person is to see that.
  const look = async (data: FormData) => {
    const body = restoreOf(data);
    const job = await untilEnded(await startJob({ ...body, dryRun: true, overwrite: true }), abort.current.signal);
    if (job.state !== "done") throw new InputError(`It can’t be restored: ${(job.reason ?? job.state).replaceAll("_", " ")}.`);
    preview.value = { body, job };
  };
  return (
    <Dialog title="Restore" onClose={onClose}>
      {vaults.value === undefined ? (
        <p class="quiet">Loading…</p>
      ) : vaults.value.length === 0 ? (
        <>
          <p>No vault has a backup yet. Back up first; you can then restore from it.</p>
          <div class="buttons">
            <button type="button" class="primary" onClick={() => askForAct("backups", BACK_UP)}>
              {BACK_UP}
            </button>
          </div>
        </>
      ) : (
        <Form action={look} submit="Preview" onCancel={onClose}>
          <Choice vaults={vaults.value} />
        </Form>
      )}
    </Dialog>
  );
}

/** All vaults of the backups, page after page. */
async function loadVaults(): Promise<BackedUpVault[]> {
  const all: BackedUpVault[] = [];
  for (let after: string | undefined, first = true; first || after !== undefined; first = false) {
    const { data } = await call("GET /v1/admin/backups/vaults", { query: after === undefined ? {} : { after } });
    all.push(...data.vaults);
    after = data.next;
  }
  return all;
}

/** Returns the Items of a vault that the session lists, by the labels of their options. Any other Item is chosen by its id. */
const itemsByLabel = (vault: string): ReadonlyMap<string, string> =>
  new Map(
    entries.value
      .filter(({ item }) => item.vault.id === vault)
      .map(({ item }) => [presentText(`${isolate(titleOf(item))} · ${shortId(item.id)}`), item.id]),
  );

/** Throws an InputError for a text that is neither offered nor an id. */
function restoreOf(data: FormData): Restore {
  const typed = textOf(data, "item").trim();
  const item = typed === "" ? undefined : (itemsByLabel(textOf(data, "vault")).get(typed) ?? parseId(typed));
  if (typed !== "" && item === undefined)
    throw new InputError("Choose an item of the list, or paste its ID from the end of its address in the console.");
  const snapshot = Number(textOf(data, "snapshot"));
  return { kind: "restore", vault: textOf(data, "vault"), ...(item && { item }), ...(snapshot > 0 && { snapshot }) };
}

function Choice({ vaults }: { readonly vaults: readonly BackedUpVault[] }) {
  const chosen = useSignal(vaults[0]!.id);
  const snapshots = useSignal<readonly Snapshot[]>([]);
  useLayoutEffect(() => {
    const vault = chosen.value;
    snapshots.value = [];
    void call("GET /v1/admin/backups/vaults/{vault}", { path: { vault } }).then(
      ({ data }) => void (vault === chosen.value && (snapshots.value = data)),
      () => undefined, // Then only the newest one can be chosen.
    );
  }, [chosen.value]);
  return (
    <>
      <label>
        Vault
        <select name="vault" value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {vaults.map(({ id, name, createdAt }) => (
            <option key={id} value={id}>
              {name ?? `Vault ${shortId(id)}`}
              {createdAt === undefined ? " (cannot be decrypted)" : ""}
            </option>
          ))}
        </select>
      </label>
      <label>
        Restore point
        <select name="snapshot">
          <option value="">Latest backup</option>
          {snapshots.value
            .filter(({ broken }) => broken === undefined)
            .map(({ number, createdAt = "" }) => (
              <option key={number} value={number}>
                {formatTime(createdAt)}
              </option>
            ))}
        </select>
      </label>
      <label>
        Item title or ID (leave empty to restore the whole vault)
        <input name="item" list="restorable-items" autocomplete="off" spellcheck={false} />
      </label>
      <datalist id="restorable-items">
        {[...itemsByLabel(chosen.value).keys()].slice(0, OFFERED).map((label) => (
          <option key={label}>{label}</option>
        ))}
      </datalist>
    </>
  );
}

/** A browser is slow with a longer list. */
const OFFERED = 1_000;

const EXISTING = {
  none: "It is not in the service now.",
  deleted: "It is deleted now.",
  older: "Nothing newer will be lost.",
  newer: "Changes made since then will be lost.",
} as const;

interface PreviewProps {
  readonly body: Restore;
  /** The job that has looked. */
  readonly job: Job;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

function Preview({ body, job: { result, findings }, onBack, onClose }: PreviewProps) {
  const { takenAt, items = 0, existing = "none", room, snapshot } = result?.restored ?? {};
  const overwrite = existing === "newer";
  const restore = async () => {
    // The snapshot that was shown: there may be a newer one by now.
    await startJob({ ...body, ...(snapshot !== undefined && { snapshot }), ...(overwrite && { overwrite }) });
    onClose();
    showToast("Restore started. Follow it under Jobs.");
  };
  return (
    <Dialog title="Preview of the restore" onClose={onClose}>
      <Form
        action={restore}
        submit={overwrite ? "Replace it" : "Restore"}
        danger={overwrite}
        disabled={room === false}
        onCancel={onBack}
      >
        <p>
          Restores {body.item ? "the item" : plural(items, "item")}
          {takenAt !== undefined && ` to ${formatTime(takenAt)}`}. {EXISTING[existing]}
        </p>
        {takenAt !== undefined && <ChangedSince vault={body.vault} item={body.item ?? undefined} time={takenAt} />}
        {room === false && <p class="failure">The database does not have enough free space.</p>}
        {findings.length > 0 && (
          <>
            <p class="failure">The backup is damaged. These will be missing or incomplete:</p>
            <FindingList findings={findings} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Number of titles that are shown. */
const TITLES_MAX = 20;

interface ChangedProps {
  readonly vault: string;
  /** The id of the only Item that is restored. */
  readonly item: string | undefined;
  /** ISO 8601. */
  readonly time: string;
}

/** The Items that have changed since the backup, as far as the session lists them. They are reverted or removed. */
function ChangedSince({ vault, item, time }: ChangedProps) {
  const listed = entries.value.filter((entry) => entry.item.vault.id === vault && (item === undefined || entry.item.id === item));
  if (listed.length === 0) return null;
  const changed = listed.filter((entry) => entry.item.updatedAt > time);
  if (changed.length === 0) return <p class="quiet">No listed item has changed since.</p>;
  return (
    <>
      <p>{plural(changed.length, "item has", "items have")} changed since:</p>
      <ul class="outcomes">
        {changed.slice(0, TITLES_MAX).map((entry) => (
          <li key={entry.key}>
            {titleOf(entry.item)}{" "}
            <span class="quiet">{entry.item.createdAt > time ? "created since" : formatTime(entry.item.updatedAt)}</span>
          </li>
        ))}
      </ul>
      {changed.length > TITLES_MAX && <p class="quiet">and {plural(changed.length - TITLES_MAX, "other")}</p>}
    </>
  );
}
