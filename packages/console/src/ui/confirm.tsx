import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";

interface Props {
  readonly title: string;
  /** The label of the destroying button. */
  readonly action: string;
  /** The name of the destroyed object, and that this cannot be undone. */
  readonly children: ComponentChildren;
  /** Errors are shown in the dialog, which stays open. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** The second step before something is destroyed. The focus is on the button that cancels. */
export const Confirm = ({ title, action, children, onConfirm, onClose }: Props) => (
  <Dialog title={title} onClose={onClose}>
    <Form action={onConfirm} submit={action} danger onCancel={onClose}>
      {children}
    </Form>
  </Dialog>
);
