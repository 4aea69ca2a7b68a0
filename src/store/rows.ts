import type { Action } from "../model/activity.ts";
import { ok, type Result } from "../model/result.ts";
import { call, type Store } from "./database.ts";
import { FILE_COLUMNS, type FileRow } from "./files.ts";
import type { ItemRow } from "./items.ts";
import { oldestReplay, type ReplayRow } from "./replays.ts";
import type { VaultRow } from "./vaults.ts";

/** What a group of writes to one vault asks of D1, and the sealed rows that come back. */

export interface Wanted {
  readonly vault: string;
  readonly tokens: readonly string[];
  /** The Items that are there, if they are, and those that are to be created. */
  readonly items: readonly string[];
  readonly created: readonly string[];
  readonly operations: readonly string[];
  /** The keys of replays. */
  readonly replays: readonly string[];
}

export interface Rows {
  /** Absent when there is no such vault. */
  readonly vault: VaultRow | undefined;
  /** Whether there ever was: the log of a deleted vault keeps its deletion. */
  readonly existed: boolean;
  /** The tokens that are still in. */
  readonly tokens: readonly string[];
  readonly items: readonly ItemRow[];
  /** By the ids of their Items. */
  readonly filesOf: ReadonlyMap<string, readonly FileRow[]>;
  /** The operations that took effect already. */
  readonly done: readonly Done[];
  /** Those of the last day. */
  readonly replays: readonly ReplayRow[];
}

/** What the activity log says of an operation. */
export interface Done {
  readonly id: string;
  readonly action: Action;
  readonly item: string | null;
  readonly version: number | null;
  /** Sealed anew in each attempt: tells which of them it was that took effect. */
  readonly sealed: string;
}

const SQL = {
  // One row, whatever exists: the vault's columns are NULL when it does not.
  vault: `
    SELECT EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1) AS existed, vaults.*
    FROM (SELECT 1) LEFT JOIN vaults ON vaults.id = ?1`,
  tokens: "SELECT id FROM tokens WHERE id IN (SELECT value FROM json_each(?1))",
  items: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
  files: `SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2)) ORDER BY id`,
  done: `
    SELECT id, action, item_id AS item, version, sealed FROM activity
    WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))`,
  replays: "SELECT key, id, sealed FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?2)) AND id >= ?3",
};

type VaultColumns = Partial<Omit<VaultRow, "id">> & { id: string | null; existed: number };

/** Reads what is wanted, at one moment, in one D1 call. Errors: `unavailable`. */
export async function readRows({ db, now }: Store, wanted: Wanted): Promise<Result<Rows>> {
  const inVault = (sql: string, ids: readonly string[]) => db.prepare(sql).bind(wanted.vault, JSON.stringify(ids));
  const ids = [...wanted.items, ...wanted.created];
  const read = await call<[VaultColumns, { id: string }, ItemRow, FileRow, Done, ReplayRow]>(
    db,
    db.prepare(SQL.vault).bind(wanted.vault),
    db.prepare(SQL.tokens).bind(JSON.stringify(wanted.tokens)),
    inVault(SQL.items, ids),
    inVault(SQL.files, ids),
    inVault(SQL.done, wanted.operations),
    db.prepare(SQL.replays).bind(wanted.vault, JSON.stringify(wanted.replays), oldestReplay(now)),
  );
  if (!read.ok) return read;
  const [[found], tokens, items, files, done, replays] = read.value;
  const { existed, ...vault } = found!;
  return ok({
    vault: vault.id === null ? undefined : (vault as VaultRow),
    existed: existed === 1,
    tokens: tokens.map(({ id }) => id),
    items,
    filesOf: Map.groupBy(files, (row) => row.item_id),
    done,
    replays,
  });
}
