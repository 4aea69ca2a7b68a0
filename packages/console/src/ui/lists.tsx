import type { ComponentChildren } from "preact";

/** Lists that are only read. */

type ListProps = Readonly<{ rows: readonly ComponentChildren[]; class?: string; label?: string }>;

const SHOWN = 100;

/** A list, of which the first rows are shown. */
export const List = ({ rows, class: look, label }: ListProps) => (
  <ul class={look} aria-label={label}>
    {rows.slice(0, SHOWN).map((row, index) => (
      <li key={index}>{row}</li>
    ))}
    {rows.length > SHOWN && <li>and {rows.length - SHOWN} more</li>}
  </ul>
);

type PairsProps = Readonly<{ rows: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[]; class?: string }>;

/** Names with their values. A name without a value is left out. */
export const Pairs = ({ rows, class: look }: PairsProps) => (
  <dl class={look}>
    {rows.map(
      ([name, value], index) =>
        value && (
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);
