import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { BackedUpVaults, Job, NewJob, Snapshot } from "@item-vault/client";
import { parseId } from "@item-vault/model/ids";
import { shortId } from "../admin/filter.ts";
import { call } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { plural } from "../ui/plural.ts";
import { formatTime } from "../ui/time.ts";
import { FindingList } from "./finding-list.tsx";
import { startJob, untilEnded } from "./jobs.ts";

/** Restores a vault, or one Item of it, from a backup: first it is shown what would be restored. */

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
        <p>No vault has a backup yet.</p>
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

/** Errors: throws an InputError for a text that is no id. */
function restoreOf(data: FormData): Restore {
  const typed = textOf(data, "item").trim();
  const item = typed === "" ? undefined : parseId(typed);
  if (typed !== "" && item === undefined)
    throw new InputError("This is not an item ID. Copy it from the end of the item’s address in the console.");
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
        Item ID (leave empty to restore the whole vault)
        <input name="item" autocomplete="off" spellcheck={false} />
      </label>
    </>
  );
}

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
