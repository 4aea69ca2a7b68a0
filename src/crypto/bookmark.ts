import { fail, ok, type Result } from "../model/result.ts";
import { dayOf } from "../model/time.ts";
import { dayKey, type Keyring } from "./keyring.ts";
import { NOWHERE, open, seal } from "./seal.ts";

/**
 * Bookmarks of the database, as clients get and send them (contract 8.14): `<id of a root key>.<day>.<sealed text>`. A bookmark in plain
 * text could be invented, and would show how much all tokens write.
 */

const associatedData = (key: string) => ({ kind: "bookmark", vault: NOWHERE, record: NOWHERE, version: 0, key }) as const;

/** Seals a bookmark under the active root key's key for the day of `now`, in Unix milliseconds. */
export const sealBookmark = async ({ active }: Keyring, bookmark: string, now: number): Promise<string> =>
  `${active.id}.${dayOf(now)}.${await seal(await dayKey(active, now), associatedData(active.id), bookmark)}`;

/**
 * Decrypts a text made by `sealBookmark`. Returns undefined if its root key is not in the keyring. Fails with `bookmark` for any other text.
 */
export async function openBookmark({ keys }: Keyring, text: string): Promise<Result<string | undefined>> {
  const [, id, day, sealed] = /^([\w-]{1,32})\.(\d{4}-\d\d-\d\d)\.([A-Za-z0-9+/=]{1,512})$/.exec(text) ?? [];
  const time = Date.parse(day ?? "");
  if (id === undefined || sealed === undefined || Number.isNaN(time)) return fail("bookmark");
  const root = keys.get(id);
  if (!root) return ok(undefined);
  const opened = await open(await dayKey(root, time), associatedData(id), sealed);
  return opened.ok ? opened : fail("bookmark");
}
