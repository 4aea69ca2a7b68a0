import { rewrapVaultKeys } from "../../crypto/vault-keys.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import type { Rewrapped } from "./rewrapped.ts";
import { refuseMissingKey } from "../keys/root-keys.ts";
import { type KeyRow, wrappedKeys } from "../vaults/rows.ts";

/** The rows of vaults, for rewrap.ts. */

/** All texts that are wrapped. A row is written only while each of them is the one that was read. */
const TEXTS = ["data_key", "index_key", "previous_data_key", "previous_index_key"] as const;

export const REWRAPPED_VAULTS: Rewrapped = {
  table: "vaults",
  rows: 100,
  columns: `data_key_id, previous_data_key_id, ${TEXTS.join(", ")}`,
  update: `
    UPDATE vaults SET root_key_id = ?2, ${TEXTS.map((name) => `${name} = new.value ->> 'new_${name}'`).join(", ")}
    FROM json_each(?1) AS new
    WHERE vaults.id = new.value ->> 'id' AND vaults.root_key_id = new.value ->> 'root_key_id'
      ${TEXTS.map((name) => `AND vaults.${name} IS new.value ->> '${name}'`).join(" ")}
    RETURNING id`,
  rewrap,
};

async function rewrap(store: Store, row: KeyRow): Promise<Result<object>> {
  const { keys, active } = store.keyring;
  const root = keys.get(row.root_key_id);
  if (!root) return refuseMissingKey(store, row.root_key_id);
  const wrapped = wrappedKeys(row);
  const current = await rewrapVaultKeys(root, active, row.id, wrapped);
  if (!current.ok) return current;
  // A vault whose rows are being sealed under new keys has both pairs, wrapped under the same root key.
  const previous = wrapped.previous ? await rewrapVaultKeys(root, active, row.id, wrapped.previous) : ok(undefined);
  if (!previous.ok) return previous;
  return ok({
    ...row,
    new_data_key: current.value.dataKey,
    new_index_key: current.value.indexKey,
    new_previous_data_key: previous.value?.dataKey,
    new_previous_index_key: previous.value?.indexKey,
  });
}
