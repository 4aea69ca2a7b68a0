import { type Part, REGISTRY } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { checkNumbers, checkPart } from "../checks/parts.ts";
import { findingOf } from "../checks/fault.ts";
import { checkVaultRow } from "../checks/vaults.ts";
import type { Store } from "../d1/database.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import type { BackupStore } from "./ports.ts";
import type { Slice } from "./read-rows.ts";

/** The rows that do not open when a backup reads them. The backup has them as they are, and its manifest names them. */

const unreadable = (faults: Awaited<ReturnType<typeof checkPart>>["faults"]): Finding[] =>
  faults.filter(({ kind }) => kind === "row_unreadable").map((one) => findingOf(one));

/** The broken rows of a slice of a vault. In: the row of the vault that was read with it; the number of the backup. */
export async function findBroken(store: BackupStore, row: Slice["row"], number: number, part: Part): Promise<Finding[]> {
  const vault = row as unknown as VaultRow;
  const keys = await openKeys(store, vault);
  // Without its keys no row of the vault opens: one finding stands for all (`findBrokenVault`).
  if (!keys.ok) return [];
  return unreadable((await checkPart({ store, vault: vault.id, keys: keys.value }, number, part)).faults);
}

/** What is wrong with the row of a vault. */
export async function findBrokenVault(store: Pick<BackupStore, keyof Store>, row: Slice["row"]): Promise<Finding[]> {
  const faults = await checkVaultRow(store, row as unknown as VaultRow, []);
  const wrong = checkNumbers(String(row["id"]), "vaults", row);
  // A row with an impossible number does not open for that reason: one finding says which number it is.
  const others = wrong.length > 0 ? faults.filter(({ kind }) => kind !== "row_unreadable") : faults;
  return [...others, ...wrong].map((one) => findingOf(one));
}

/** The broken rows of a slice of the registry. */
export const findBrokenInRegistry = async (store: BackupStore, number: number, part: Part): Promise<Finding[]> =>
  unreadable((await checkPart({ store, vault: REGISTRY, keys: undefined }, number, part)).faults);
