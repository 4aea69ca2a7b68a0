import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { holdAddress, leaveFor } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";

/** Asks before a place with unsaved changes is left: by a link, by the back button, or by closing the page. */

export function LeaveGuard({ changed }: { readonly changed: () => boolean }) {
  const target = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const onUnload = (event: BeforeUnloadEvent) => {
      // Without a session the page is being dropped, and the user has agreed to that.
      if (session.value && changed()) event.preventDefault();
    };
    addEventListener("beforeunload", onUnload);
    const release = holdAddress((address) => {
      if (!changed()) return false;
      target.value = address;
      return true;
    });
    return () => {
      removeEventListener("beforeunload", onUnload);
      release();
    };
  }, []);
  if (target.value === undefined) return null;
  const stay = () => (target.value = undefined);
  return (
    <Dialog title="Leave without saving?" onClose={stay}>
      <p>What you have typed is not saved.</p>
      <div class="buttons">
        <button type="button" onClick={stay}>
          Keep editing
        </button>
        <button type="button" class="danger" onClick={() => leaveFor(target.value!)}>
          Discard the changes
        </button>
      </div>
    </Dialog>
  );
}
