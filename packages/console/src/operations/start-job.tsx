import type { NewJob } from "@item-vault/client";
import { showToast } from "../state/toasts.ts";
import { Check, Select } from "../ui/controls.tsx";
import { FormDialog, type FormDialogProps } from "../ui/form.tsx";
import { KINDS, startJob } from "./jobs.tsx";

/** Asks before a job begins. */

interface Props extends Omit<FormDialogProps, "action"> {
  /** Returns the job from the input. */
  readonly jobOf: (data: FormData) => NewJob;
}

function StartJob({ jobOf, ...dialog }: Props) {
  const action = async (data: FormData) => {
    const { kind } = await startJob(jobOf(data));
    showToast(`Started: ${KINDS[kind].toLowerCase()}`);
    dialog.onClose();
  };
  return <FormDialog {...dialog} action={action} />;
}

export const VerifyDialog = ({ onClose }: { readonly onClose: () => void }) => (
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

export const BackupDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <StartJob title="Back up now" submit="Back up" jobOf={(data) => ({ kind: "backup", full: data.has("full") })} onClose={onClose}>
    <p>Backs up all vaults to your backup bucket. Only changes since the last backup are written.</p>
    <Check name="full" label="Full backup: write everything again and check every file" />
  </StartJob>
);

export const RewrapDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <StartJob
    title="Re-wrap all keys with the active root key"
    submit="Re-wrap"
    jobOf={() => ({ kind: "rewrap" })}
    onClose={onClose}
  >
    <p>
      Vault keys and tokens are re-wrapped with the active root key. Once no backup needs the old keys, you can remove them from
      ROOT_KEYS. The service stays available.
    </p>
  </StartJob>
);
