import { useSignal } from "@preact/signals";
import { leaveFor } from "../state/route.ts";
import { Dialog } from "./dialog.tsx";
import { Form } from "./form.tsx";
import { useKeptPlace } from "./kept-place.ts";

/** Asks before a place with unsaved data is left: by a link, by the back button, or by closing the page. */

interface Props {
  /** Returns true if data would be lost now. */
  readonly changed: () => boolean;
  readonly title: string;
  /** The data that would be lost, in a sentence. */
  readonly text: string;
  /** The buttons. */
  readonly stay: string;
  readonly leave: string;
  /** Called when the place is left. */
  readonly onLeave?: () => void;
}

export function LeaveGuard({ changed, title, text, stay: cancel, leave: submit, onLeave }: Props) {
  const target = useSignal<string | undefined>(undefined);
  const release = useKeptPlace(changed, (address) => {
    if (!changed()) return false;
    target.value = address;
    return true;
  });
  if (target.value === undefined) return null;
  const stay = () => (target.value = undefined);
  const leave = () => {
    const address = target.value!;
    stay();
    release();
    onLeave?.();
    leaveFor(address);
  };
  return (
    <Dialog title={title} onClose={stay}>
      <Form action={leave} submit={submit} danger cancel={cancel} onCancel={stay}>
        <p>{text}</p>
      </Form>
    </Dialog>
  );
}
