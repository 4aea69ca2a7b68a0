import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { holdAddress, leaveFor } from "../state/route.ts";
import { session } from "../state/session.ts";
import { FormDialog } from "./form.tsx";

/** Asks before a place with unsaved data is left: by a link, by the back button, or by closing the page. */

/**
 * Guards the place of a component while leaving it would lose data: the browser asks before the page is closed or reloaded. `loses` returns
 * true if data would be lost now. `hold` is called before the place is left for an address; return true to block. Returns a function that
 * releases the address.
 */
export function useKeptPlace(loses: () => boolean, hold: (address: string) => boolean): () => void {
  const release = useRef<() => void>(undefined);
  useLayoutEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      // Without a session the page is being dropped, and the user has agreed to that.
      if (session.value && loses()) event.preventDefault();
    };
    addEventListener("beforeunload", onUnload);
    release.current = holdAddress(hold);
    return () => {
      removeEventListener("beforeunload", onUnload);
      release.current?.();
    };
  }, []);
  return () => release.current?.();
}

interface Props {
  /** Returns true if data would be lost now. */
  readonly changed: () => boolean;
  readonly title: string;
  /** The data that would be lost, in a sentence. */
  readonly text: string;
  readonly stay: string;
  readonly leave: string;
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
    <FormDialog title={title} action={leave} submit={submit} danger cancel={cancel} onClose={stay}>
      <p>{text}</p>
    </FormDialog>
  );
}
