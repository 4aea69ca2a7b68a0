import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { openKeys, type VaultRow } from "../vaults/rows.ts";
import type { VerifyPorts } from "./stage.ts";

export type ListsOf<Rows extends unknown[]> = { readonly [K in keyof Rows]: readonly Rows[K][] };

/** The row of a vault with other rows of it, read at one moment. */
export interface VaultMoment<Rows extends unknown[]> {
  readonly row: VaultRow;
  readonly keys: VaultKeys;
  readonly rows: ListsOf<Rows>;
}

/**
 * Loads rows of a vault with its keys, in one D1 call. Out: `undefined` when the vault was deleted or its keys do not open, because then
 * no row can be checked. Keys that do not open are a finding of the stage `vault`. Errors: `unavailable`.
 */
export async function loadMoment<Rows extends unknown[]>(
  { store }: Pick<VerifyPorts, "store">,
  vault: string,
  ...statements: { [K in keyof Rows]: D1PreparedStatement }
): Promise<Result<VaultMoment<Rows> | undefined>> {
  const vaultRow = store.db.prepare("SELECT * FROM vaults WHERE id = ?1").bind(vault);
  const read = await runBatch<[VaultRow, ...Rows]>(store.db, vaultRow, ...statements);
  if (!read.ok) return read;
  const [[row], ...rows] = read.value;
  const keys = row && (await openKeys(store, row));
  return ok(row && keys?.ok ? { row, keys: keys.value, rows } : undefined);
}
