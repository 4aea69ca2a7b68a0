import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Failure } from "../ui/failure.tsx";
import type { List } from "./lists.ts";

interface Props<T> {
  readonly list: List<T>;
  /** The content of a view without rows. */
  readonly empty: ComponentChildren;
  readonly children: (rows: readonly T[]) => ComponentChildren;
}

/** Loads a list, and shows it, its emptiness, or the failure. Earlier rows stay. */
export function ListContent<T>({ list, empty, children }: Props<T>) {
  useLayoutEffect(() => void list.load(), [list]);
  const [rows, error] = [list.rows.value, list.error.value];
  return (
    <>
      {error !== undefined && <Failure error={error} retry={() => void list.load()} />}
      {rows === undefined ? error === undefined && <p class="quiet">Loading…</p> : rows.length === 0 ? empty : children(rows)}
    </>
  );
}
