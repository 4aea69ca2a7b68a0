import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Failure } from "./failure.tsx";

interface Props {
  /** What the person is asked to confirm. */
  readonly children: ComponentChildren;
  /** What the button says that confirms. */
  readonly action: string;
  /** Whether it destroys something. */
  readonly danger?: boolean;
  /** Does it, and shows what follows. Errors: a failure is shown, and the person may confirm again. */
  readonly onConfirm: () => Promise<void>;
  /** What the other button says. */
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** A question, with the button that cancels before the one that confirms. */
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
