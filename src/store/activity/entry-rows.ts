import { dayKey, type Keyring, type RootKey } from "../../crypto/keyring.ts";
import { type KeyedAssociatedData, open, seal } from "../../crypto/seal.ts";
import { type Activity, type ListedActivity, type Origin, UNKNOWN_ORIGIN } from "../../model/activity.ts";
import { isId, timeOf } from "../../model/ids.ts";
import { isVersion } from "../../model/item.ts";
import { WITHOUT_TOKEN } from "../../model/operation.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { isTime } from "../../model/time.ts";
import type { Store } from "../d1/database.ts";
import { TABLES } from "../tables/tables.ts";

/**
 * The rows of the activity log. A commit inserts the entries of its writes (commit/fence.ts), a flush the entries of the admin's other
 * actions (flush.ts). Reads, denials and sign-ins are in segments (segments.ts). The origin of a request, and the ids of several Items, are
 * sealed under a key derived from the root key, because they are shown after the vault's deletion.
 */

/** A row before its insertion: plain data, with users' texts sealed. */
export interface ActivityRow extends Omit<Activity, "origin" | "items" | "reason"> {
  readonly root_key_id: string;
  readonly sealed: string;
}

/** Makes the row of a request. */
export async function sealActivity(
  { keyring }: Pick<Store, "keyring">,
  { origin, items, reason, ...activity }: Activity,
): Promise<ActivityRow> {
  const root = keyring.active;
  const { key, associatedData } = await keyOf(root, activity);
  return {
    ...activity,
    root_key_id: root.id,
    sealed: await seal(key, associatedData, JSON.stringify({ ...origin, items, reason })),
  };
}

/** Decrypts a row. If its root key is missing, the origin and the ids of several Items are unknown. Fails with `integrity`. */
export async function openActivity(
  { keys }: Keyring,
  { root_key_id, sealed, ...activity }: ActivityRow,
): Promise<Result<Activity>> {
  if (!isEntry(activity)) return fail("integrity");
  const root = keys.get(root_key_id);
  if (!root) return ok({ ...activity, origin: UNKNOWN_ORIGIN });
  const { key, associatedData } = await keyOf(root, activity);
  const text = await open(key, associatedData, sealed);
  if (!text.ok) return text;
  const { items, reason, ...origin } = JSON.parse(text.value) as Origin & Pick<Activity, "items" | "reason">;
  return ok({ ...activity, items, reason, origin });
}

/** Decrypts a row for a list, as `openActivity` does. An entry that cannot be decrypted is returned as broken. */
export async function listActivity(keyring: Keyring, row: ActivityRow): Promise<ListedActivity> {
  const opened = await openActivity(keyring, row);
  return opened.ok ? opened.value : { id: row.id, log: row.log, broken: "integrity" };
}

/** Returns true if the plaintext columns are valid for an entry. They are not sealed, so the values of another entry pass. */
export function isEntry({ id, log, actor, item, version, at, ...words }: Omit<Activity, "origin" | "items">): boolean {
  const hasIds = isId(id) && isId(log) && (WITHOUT_TOKEN.has(actor) || isId(actor)) && (item === null || isId(item));
  return hasWords(words) && hasIds && (version === null || isVersion(version)) && (at == null || isTime(at));
}

const hasWords = (entry: Pick<Activity, "action" | "result" | "resource" | "event">): boolean =>
  Object.entries<readonly string[]>(TABLES.activity.words).every(([column, words]) => {
    const word = entry[column as keyof typeof entry];
    return word == null ? TABLES.activity.columns[column as keyof typeof entry].endsWith("?") : words.includes(word);
  });

/** Returns the key of an entry, which is the key of its day, and its associated data. */
async function keyOf(
  root: RootKey,
  { log, id }: Pick<Activity, "log" | "id">,
): Promise<{ key: CryptoKey; associatedData: KeyedAssociatedData }> {
  return {
    key: await dayKey(root, timeOf(id)),
    associatedData: { kind: "activity", vault: log, record: id, version: 0, key: root.id },
  };
}

/** The attributes of `ActivityRow` that have another name than their column. */
const ATTRIBUTES: Readonly<Record<string, string>> = { vault_id: "log", item_id: "item" };

const COLUMNS = Object.keys(TABLES.activity.columns).map((column) => ({ column, attribute: ATTRIBUTES[column] ?? column }));

const listOf = (write: (column: string, attribute: string) => string, columns = COLUMNS): string =>
  columns.map(({ column, attribute }) => write(column, attribute)).join(", ");

/** SQL: lists of the columns of `activity`, in the order of the catalogue of tables. */
export const ACTIVITY = {
  columns: listOf((column) => column),
  /** The expressions that read all but the log, which is the first column, from a JSON object called `value`. */
  values: listOf((_, attribute) => `value ->> '${attribute}'`, COLUMNS.slice(1)),
  attributes: listOf((_, attribute) => attribute),
  /** The columns, named by their attributes. */
  selected: listOf((column, attribute) => `${column} AS ${attribute}`),
  /** A JSON object of the attributes. */
  object: `json_object(${listOf((column, attribute) => `'${attribute}', ${column}`)})`,
};

/** SQL: true for the row of a write. */
export const IS_WRITE = "action <> 'READ' AND result = 'SUCCESS'";

const IS_DELETION = "action = 'DELETE' AND item_id IS NULL AND result = 'SUCCESS'";

/** SQL: true if a row may leave the log. The deletion of a vault is kept, so that its id is never issued again. */
export const LEAVES = `NOT (${IS_DELETION})`;

/** Returns SQL that is true if the log has the deletion of a vault. `vault` is the expression of its id. */
export const hasDeletion = (vault: string): string =>
  `EXISTS (SELECT 1 FROM activity WHERE vault_id = ${vault} AND ${IS_DELETION})`;
