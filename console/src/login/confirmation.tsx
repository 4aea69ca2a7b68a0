import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Failure } from "../ui/failure.tsx";

interface Props {
  /** What the person is asked to confirm. */
  readonly children: ComponentChildren;
  /** Confirms the login, and shows what follows. Errors: a failure is shown, and the person may confirm again. */
  readonly onConfirm: () => Promise<void>;
  readonly onCancel: () => void;
}

/** Asks the person to confirm a login that another program has begun. */
export function Confirmation({ children, onConfirm, onCancel }: Props) {
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
          Cancel
        </button>
        <button type="button" class="primary" disabled={waiting.value} onClick={() => void confirm()}>
          Confirm
        </button>
      </div>
    </>
  );
}
