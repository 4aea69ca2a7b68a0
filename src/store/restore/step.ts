import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Manifest } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Position } from "../../model/restore.ts";
import type { VaultRow } from "../vaults/rows.ts";
import type { VaultState } from "./mark.ts";

/** The phases of a restore are functions from a step to its result (vault.ts). */

/** The environment of one phase. */
export interface Step {
  readonly manifest: Manifest;
  readonly sha256: string;
  readonly position: Position;
  readonly compared: VaultState | undefined;
  /** The row of the vault in the backup, and its keys; absent in the registry. */
  readonly row: VaultRow | undefined;
  readonly keys: VaultKeys | undefined;
}

/** The result of a phase. */
export interface Stepped {
  readonly position: Position;
  /** The rows and contents that cannot be decrypted. */
  readonly findings?: readonly Finding[] | undefined;
}
