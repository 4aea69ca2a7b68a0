import { fail, ok, type Result } from "../model/result.ts";
import type { Keyring } from "./keyring.ts";
import { NOWHERE, open, seal } from "./seal.ts";

/**
 * Bookmarks of the database on their way to clients and back (contract 8.14): `<id of a root key>.<sealed text>`. A bookmark in plain text
 * could be invented, and would show how much all tokens write.
 */

const associatedData = (key: string) => ({ kind: "bookmark", vault: NOWHERE, record: NOWHERE, version: 0, key }) as const;

export const sealBookmark = async ({ active }: Keyring, bookmark: string): Promise<string> =>
  `${active.id}.${await seal(active.registry, associatedData(active.id), bookmark)}`;

/**
 * Opens a text that `sealBookmark` made. Out: the bookmark; `undefined` when its root key is not in the keyring. Errors: `invalid` for any
 * other text.
 */
export async function openBookmark({ keys }: Keyring, text: string): Promise<Result<string | undefined>> {
  const [, id, sealed] = /^([\w-]{1,32})\.([A-Za-z0-9+/=]{1,512})$/.exec(text) ?? [];
  if (id === undefined || sealed === undefined) return fail("invalid", FAULT);
  const root = keys.get(id);
  if (!root) return ok(undefined);
  const opened = await open(root.registry, associatedData(id), sealed);
  return opened.ok ? opened : fail("invalid", FAULT);
}

const FAULT = "Item-Vault-Bookmark: is not one that this service gave";
