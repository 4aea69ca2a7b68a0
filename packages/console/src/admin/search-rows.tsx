import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** The field above a table that searches its rows, and further filters beside it. */
export function SearchRows({
  label,
  query,
  children,
}: {
  readonly label: string;
  readonly query: Signal<string>;
  readonly children?: ComponentChildren;
}) {
  return (
    <search class="row-search">
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        value={query.value}
        onInput={(event) => (query.value = event.currentTarget.value)}
      />
      {children}
    </search>
  );
}
