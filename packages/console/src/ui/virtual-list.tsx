import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { afterRender } from "./page.tsx";
import { rowsInView } from "./rows-in-view.ts";

/** A list of rows of one height. Only the rows in view are in the page, so 10,000 rows cost no more than 20. */

interface Props<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** Returns the content of a row: one link with the given `tabIndex`. */
  readonly row: (row: T, tabIndex: number) => ComponentChildren;
  /** The key of the row that is shown as current, which is scrolled into view. */
  readonly current?: string | undefined;
  /** The query. Its results are shown from the first one, even if the current row is among them. */
  readonly query?: string;
}

const ROW_HEIGHT = 52; // pixels

/** Grey rows in place of a list or of an Item that is being loaded. */
export const Skeleton = () => (
  <div class="skeleton" aria-busy="true" style={{ "--row": `${ROW_HEIGHT}px` }}>
    <span class="unseen">Loading…</span>
  </div>
);

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

export function VirtualList<T>({ label, rows, keyOf, row, current, query = "" }: Props<T>) {
  const list = useRef<HTMLUListElement>(null);
  const { scroll, measure, chosen, setActive, show, focusRow } = useActiveRow(list, rows.length);
  const last = useRef<{ readonly query: string; readonly key: string | undefined }>({ query: "", key: undefined });
  useLayoutEffect(() => {
    const index = current === undefined ? -1 : rows.findIndex((one) => keyOf(one) === current);
    const searched = query !== last.current.query;
    if (searched && query !== "") show(0);
    else if (index >= 0 && (searched || current !== last.current.key)) show(index);
    // After a write, the list stays where it was scrolled to.
    else if (index >= 0) setActive(index);
    // What had the focus was a part of the current row's view, which has closed.
    else if (current === undefined && last.current.key !== undefined && document.activeElement === document.body)
      focusRow(chosen);
    last.current = { query, key: index < 0 && current !== undefined ? undefined : current };
  }, [rows, current, query]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined || rows.length === 0) return;
    event.preventDefault();
    focusRow(Math.min(rows.length - 1, Math.max(0, chosen + step)));
  };

  const [from, until] = rowsInView(scroll.top, scroll.view, ROW_HEIGHT, rows.length);
  const shown = rows.slice(from, until).map((one, index) => ({ one, index: from + index }));
  // The row with the focus stays in the page when it is scrolled out of view, so that the focus is not lost. It keeps its place among the
  // rows: a moved element gets the focus again, and the browser would scroll to it.
  if (rows[chosen] !== undefined && chosen < from) shown.unshift({ one: rows[chosen], index: chosen });
  else if (rows[chosen] !== undefined && chosen >= until) shown.push({ one: rows[chosen], index: chosen });
  return (
    // The links in the rows are interactive; the list handles their keys, which bubble.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ul
      ref={list}
      class="rows"
      aria-label={label}
      style={{ "--height": `${rows.length * ROW_HEIGHT}px` }}
      onScroll={measure}
      onKeyDown={onKeyDown}
    >
      {shown.map(({ one, index }) => (
        <li
          key={keyOf(one)}
          data-index={index}
          aria-setsize={rows.length}
          aria-posinset={index + 1}
          class="row"
          style={{ height: `${ROW_HEIGHT}px`, transform: `translateY(${index * ROW_HEIGHT}px)` }}
        >
          {row(one, index === chosen ? 0 : -1)}
        </li>
      ))}
    </ul>
  );
}

/** Returns the scroll position and the visible height of a list, in pixels, and the row that Tab reaches. `count` is the number of rows. */
function useActiveRow(list: RefObject<HTMLUListElement | null>, count: number) {
  const [scroll, setScroll] = useState({ top: 0, view: 800 });
  const measure = () => setScroll({ top: list.current!.scrollTop, view: list.current!.clientHeight });
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(list.current!);
    // On paper, all rows are in view.
    const showAll = () => setScroll({ top: 0, view: Infinity });
    addEventListener("beforeprint", showAll);
    addEventListener("afterprint", measure);
    return () => {
      observer.disconnect();
      removeEventListener("beforeprint", showAll);
      removeEventListener("afterprint", measure);
    };
  }, []);
  const [active, setActive] = useState(0);
  /** Makes a row the one that Tab reaches, and scrolls as far as needed to show it. */
  const show = (index: number) => {
    setActive(index);
    const element = list.current!;
    if (index * ROW_HEIGHT < element.scrollTop) element.scrollTop = index * ROW_HEIGHT;
    if ((index + 1) * ROW_HEIGHT > element.scrollTop + element.clientHeight)
      element.scrollTop = (index + 1) * ROW_HEIGHT - element.clientHeight;
    measure();
  };
  /** Moves the focus to a row, which may have to be rendered first. */
  const focusRow = (index: number) => {
    show(index);
    afterRender(() => list.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus());
  };
  return { scroll, measure, chosen: Math.min(active, Math.max(0, count - 1)), setActive, show, focusRow };
}

/** Moves the focus to the row of the list that Tab reaches, or to the search when the list is empty. */
export function focusList(): void {
  const row = document.querySelector<HTMLElement>(".rows a[tabindex='0']");
  (row ?? document.querySelector<HTMLElement>(".search input"))?.focus();
}
