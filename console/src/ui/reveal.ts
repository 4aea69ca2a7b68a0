import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";

/** How long a value stays revealed. */
const REVEALED = 30_000; // milliseconds

/** Whether a value is revealed. It is hidden again after 30 seconds, and when another value takes its place. */
export function useReveal(value: string): { readonly revealed: boolean; readonly toggle: () => void } {
  const revealed = useSignal(false);
  useEffect(() => {
    revealed.value = false;
  }, [value]);
  useEffect(() => {
    if (!revealed.value) return undefined;
    const timer = setTimeout(() => (revealed.value = false), REVEALED);
    return () => clearTimeout(timer);
  }, [revealed.value]);
  return { revealed: revealed.value, toggle: () => (revealed.value = !revealed.value) };
}
