import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { fold } from "../../model/fold.ts";
import { parseId } from "../../model/ids.ts";
import { namesNone, namesSeveral } from "../../model/reference.ts";
import { fail, ok, type Refusal, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { ListedRow } from "./rows.ts";
import { openKeys, openName } from "../vaults/rows.ts";

/** Finds the vault that a reference names (contract 16.4). No name is cached: the rows are loaded with each request. */

export interface ReferencedVault {
  readonly id: string;
  /** Its name, folded; `undefined` if it cannot be decrypted. */
  readonly name: string | undefined;
  readonly keys: VaultKeys;
}

/** The vaults that references may name, by their ids. */
export type ReferencedVaults = ReadonlyMap<string, Result<ReferencedVault>>;

/** Decrypts vaults. A damaged vault refuses only the references that may name it. */
export async function openVaults(store: Store, rows: readonly ListedRow[]): Promise<ReferencedVaults> {
  return new Map(
    await Promise.all(
      rows.map(async (row): Promise<[string, Result<ReferencedVault>]> => {
        const { id } = row;
        const keys = await openKeys(store, row);
        if (!keys.ok) return [id, keys];
        const name = await openName(keys.value, row);
        return [id, ok({ id, name: name.ok ? fold(name.value) : undefined, keys: keys.value })];
      }),
    ),
  );
}

/**
 * Returns the vault with this id or name. `vaults` has only the token's readable vaults, so any other vault is refused like a
 * missing one. Fails with `reference_not_found` or `ambiguous`, and as decrypting a vault does.
 */
export function findVault(vaults: ReferencedVaults, part: string): Result<ReferencedVault> {
  const byId = vaults.get(parseId(part) ?? "");
  if (byId) return byId;
  const folded = fold(part);
  const named = [...vaults.values()].filter((vault) => vault.ok && vault.value.name === folded);
  if (named.length > 1) return namesSeveral("vaults");
  if (named[0]) return named[0];
  // It may be a vault whose name is unknown.
  const broken = [...vaults.values()].find((vault): vault is Refusal => !vault.ok);
  const hasUnknown = [...vaults.values()].some((vault) => vault.ok && vault.value.name === undefined);
  return broken ?? (hasUnknown ? fail("integrity") : namesNone("vault that the token reads"));
}
