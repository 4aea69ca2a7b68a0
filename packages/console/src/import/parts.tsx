import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { titleOf } from "../items/categories.ts";

/** The heading of a stage. It takes the focus when the stage begins, because the control that had it is gone. */
export function StageHeading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <h2 ref={heading} tabIndex={-1}>
      {children}
    </h2>
  );
}

export const Alert = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="failure" role="alert">
    {children}
  </p>
);

/** Rows that are shown of a list that may be long. */
const SHOWN = 100;

export const List = ({ rows }: { readonly rows: readonly string[] }) => (
  <ul>
    {rows.slice(0, SHOWN).map((row, index) => (
      <li key={index}>{row}</li>
    ))}
    {rows.length > SHOWN && <li>and {rows.length - SHOWN} more</li>}
  </ul>
);

/** The titles of Items that are there with other content, folded up. */
export const Differing = ({ titles }: { readonly titles: readonly string[] }) =>
  titles.length > 0 && (
    <details>
      <summary>Already here with different content (not changed) ({titles.length})</summary>
      <List rows={titles.map((title) => titleOf({ title }))} />
    </details>
  );
