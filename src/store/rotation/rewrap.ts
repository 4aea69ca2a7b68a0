import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { REWRAPPED_ENDED_TOKENS, REWRAPPED_TOKENS } from "./rewrap-tokens.ts";
import { REWRAPPED_VAULTS } from "./rewrap-vaults.ts";
import type { Rewrapped } from "./rewrapped.ts";
import { proofStatement } from "../keys/root-keys.ts";

/**
 * Wraps the keys of vaults again, and seals the rows of tokens again, under the active root key, in slices (contract 20.3).
 *
 * No coordinator takes part. Of the row of a vault, a commit writes neither `root_key_id` nor the wrapped keys
 * (commit/vault-changes.ts), and no fence compares the wrapped texts; a slice writes nothing else. So neither can undo the other. The only
 * commit that writes them gives the vault new keys (decision 0032): it writes all of them under one root key, so that they open whatever a
 * slice has written before. Each row is written by compare and swap: only while its root key and its wrapped or sealed texts are still
 * those that were read. A row that was deleted, or given other keys meanwhile, stays as it is. A new row is under the active key already.
 *
 * A coordinator may have the row with the old wrapped keys in its cache. They still unwrap to the same keys, and the next commit does
 * not write them. When the old root key is gone, the cached row does not open, and the commit loop reads the row (vault/group.ts).
 *
 * A slice that is cut off anywhere has rewrapped each row or left it, and the next call goes on.
 */

const TABLES: readonly Rewrapped[] = [REWRAPPED_VAULTS, REWRAPPED_TOKENS, REWRAPPED_ENDED_TOKENS];

/** Where a slice begins: after this row of this table. */
export interface RewrapCursor {
  readonly table: Rewrapped["table"];
  /** The empty text comes before all ids. */
  readonly after: string;
}

export const FIRST_SLICE: RewrapCursor = { table: "vaults", after: "" };

/** Whether a text is the name of a table that is rewrapped. */
export const isRewrappedTable = (text: string): text is Rewrapped["table"] => TABLES.some(({ table }) => table === text);

/** What a slice has done. */
export interface RewrapSlice {
  /** Rows that it wrote. */
  readonly rewrapped: number;
  /** Rows that do not open, and so stay as they are: their root key is missing, or they are damaged. */
  readonly failed: number;
  /** How many rows other keys than the active one still hold, in all. */
  readonly left: number;
  /** Where the next slice begins; absent at the end. Rows that appeared behind it meanwhile are in `left`. */
  readonly next: RewrapCursor | undefined;
}

const LEFT = "SELECT coalesce(sum(vaults + tokens + ended_tokens), 0) AS rows FROM root_key_uses WHERE id <> ?1";

/** One slice: the rest of a table if it is small, and then of the next ones. At most 7 D1 calls. Errors: `unavailable`, `database_full`. */
export async function rewrapSlice(store: Store, from: RewrapCursor): Promise<Result<RewrapSlice>> {
  let [rewrapped, failed] = [0, 0];
  let next: RewrapCursor | undefined = from;
  while (next) {
    const table = TABLES.findIndex(({ table: name }) => name === next!.table);
    const done = await rewrapRows(store, TABLES[table]!, next.after);
    if (!done.ok) return done;
    const { last } = done.value;
    rewrapped += done.value.rewrapped;
    failed += done.value.failed;
    const following = TABLES[table + 1];
    next = last === undefined ? following && { table: following.table, after: "" } : { table: next.table, after: last };
    if (last !== undefined) break;
  }
  const left = await runBatch<[{ rows: number }]>(store.db, store.db.prepare(LEFT).bind(store.keyring.active.id));
  return left.ok ? ok({ rewrapped, failed, left: left.value[0][0]!.rows, next }) : left;
}

interface DoneRows {
  readonly rewrapped: number;
  readonly failed: number;
  /** The id of the last row; absent when there are no further ones. */
  readonly last: string | undefined;
}

/** Without a row under another key, the condition on the counts saves the scan of the table. */
const selectRows = ({ table, columns }: Rewrapped): string => `
  SELECT id, root_key_id, ${columns} FROM ${table}
  WHERE id > ?1 AND root_key_id <> ?2 AND EXISTS (SELECT 1 FROM root_key_uses WHERE id <> ?2 AND ${table} > 0)
  ORDER BY id LIMIT ?3`;

async function rewrapRows(store: Store, table: Rewrapped, after: string): Promise<Result<DoneRows>> {
  const { db, keyring } = store;
  const { active } = keyring;
  const read = await runBatch<[{ id: string }]>(db, db.prepare(selectRows(table)).bind(after, active.id, table.rows));
  if (!read.ok) return read;
  const [rows] = read.value;
  const values: object[] = [];
  for (const row of rows) {
    const value = await table.rewrap(store, row as never);
    if (value.ok) values.push(value.value);
  }
  const last = rows.length === table.rows ? rows.at(-1)!.id : undefined;
  const failed = rows.length - values.length;
  if (values.length === 0) return ok({ rewrapped: 0, failed, last });
  const update = db.prepare(table.update).bind(JSON.stringify(values), active.id);
  const written = await runBatch<[never, { id: string }]>(db, await proofStatement(db, active), update);
  return written.ok ? ok({ rewrapped: written.value[1].length, failed, last }) : written;
}
