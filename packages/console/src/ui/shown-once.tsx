import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { copy } from "./clipboard.ts";
import { Dialog } from "./dialog.tsx";
import { Alert } from "./failure.tsx";
import { FormDialog } from "./form.tsx";
import { useKeptPlace } from "./leave.tsx";

/** Dialogs of secrets that no later answer contains. */

/**
 * Warns once before a dialog or its place is left. `loses` returns true if data would be lost. Returns a function that closes the dialog, or
 * warns.
 */
function useWarning(loses: () => boolean, onClose: () => void) {
  const warned = useSignal(false);
  const warn = (): boolean => {
    if (warned.value || !loses()) return false;
    return (warned.value = true);
  };
  useKeptPlace(loses, warn);
  return { warned, close: () => warn() || onClose() };
}

interface FormProps {
  readonly title: string;
  /** The name of the secret in a sentence: `token`. */
  readonly secret: string;
  readonly action: (data: FormData) => Promise<void>;
  readonly submit: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with the form that makes a secret. It warns before it is closed while the answer with the secret is in flight. */
export function SecretForm({ title, secret, action, submit, onClose, children }: FormProps) {
  const sending = useSignal(false);
  const { warned, close } = useWarning(() => sending.value, onClose);
  const send = async (data: FormData) => {
    [sending.value, warned.value] = [true, false];
    try {
      await action(data);
    } finally {
      sending.value = false;
    }
  };
  return (
    <FormDialog title={title} action={send} submit={submit} onClose={close}>
      {children}
      {warned.value && sending.value && (
        <Alert>The {secret} is being created. If you close this now, you won’t be able to see it.</Alert>
      )}
    </FormDialog>
  );
}

interface Props {
  readonly title: string;
  /** The name of the secret in a sentence: `token`. Absent: there is no secret, and nothing can be lost. */
  readonly secret: string | undefined;
  readonly onClose: () => void;
  /** Returns the content. `copySecret` copies the secret, or a text with it. */
  readonly children: (copySecret: (what: string, text: string) => void) => ComponentChildren;
}

/** A dialog with a secret that is nowhere else. It warns once before it is closed, or its place is left, without a copy. */
export function ShownOnce({ title, secret, onClose, children }: Props) {
  const copied = useSignal(false);
  const { warned, close } = useWarning(() => secret !== undefined && !copied.value, onClose);
  const copySecret = async (what: string, text: string) => {
    if (await copy(what, text)) copied.value = true;
  };
  const warns = warned.value && !copied.value;
  return (
    <Dialog title={title} onClose={close}>
      <div class="dialog-form">
        {children((what, text) => void copySecret(what, text))}
        {warns && <Alert>You haven’t copied the {secret}. You won’t be able to see it again.</Alert>}
        <div class="buttons">
          <Button text={warns ? "Close without copying" : "Done"} onClick={close} />
        </div>
      </div>
    </Dialog>
  );
}
