import type { PartRef } from "../../model/backup.ts";
import type { Result } from "../../model/result.ts";
import type { BackupStore } from "./ports.ts";
import type { Slice } from "./read-rows.ts";
import type { Moment, VaultBackup } from "./vault-state.ts";
import type { Writing } from "./write.ts";

/** What the stages of the backup of a vault work with. */
export interface BackupContext {
  readonly store: BackupStore;
  /** Whether the step should end: the stage keeps its state, and the next step goes on. */
  readonly isSpent: () => boolean;
  /** Asks the coordinator of a vault to let some time pass between its commits, for a while. A lost call costs nothing. */
  readonly spaceCommits: (vault: string) => Promise<void>;
  /** The parts of the backup before, by their hashes; empty for a full one. */
  readonly previous: ReadonlyMap<string, PartRef>;
}

/** What a stage gives: the next state; `deleted` when the vault does not exist any more. */
export type Next = Result<VaultBackup | "deleted">;

/** In: the slice, or the moment of the backup, whose keys open the rows. */
export const writingOf = (
  { store, previous }: BackupContext,
  { vault, number }: VaultBackup,
  { deployment, row }: Slice | Moment,
): Writing => ({ store, vault, deployment, row, number, previous });
