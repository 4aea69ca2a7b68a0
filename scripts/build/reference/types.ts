import type { Placed } from "../document.ts";
import type { Html } from "./html.ts";

/** A page, and what the search finds in it. */
export interface Page {
  readonly path: string;
  readonly title: string;
  readonly description?: string;
  readonly content: Html;
  readonly operations?: readonly Placed[];
  /** Links to its parts, for the navigation. */
  readonly parts?: readonly Html[];
  readonly found: readonly Found[];
}

/** An operation and the path of its page. */
export type OnPage = readonly [operation: Placed, path: string];

/** An entry of the search, as `search.json` has it. `more` is found and not shown. */
export type Found = readonly [
  kind: "task" | "operation" | "schema" | "error" | "header" | "rule",
  title: string,
  detail: string,
  href: string,
  more?: string,
];
