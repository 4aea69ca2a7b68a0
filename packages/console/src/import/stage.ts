import type { ColumnChoice } from "@item-vault/transfer/formats/csv/header";
import type { Counts } from "@item-vault/transfer/write-items";
import type { Source, Unreadable } from "./engine.ts";

/** The stage of an import. */

/** A fault of the file or a request, in words. `format`: a format has to be chosen. `keepass`: see the command line. */
export interface Problem {
  readonly text: string;
  readonly kind: Unreadable | "fault";
}

export type Stage =
  | { readonly name: "choose"; readonly problem?: Problem }
  | { readonly name: "reading" }
  | { readonly name: "password"; readonly problem?: Problem | undefined }
  | { readonly name: "columns"; readonly columns: readonly ColumnChoice[]; readonly problem?: Problem }
  | { readonly name: "review"; readonly source: Source }
  | { readonly name: "writing"; readonly all: number }
  | { readonly name: "finished"; readonly result: Result };

export interface Result extends Counts {
  /** True if the user has stopped the import. */
  readonly stopped: boolean;
  /** Number of Items to import. */
  readonly all: number;
}

/** The forecast of an import: numbers of Items. */
export interface Forecast {
  readonly created: number;
  /** Items whose import was interrupted. */
  readonly completed: number;
  readonly present: number;
  /** The titles of the Items that are there with other content. */
  readonly differing: readonly string[];
}
