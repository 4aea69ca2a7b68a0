import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { holdAddress, leaveFor } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";

/** Asks before a place is left with what would be lost: by a link, by the back button, or by closing the page. */

interface Props {
  /** Whether something would be lost now. */
  readonly changed: () => boolean;
  readonly title: string;
  /** What would be lost, in a sentence. */
  readonly text: string;
  /** The buttons. */
  readonly stay: string;
  readonly leave: string;
  /** What ends when the place is left. */
  readonly onLeave?: () => void;
}

export function LeaveGuard({ changed, title, text, onLeave, ...buttons }: Props) {
  const target = useSignal<string | undefined>(undefined);
  const release = useRef<() => void>(undefined);
  useLayoutEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      // Without a session the page is being dropped, and the user has agreed to that.
      if (session.value && changed()) event.preventDefault();
    };
    addEventListener("beforeunload", onUnload);
    release.current = holdAddress((address) => {
      if (!changed()) return false;
      target.value = address;
      return true;
    });
    return () => {
      removeEventListener("beforeunload", onUnload);
      release.current?.();
    };
  }, []);
  if (target.value === undefined) return null;
  const stay = () => (target.value = undefined);
  const leave = () => {
    const address = target.value!;
    stay();
    release.current?.();
    onLeave?.();
    leaveFor(address);
  };
  return (
    <Dialog title={title} onClose={stay}>
      <p>{text}</p>
      <div class="buttons">
        <button type="button" onClick={stay}>
          {buttons.stay}
        </button>
        <button type="button" class="danger" onClick={leave}>
          {buttons.leave}
        </button>
      </div>
    </Dialog>
  );
}
