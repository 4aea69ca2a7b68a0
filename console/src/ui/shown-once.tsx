import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { holdAddress } from "../state/route.ts";
import { copy } from "./clipboard.ts";
import { Dialog } from "./dialog.tsx";

interface Props {
  readonly title: string;
  /** What the secret is, in a sentence: `token`. Absent: there is none, and nothing to be lost. */
  readonly secret: string | undefined;
  readonly onClose: () => void;
  /** The content. In: copies the secret, or a text with it. */
  readonly children: (copySecret: (what: string, text: string) => void) => ComponentChildren;
}

/** A dialog with a secret that no later answer contains. It warns once before it is closed without a copy. */
export function ShownOnce({ title, secret, onClose, children }: Props) {
  const copied = useSignal(false);
  const warned = useSignal(false);
  const close = () => {
    if (secret === undefined || copied.value || warned.value) onClose();
    else warned.value = true;
  };
  const copySecret = async (what: string, text: string) => {
    if (await copy(what, text)) copied.value = true;
  };
  useLayoutEffect(
    () =>
      holdAddress(() => {
        if (secret === undefined || copied.value || warned.value) return false;
        warned.value = true;
        return true;
      }),
    [secret],
  );
  const warns = warned.value && !copied.value;
  return (
    <Dialog title={title} onClose={close}>
      <div class="dialog-form">
        {children((what, text) => void copySecret(what, text))}
        {warns && (
          <p class="failure" role="alert">
            You have not copied the {secret}. When this is closed, nobody can see it again.
          </p>
        )}
        <div class="buttons">
          <button type="button" onClick={close}>
            {warns ? "Close without copying" : "Done"}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
