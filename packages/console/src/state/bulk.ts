import type { ItemSummary } from "@item-vault/client";
import { signal } from "@preact/signals";

/** A running action on several Items, or its report. */

export type UndoOne = () => Promise<void>;

/** Runs the action on one Item. Returns its undo, or undefined if nothing changed. Throws an ItemVaultError or a Problem. */
export type RunOne = (item: ItemSummary, signal: AbortSignal) => Promise<UndoOne | undefined>;

export interface Act {
  readonly title: string;
  /** The past participle of the action, after the number of Items. */
  readonly done: string;
  readonly run: RunOne;
  /**
   * Saves a file of the Items that are done, and tells so. Returns the data that the file lacks, in words. Throws any error, or the reason
   * of the aborted signal.
   */
  readonly save?: (items: readonly ItemSummary[], signal: AbortSignal) => Promise<readonly string[]>;
}

export type Bulk = Readonly<{ act: Act; items: readonly ItemSummary[] }>;

/** One at a time. */
export const bulk = signal<Bulk | undefined>(undefined);

/** The question before an action on several Items. */
export type AskProps = Readonly<{ items: readonly ItemSummary[]; onBegin: (act: Act) => void; onClose: () => void }>;
