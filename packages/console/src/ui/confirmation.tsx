import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Failure } from "./failure.tsx";

interface Props {
  /** The content to confirm. */
  readonly children: ComponentChildren;
  /** The label of the confirming button. */
  readonly action: string;
  /** True if it destroys anything. */
  readonly danger?: boolean;
  /** Runs the action, and shows the next step. A failure is shown, and the person may confirm again. */
  readonly onConfirm: () => Promise<void>;
  /** The label of the other button. */
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** A question, with the cancelling button before the confirming one. */
export function Confirmation({ children, action, danger = false, onConfirm, cancel = "Cancel", onCancel }: Props) {
  const failure = useSignal<unknown>(undefined);
  const waiting = useSignal(false);
  const confirm = async () => {
    waiting.value = true;
    failure.value = undefined;
    try {
      await onConfirm();
    } catch (error) {
      failure.value = error;
      waiting.value = false;
    }
  };
  return (
    <>
      {children}
      {failure.value !== undefined && <Failure error={failure.value} />}
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          {cancel}
        </button>
        <button type="button" class={danger ? "danger" : "primary"} disabled={waiting.value} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </>
  );
}
