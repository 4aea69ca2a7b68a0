import type { ComponentChildren } from "preact";
import type { NewJob } from "@item-vault/client";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form } from "../ui/form.tsx";
import { KINDS, startJob } from "./jobs.ts";

/** Asks before a job begins. */

interface Props {
  readonly title: string;
  readonly submit: string;
  /** The job, from what was typed. */
  readonly jobOf: (data: FormData) => NewJob;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
}

export function StartJob({ title, submit, jobOf, children, onClose }: Props) {
  const action = async (data: FormData) => {
    const { kind } = await startJob(jobOf(data));
    showToast(`Started: ${KINDS[kind].toLowerCase()}.`);
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} submit={submit} onCancel={onClose}>
        {children}
      </Form>
    </Dialog>
  );
}

export const VerifyDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <StartJob
    title="Verify"
    submit="Verify"
    jobOf={(data) => ({ kind: "verify", quick: data.has("quick"), backup: data.get("what") === "backup" })}
    onClose={onClose}
  >
    <label>
      What
      <select name="what">
        <option value="service">What the service serves</option>
        <option value="backup">The backups</option>
      </select>
    </label>
    <label class="check">
      <input type="checkbox" name="quick" />
      Look only whether the contents of Files are there, and do not read them
    </label>
  </StartJob>
);

export const BackupDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <StartJob title="Back up now" submit="Back up" jobOf={(data) => ({ kind: "backup", full: data.has("full") })} onClose={onClose}>
    <p>All vaults are backed up to the bucket of backups. What has not changed since the last backup is not written again.</p>
    <label class="check">
      <input type="checkbox" name="full" />
      Write everything again, and look for every File
    </label>
  </StartJob>
);

export const RewrapDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <StartJob title="Put all under the active root key" submit="Start" jobOf={() => ({ kind: "rewrap" })} onClose={onClose}>
    <p>
      The keys of all vaults and the rows of all tokens are put under the active root key. Afterwards the others can leave
      ROOT_KEYS, once no backup needs them. Requests are answered meanwhile as before.
    </p>
  </StartJob>
);
