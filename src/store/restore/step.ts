import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Manifest } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Position } from "../../model/restore.ts";
import type { VaultRow } from "../vaults/rows.ts";
import type { VaultState } from "./mark.ts";

/** The phases of a restore are functions from a step to what it has reached (vault.ts). */

/** What one phase works with. */
export interface Step {
  readonly manifest: Manifest;
  readonly sha256: string;
  readonly position: Position;
  readonly compared: VaultState | undefined;
  /** The row of the vault in the backup, and its keys; absent in the registry. */
  readonly row: VaultRow | undefined;
  readonly keys: VaultKeys | undefined;
}

/** What a phase has reached. */
export interface Stepped {
  readonly position: Position;
  /** The rows and contents that do not open. */
  readonly findings?: readonly Finding[] | undefined;
}
