import { useLayoutEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Icon } from "./icon.tsx";

/** Values that are hidden until they are revealed. */

/** Time for which a value stays revealed. */
const REVEALED = 30_000; // milliseconds

interface Reveal {
  readonly revealed: boolean;
  readonly toggle: () => void;
}

interface Revealing extends Reveal {
  /** Begins the 30 seconds again. */
  readonly extend: () => void;
}

/** Reveals a value. It is hidden again after 30 seconds, and when another value replaces it. */
export function useReveal(value: string): Revealing {
  /** The value that is revealed: one that takes its place is not, not even until an effect runs. */
  const shown = useSignal<string | undefined>(undefined);
  const extended = useSignal(0);
  const revealed = shown.value === value;
  useLayoutEffect(() => {
    if (!revealed) shown.value = undefined;
    if (!revealed) return undefined;
    const timer = setTimeout(() => (shown.value = undefined), REVEALED);
    return () => clearTimeout(timer);
  }, [revealed, extended.value]);
  return {
    revealed,
    toggle: () => (shown.value = revealed ? undefined : value),
    extend: () => extended.value++,
  };
}

/** The button that reveals a value and hides it again. `name` is the name of the value. */
export const RevealButton = ({ name, revealed, toggle }: Reveal & { readonly name: string }) => (
  <button type="button" class="plain" aria-pressed={revealed} aria-label={`Reveal ${name}`} title="Reveal" onClick={toggle}>
    <Icon name="eye" />
  </button>
);

/** Replaces a hidden value: as many dots for every value, because their number must not reveal its length. */
export const HiddenValue = () => (
  <span class="value">
    <span class="dots" aria-hidden="true">
      ••••••••••
    </span>
    <span class="unseen">hidden</span>
  </span>
);
