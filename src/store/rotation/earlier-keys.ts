import { formatKeyList, parseKeyList } from "../../crypto/key-list.ts";
import { HEADER_LENGTH, headerOf } from "../../crypto/seal.ts";
import { must } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { columnsOfKind, TABLES_OF_VAULT } from "../tables/tables.ts";
import type { KeyRow } from "../vaults/rows.ts";

/** The vaults of one run, drawn at random. The removal of a key reads every row of its vault. */
const VAULTS_MAX = 50;

/**
 * SQL: true if a sealed text of the vault has another header than those of its other keys. It is then sealed under the key, or in a form of a
 * later release, which may need the key too. Blanks separate the headers of the other keys, so `instr` finds none across two.
 */
const IS_NEEDED = TABLES_OF_VAULT.flatMap((table) =>
  columnsOfKind(table, "sealed").map(
    (column) =>
      `EXISTS (SELECT 1 FROM ${table.name} WHERE vault_id = vaults.id AND instr(earlier.value ->> 'others', substr(${column}, 1, ${HEADER_LENGTH})) = 0)`,
  ),
).join("\n    OR ");

const SQL = {
  several: `SELECT id, keys FROM vaults WHERE instr(keys, char(10)) > 0 ORDER BY random() LIMIT ${VAULTS_MAX}`,
  remove: `
  UPDATE vaults SET keys = replace(keys, earlier.value ->> 'line', '') FROM json_each(?1) AS earlier
  WHERE vaults.id = earlier.value ->> 'vault' AND instr(keys, earlier.value ->> 'line') > 0 AND NOT (
    ${IS_NEEDED})`,
};

/**
 * Removes earlier data keys from the lists of vaults, at most one from each vault, if every text of the vault is under another key. Every write
 * compares the newest key, so nothing is sealed under an earlier one. A text that a write copies is in a row before. Such a key is therefore
 * never needed again. A damaged header keeps the keys of its vault, unless the text ends before it. Makes two D1 calls. Throws if D1 fails.
 */
export async function removeEarlierKeys(db: D1Database): Promise<void> {
  const [rows] = must("read the keys of vaults", await runBatch<[Pick<KeyRow, "id" | "keys">]>(db, db.prepare(SQL.several)));
  const earlier = rows.flatMap(({ id, keys }) => {
    const list = parseKeyList(keys);
    return list.slice(1).map((key) => ({
      vault: id,
      line: `\n${formatKeyList([key])}`,
      others: list
        .filter((other) => other !== key)
        .map(({ number }) => headerOf(number))
        .join(" "),
    }));
  });
  if (earlier.length > 0) must("remove earlier keys", await runBatch(db, db.prepare(SQL.remove).bind(JSON.stringify(earlier))));
}
