import type { Presented, Schemas } from "../../api/answer.ts";
import { ok } from "../../model/result.ts";
import { loadNeededKeys } from "../../store/backup/registry.ts";
import { backupsOf } from "../../store/buckets/r2.ts";
import { isRemovable, type KnownKey, loadKnownKeys } from "../../store/keys/key-states.ts";
import type { Call, ReplyTo } from "../route.ts";

/** /v1/admin/keys: the root keys, without key material (contract 20.2). */

export async function listKeys({ c, store }: Call): ReplyTo<"listKeys"> {
  const keys = await loadKnownKeys(store);
  if (!keys.ok) return keys;
  const needed = await loadNeededKeys(backupsOf(c.env), store.keyring);
  if (!needed.ok) return needed;
  return ok({ json: keys.value.map((key) => presentKey(key, needed.value.has(key.id))) });
}

/** Presents a key. `backup` is true if the newest backup needs the key. */
const presentKey = (key: KnownKey, backup: boolean): Presented<Schemas.RootKey> => ({
  ...key,
  backup,
  removable: isRemovable(key, backup),
});
