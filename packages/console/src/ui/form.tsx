import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { explain } from "../failures/explain.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Alert } from "./failure.tsx";

interface Props {
  /** The action of the form. Errors are shown in the form, which keeps the input. */
  readonly action: (data: FormData) => Promise<void> | void;
  /** The text of the button that sends the form. */
  readonly submit: string;
  /** True if it destroys anything. */
  readonly danger?: boolean;
  /** True if another action of the page comes first. */
  readonly second?: boolean;
  readonly disabled?: boolean;
  /** The failure of an earlier try. */
  readonly message?: string;
  readonly look?: string;
  /** The text of the other button. */
  readonly cancel?: string;
  /** Absent: it cannot be cancelled. */
  readonly onCancel?: () => void;
  readonly children?: ComponentChildren;
}

/** A form of a dialog, or a question without fields. While it is being sent, it cannot be sent again. */
export function Form({ action, submit, disabled = false, message = "", look = "dialog-form", ...props }: Props) {
  const { danger, second, cancel = "Cancel", onCancel, children } = props;
  const failure = useSignal(message);
  const waiting = useSignal(false);
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (waiting.value || disabled) return;
    const data = new FormData(event.currentTarget as HTMLFormElement);
    waiting.value = true;
    failure.value = "";
    try {
      await action(data);
    } catch (error) {
      failure.value = error instanceof InputError ? error.message : explain(error);
    }
    waiting.value = false;
  };
  return (
    <form class={look} onSubmit={(event) => void onSubmit(event)}>
      {children}
      {failure.value !== "" && <Alert>{failure.value}</Alert>}
      <div class="buttons">
        {onCancel && <Button text={cancel} onClick={onCancel} />}
        <Button
          type="submit"
          text={submit}
          class={danger ? "danger" : second ? "" : "primary"}
          disabled={disabled || waiting.value}
        />
      </div>
    </form>
  );
}

export interface FormDialogProps extends Props {
  readonly title: string;
  /** Called when the dialog was closed, and by default when its form was cancelled. The action closes it itself. */
  readonly onClose: () => void;
}

export const FormDialog = ({ title, onClose, ...form }: FormDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Form onCancel={onClose} {...form} />
  </Dialog>
);

/** An error of the action is shown in the question, which stays open. */
type DangerProps = Pick<Props, "submit" | "children"> & Readonly<{ title: string; action: () => Promise<void> }>;

/** A button that destroys something, after confirmation. */
export function DangerButton({ action, ...question }: DangerProps) {
  const asking = useSignal(false);
  const close = () => (asking.value = false);
  const confirm = async () => {
    await action();
    close();
  };
  return (
    <>
      <Button text={`${question.submit}…`} class="danger" onClick={() => (asking.value = true)} />
      {asking.value && <FormDialog {...question} action={confirm} danger onClose={close} />}
    </>
  );
}

/** An input that the form does not send, with its fault in words. */
export class InputError extends Error {}

export function textOf(data: FormData, name: string): string {
  const value = data.get(name);
  return typeof value === "string" ? value : "";
}
