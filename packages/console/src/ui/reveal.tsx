import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

/** Time for which a value stays revealed. */
const REVEALED = 30_000; // milliseconds

/** Reveals a value. It is hidden again after 30 seconds, which `extend` begins again, and when another value replaces it. */
export function useReveal(value: string) {
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
export const RevealButton = ({ name, revealed, toggle }: Readonly<{ name: string; revealed: boolean; toggle: () => void }>) => (
  <Button icon="eye" aria-pressed={revealed} label={`Reveal ${name}`} title="Reveal" onClick={toggle} />
);

/** Longer values are keys or documents, which nobody reads by character: they have one colour. */
const COLOURED_MAX = 2_000; // UTF-16 units

/** The characters of a secret with a colour of their own, by the name of their highlight in style/items.css. */
const RUNS = { digits: /\p{Nd}+/gu, symbols: /[^\p{L}\p{M}\p{Nd}\s]+/gu };

/**
 * A secret that is shown. The colours of its digits and symbols are highlights of the browser: the value stays one text, which screen readers
 * read and people copy as it is. A browser without such highlights shows one colour.
 */
export function SecretText({ value }: { readonly value: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (value === "" || value.length > COLOURED_MAX || !("highlights" in CSS)) return undefined;
    const text = document.createTreeWalker(element.current!, NodeFilter.SHOW_TEXT).nextNode() as Text;
    const removals = Object.entries(RUNS).flatMap(([name, run]) => {
      const highlight = CSS.highlights.get(name) ?? new Highlight();
      CSS.highlights.set(name, highlight);
      return [...text.data.matchAll(run)].map(({ 0: { length }, index }) => {
        const place = { startContainer: text, startOffset: index, endContainer: text, endOffset: index + length };
        const range = new StaticRange(place);
        highlight.add(range);
        return () => highlight.delete(range);
      });
    });
    return () => removals.forEach((remove) => remove());
  }, [value]);
  return (
    <span ref={element} class="value secret">
      {value}
    </span>
  );
}

/** Replaces a hidden value by a fixed number of dots, because their number must not reveal its length. */
export const HiddenValue = () => (
  <span class="value">
    <span class="dots" aria-hidden="true">
      ••••••••••
    </span>
    <span class="unseen">hidden</span>
  </span>
);

/** A value that is hidden until it is revealed, and the button that reveals it. */
export function ConcealedValue({ name, value }: { readonly name: string; readonly value: string }) {
  const { revealed, toggle } = useReveal(value);
  return (
    <>
      {revealed ? <SecretText value={value} /> : <HiddenValue />}
      <RevealButton name={name} revealed={revealed} toggle={toggle} />
    </>
  );
}
