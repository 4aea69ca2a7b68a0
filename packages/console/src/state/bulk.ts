import type { ItemSummary } from "@item-vault/client";
import { signal } from "@preact/signals";

/** An act on several Items that runs, or whose report is shown. */

/** Undoes what was done to one Item. Errors: as those of RunOne. */
export type UndoOne = () => Promise<void>;

/**
 * Does it to one Item. Out: how it is undone; undefined when it changed nothing. Errors: an ItemVaultError, a Problem, or the reason of the
 * aborted signal.
 */
export type RunOne = (item: ItemSummary, signal: AbortSignal) => Promise<UndoOne | undefined>;

export interface Act {
  /** What it is called while it runs. */
  readonly title: string;
  /** What was done, after the number of Items. */
  readonly done: string;
  readonly run: RunOne;
}

export interface Bulk {
  readonly act: Act;
  readonly items: readonly ItemSummary[];
}

/** One at a time. */
export const bulk = signal<Bulk | undefined>(undefined);
