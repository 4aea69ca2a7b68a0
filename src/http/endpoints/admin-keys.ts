import { parseId } from "../../model/ids.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { loadNeededKeys } from "../../store/backup/needed-keys.ts";
import { isRemovable, type KnownKey, loadKnownKeys } from "../../store/keys/key-states.ts";
import { FIRST_SLICE, isRewrappedTable, type RewrapCursor, rewrapSlice } from "../../store/rotation/rewrap.ts";
import type { Call, ParseCall, Reply } from "../route.ts";
import { backupsOf } from "../../store/buckets/r2.ts";

/** /v1/admin/keys: the root keys, without key material, and their rotation (contract 20). */

export async function listKeys({ c, store }: Call): Promise<Result<Reply>> {
  const keys = await loadKnownKeys(store);
  if (!keys.ok) return keys;
  const needed = await loadNeededKeys(backupsOf(c.env), store.keyring);
  if (!needed.ok) return needed;
  return ok({ response: c.json(keys.value.map((key) => presentKey(key, needed.value.has(key.id)))) });
}

/** In: whether the newest backup needs the key. */
const presentKey = (key: KnownKey, backup: boolean): object => ({ ...key, backup, removable: isRemovable(key, backup) });

/** A cursor is the name of a table and an id: `vaults:<uuid>`. */
const formatCursor = ({ table, after }: RewrapCursor): string => `${table}:${after}`;

function parseCursor(text: string): RewrapCursor | undefined {
  const [table = "", id = ""] = text.split(":", 2);
  const after = id === "" ? "" : parseId(id);
  return after !== undefined && isRewrappedTable(table) ? { table, after } : undefined;
}

export const rewrapKeys = {
  parse({ query: { rest } }: ParseCall): Result<RewrapCursor> {
    const cursor = rest.get("cursor");
    const from = cursor === null ? FIRST_SLICE : parseCursor(cursor);
    return from ? ok(from) : invalid("cursor: is not one that this service gave");
  },
  async handle({ c, store }: Call, from: RewrapCursor): Promise<Result<Reply>> {
    const slice = await rewrapSlice(store, from);
    if (!slice.ok) return slice;
    const { next, ...done } = slice.value;
    return ok({ response: c.json({ ...done, cursor: next && formatCursor(next) }) });
  },
};
