import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { resealText } from "../../crypto/vault-texts.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { filePlace } from "../items/files.ts";
import type { FileChange, ReturnedTexts } from "./file-rows.ts";

/**
 * The rows of Files that a restored version brings back, while the rows of the vault are sealed again. `files` is passed before
 * `file_versions` (reseal-tables.ts), so a text that SQL copied back would stay under the previous key. One D1 call more, and only
 * then. The fence of the commit refuses it when a row has changed since. A row that the same group has ended is not found here:
 * its text came from `files` in the same batch, and goes back as it is.
 */

const SQL = `
  SELECT f.item_id, f.id, f.until, f.sealed FROM json_each(?2) AS list
  CROSS JOIN file_versions AS f ON f.vault_id = ?1 AND f.item_id = list.value ->> 0 AND f.id = list.value ->> 1
    AND f.until = list.value ->> 2`;

interface Row {
  readonly item_id: string;
  readonly id: string;
  readonly until: number;
  readonly sealed: string;
}

/** Out: the texts under the current key. Errors: `unavailable`. */
export async function resealReturned(
  db: D1Database,
  vault: string,
  keys: VaultKeys | undefined,
  changes: readonly FileChange[],
): Promise<Result<ReturnedTexts>> {
  const rows = changes.flatMap((change) =>
    change.kind === "return" ? change.rows.map(([id, until]) => [change.item, id, until] as const) : [],
  );
  const texts = new Map<string, Record<string, string>>();
  if (!keys?.previous || rows.length === 0) return ok(texts);
  const read = await runBatch<[Row]>(db, db.prepare(SQL).bind(vault, JSON.stringify(rows)));
  if (!read.ok) return read;
  for (const row of read.value[0]) {
    const text = await resealText(keys, filePlace(vault, row.id), row.sealed, false);
    const ofItem = texts.get(row.item_id) ?? {};
    texts.set(row.item_id, { ...ofItem, ...(text.ok ? { [`${row.id} ${row.until}`]: text.value } : {}) });
  }
  return ok(texts);
}
