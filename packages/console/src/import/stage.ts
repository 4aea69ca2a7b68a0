import type { ColumnChoice } from "@item-vault/transfer/formats/csv/header";
import type { Counts } from "@item-vault/transfer/write-items";
import type { Source, Unreadable } from "./engine.ts";

/** Where an import is. */

/** What is wrong with the file or with a request, in words. `format`: a format has to be chosen; `keepass`: see the command line. */
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
  /** Whether the user has stopped the import. */
  readonly stopped: boolean;
  /** How many Items were to be imported. */
  readonly all: number;
}

/** What the import would do: numbers of items. */
export interface Forecast {
  readonly created: number;
  /** Items whose import was interrupted. */
  readonly completed: number;
  readonly present: number;
  /** The titles of the Items that are there with other content. */
  readonly differing: readonly string[];
}
