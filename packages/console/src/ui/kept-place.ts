import { useLayoutEffect, useRef } from "preact/hooks";
import { holdAddress } from "../state/route.ts";
import { session } from "../state/session.ts";

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
