import { admitBytes } from "../../memory-budget.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Scope } from "../../model/permission.ts";
import { SAME_TITLE_ITEMS_MAX } from "../../model/reference.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { runningSum, textBytes } from "../tables/slices.ts";
import { TABLES } from "../tables/tables.ts";
import { loadForToken } from "../vaults/authorized.ts";
import { KEY_COLUMNS, type KeyRow, NAME_COLUMNS, type NameRow } from "../vaults/rows.ts";
import type { TokenIdentity } from "../vaults/token-check.ts";

/** The rows that references need, loaded in as few D1 calls as possible. Each call checks the token too. */

/** The reader. `vaults` has the ids of the vaults that the token can read. */
export interface Reader {
  readonly token: TokenIdentity;
  readonly vaults: readonly string[];
  readonly scope: Scope;
  /** Whole Items are read: their summaries too. */
  readonly whole?: true;
  readonly keysInUse?: KeysInUse | undefined;
}

/**
 * The keys of the vaults, as the first call found them. A vault may get a key before a further call, which another replica may
 * answer. A row under the new key then cannot be decrypted. The request then starts again.
 */
export interface KeysInUse {
  /** The column `keys`, by the ids of the vaults. */
  readonly lists: Map<string, string>;
  replaced: boolean;
}

/** An Item that is looked for: by its id, by the blind index of its folded title, or by both. */
export interface Wanted {
  readonly vault: string;
  readonly item: string | null;
  readonly folded: string | null;
}

/** A matching row. Its texts are absent if earlier texts already fill one call. */
export interface FoundRow {
  readonly vault_id: string;
  readonly id: string;
  readonly version: number;
  /** The blind index of its folded title. */
  readonly folded: string;
  readonly details: string | null;
  /** Only for a reader of whole Items. */
  readonly overview?: string | null;
}

export type ListedRow = KeyRow & NameRow;

/** Characters of sealed texts that one call loads. */
const CALL_CHARACTERS_MAX = 4 * 1024 * 1024;

/**
 * Items that one call loads. 100 references name fewer than `guessed`, except with many vaults. `wanted` has room for all Items
 * that 100 references can name. Each may name one Item by id and three by title. The Items of scopes are added.
 */
export const CALL_ITEMS_MAX = { guessed: 200, wanted: 4 * LIMITS.references + LIMITS.tokenItems };

/** Without the hint SQLite takes the primary key and reads every Item. */
const BY_FOLDED_TITLE = "items INDEXED BY items_by_folded_title";

/** The sealed texts of an Item that are loaded. */
type Texts = readonly ("details" | "overview")[];
const textsFor = ({ whole }: Reader): Texts => (whole ? ["details", "overview"] : ["details"]);

/** SQL: the texts, or NULL where a condition does not hold. */
const textsIf = (condition: string, texts: Texts): string =>
  texts.map((text) => `iif(${condition}, ${text}, NULL) AS ${text}`).join(", ");

const SQL = {
  vaults: `
    SELECT ${KEY_COLUMNS}, ${NAME_COLUMNS} FROM vaults WHERE id IN (SELECT value FROM json_each(?1))`,
  // The sizes are added up apart from the texts, which SQLite would copy.
  items: (texts: Texts) => `
    WITH wanted AS MATERIALIZED (
      SELECT value ->> 0 AS vault, value ->> 1 AS item, value ->> 2 AS folded FROM json_each(?1)),
    found AS MATERIALIZED (
      SELECT vault, item AS id FROM wanted WHERE item IS NOT NULL
      UNION ALL
      SELECT vault, ids.value FROM wanted CROSS JOIN json_each((
        SELECT json_group_array(id) FROM (
          SELECT id FROM ${BY_FOLDED_TITLE} WHERE vault_id = vault AND folded_index = folded LIMIT ${SAME_TITLE_ITEMS_MAX}))) AS ids
      WHERE folded IS NOT NULL
      LIMIT ?2),
    sized AS MATERIALIZED (
      SELECT vault_id, items.id, ${runningSum(textBytes(TABLES.items, texts))} AS total
      FROM found CROSS JOIN items ON vault_id = vault AND items.id = found.id)
    SELECT items.vault_id, items.id, version, folded_index AS folded,
      ${textsIf(`total <= ${CALL_CHARACTERS_MAX}`, texts)}, total
    FROM sized CROSS JOIN items ON items.vault_id = sized.vault_id AND items.id = sized.id`,
};

/** The columns of a row. The texts are included if they are so small that those of `CALL_ITEMS_MAX.guessed` rows fit into one call. */
const guessed = (texts: Texts): string => `
  items.vault_id, items.id, version, folded_index AS folded,
  ${textsIf(`${textBytes(TABLES.items, texts)} <= ${CALL_CHARACTERS_MAX / CALL_ITEMS_MAX.guessed}`, texts)}`;

/** A quarter of the time of `SQL.items`, which also loads large Items. The texts of the lists begin with the id of a vault. */
const guesses = (texts: Texts): string => `
  SELECT ${guessed(texts)} FROM json_each(?1) AS ids
  CROSS JOIN items ON items.vault_id = substr(ids.value, 1, 36) AND items.id = substr(ids.value, 37)
  UNION ALL
  SELECT ${guessed(texts)} FROM json_each(?2) AS titles
  CROSS JOIN ${BY_FOLDED_TITLE} ON items.vault_id = substr(titles.value, 1, 36) AND folded_index = substr(titles.value, 37)
  LIMIT ${CALL_ITEMS_MAX.guessed}`;

const KEYS = "SELECT id, keys FROM vaults WHERE id IN (SELECT value FROM json_each(?1))";

/** Makes a further call, which also checks that the vaults of the rows still have the request's keys. Fails as `loadForToken` does. */
export async function loadMore<Row>(
  store: Store,
  { token, keysInUse }: Reader,
  vaults: readonly string[],
  statement: D1PreparedStatement,
): Promise<Result<Row[]>> {
  const keys = store.db.prepare(KEYS).bind(JSON.stringify([...new Set(vaults)]));
  const read = await loadForToken<[Row, { id: string; keys: string }]>(store, token, statement, keys);
  if (!read.ok) return read;
  const [rows, found] = read.value;
  if (keysInUse && found.some(({ id, keys: list }) => keysInUse.lists.get(id) !== list)) keysInUse.replaced = true;
  return ok(rows);
}

const listOf = (wanted: readonly Wanted[]): string =>
  JSON.stringify(wanted.map(({ vault, item, folded }) => [vault, item, folded]));

/** Loads vaults of the token, and some Items, in one D1 call. Fails with `unauthorized` (revoked) or `unavailable`. */
export async function loadVaultsAndItems(
  store: Store,
  reader: Reader,
  vaults: readonly string[],
  wanted: readonly Wanted[],
): Promise<Result<[ListedRow[], FoundRow[]]>> {
  return loadForToken<[ListedRow, FoundRow]>(
    store,
    reader.token,
    store.db.prepare(SQL.vaults).bind(JSON.stringify(vaults)),
    store.db
      .prepare(guesses(textsFor(reader)))
      .bind(
        JSON.stringify(wanted.flatMap(({ vault, item }) => (item === null ? [] : [vault + item]))),
        JSON.stringify(wanted.flatMap(({ vault, folded }) => (folded === null ? [] : [vault + folded]))),
      ),
  );
}

/** Loads Items, in one D1 call, and counts all that are wanted as bytes in work. Fails with `unauthorized` (revoked), `unavailable`, `rate`. */
export async function loadWanted(store: Store, reader: Reader, wanted: readonly Wanted[]): Promise<Result<FoundRow[]>> {
  const vaults = wanted.map(({ vault }) => vault);
  const statement = store.db.prepare(SQL.items(textsFor(reader))).bind(listOf(wanted), CALL_ITEMS_MAX.wanted);
  const read = await loadMore<FoundRow & { readonly total: number }>(store, reader, vaults, statement);
  const admitted = read.ok ? admitBytes(store.share, Math.max(0, ...read.value.map(({ total }) => total))) : read;
  return admitted.ok ? read : admitted;
}
