import { useLayoutEffect, useRef } from "preact/hooks";
import { holdAddress } from "../state/route.ts";
import { session } from "../state/session.ts";

/**
 * Keeps the place of a component while something would be lost with it: the browser asks before the page is closed or loaded again. In: whether
 * something would be lost now; what is called before the place is left for an address, and keeps it by `true`. Out: lets the address go.
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
