import type { ComponentChildren } from "preact";
import { isErrorKind } from "../failures/error-kind.ts";
import { refreshHealth } from "../state/health.ts";
import { type Action, showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError } from "../ui/form.tsx";
import { keepFocus } from "../ui/page.tsx";

interface Props {
  readonly title: string;
  readonly submit: string;
  /** True if it ends a row. */
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly act: (data: FormData) => Promise<unknown>;
  /** The message afterwards, and what it offers. */
  readonly done: string;
  readonly offer?: () => Action | undefined;
  /** Loaded again afterwards. */
  readonly list: { readonly load: () => Promise<void> };
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog with the form of an act on a list. The row with the focus may be gone afterwards: then the title of the view has it. */
export function ActDialog({ title, act, done, offer, list, onClose, children, ...form }: Props) {
  const action = async (data: FormData) => {
    try {
      await act(data);
    } catch (error) {
      // The general message is about the quotas of vaults.
      throw isErrorKind(error, "quota") ? new InputError(`${error.message}.`) : error;
    }
    onClose();
    showToast(done, "done", offer?.());
    if (form.danger) refreshHealth();
    await list.load();
    keepFocus();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} onCancel={onClose} {...form}>
        {children}
      </Form>
    </Dialog>
  );
}
