import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./failure.tsx";

interface Props {
  readonly title: string;
  /** What the button says that destroys. */
  readonly action: string;
  /** What is destroyed, by name, and that it cannot be undone. */
  readonly children: ComponentChildren;
  /** Errors: are shown in the dialog, which stays open. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** The second step before something is destroyed. The focus is on the button that cancels. */
export function Confirm({ title, action, children, onConfirm, onClose }: Props) {
  const error = useSignal<unknown>(undefined);
  const busy = useSignal(false);
  const confirm = async () => {
    busy.value = true;
    error.value = undefined;
    try {
      await onConfirm();
    } catch (failure) {
      error.value = failure;
    }
    busy.value = false;
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error.value !== undefined && <Failure error={error.value} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={busy.value} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
