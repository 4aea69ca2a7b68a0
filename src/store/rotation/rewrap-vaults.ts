import { rewrapVaultKeys } from "../../crypto/vault-keys.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { Rewrapped } from "./rewrapped.ts";
import { refuseMissingKey } from "../keys/root-keys.ts";
import type { KeyRow } from "../vaults/rows.ts";

/** The rows of vaults, for rewrap.ts. A row is written only while its list of keys is the one that was read. */

export const REWRAPPED_VAULTS: Rewrapped = {
  table: "vaults",
  rows: 100,
  columns: "keys",
  update: `
    UPDATE vaults SET root_key_id = ?2, keys = new.value ->> 'new_keys'
    FROM json_each(?1) AS new
    WHERE vaults.id = new.value ->> 'id' AND vaults.root_key_id = new.value ->> 'root_key_id'
      AND vaults.keys = new.value ->> 'keys'
    RETURNING id`,
  rewrap,
};

async function rewrap(store: Store, row: KeyRow): Promise<Result<object>> {
  const { keys, active } = store.keyring;
  const root = keys.get(row.root_key_id);
  if (!root) return refuseMissingKey(store, row.root_key_id);
  const list = await rewrapVaultKeys(root, active, row.id, row.keys);
  return list.ok ? ok({ ...row, new_keys: list.value }) : list;
}
