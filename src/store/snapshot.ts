import type { Action } from "../model/activity.ts";
import type { FileRecord } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import { ok, type Result } from "../model/result.ts";
import { call, type Store } from "./database.ts";
import { FILE_COLUMNS, type FileRow } from "./files.ts";
import { type ItemRow, openItem } from "./items.ts";
import { oldestReplay, openReplay, type Replay, type ReplayRow } from "./replays.ts";
import { type OpenVault, openVault, type VaultRow } from "./vaults.ts";

/** All that a group of writes to one vault needs to know, brought by one D1 call. */
export interface Snapshot {
  /** Absent when there is no such vault. */
  readonly opened: OpenVault | undefined;
  /** Whether there ever was: the log of a deleted vault keeps its deletion. */
  readonly existed: boolean;
  /** The tokens that are still in. */
  readonly tokens: ReadonlySet<string>;
  /** A record that does not open spoils only the operations on it. */
  readonly items: ReadonlyMap<string, Result<Item>>;
  /** The rows of Files, by the ids of their Items. */
  readonly filesOf: ReadonlyMap<string, readonly FileRecord[]>;
  /** The operations that took effect already, by their ids. */
  readonly done: ReadonlyMap<string, Done>;
  /** Those of the last day. */
  readonly replays: ReadonlyMap<string, Result<Replay>>;
}

/** What the activity log says of an operation. */
export interface Done {
  readonly action: Action;
  readonly item: string | null;
  readonly version: number | null;
}

export interface Wanted {
  readonly vault: string;
  readonly tokens: readonly string[];
  readonly items: readonly string[];
  readonly operations: readonly string[];
  /** The keys of replays. */
  readonly replays: readonly string[];
}

const SQL = {
  // One row, whatever exists: the vault's columns are NULL when it does not.
  vault: `
    SELECT EXISTS (SELECT 1 FROM activity WHERE vault_id = ?1) AS existed, vaults.*
    FROM (SELECT 1) LEFT JOIN vaults ON vaults.id = ?1`,
  tokens: "SELECT id FROM tokens WHERE id IN (SELECT value FROM json_each(?1))",
  items: "SELECT id, version, overview, details FROM items WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
  files: `SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id IN (SELECT value FROM json_each(?2)) ORDER BY id`,
  done: "SELECT id, action, item_id AS item, version FROM activity WHERE vault_id = ?1 AND id IN (SELECT value FROM json_each(?2))",
  replays: "SELECT key, id, sealed FROM replays WHERE vault_id = ?1 AND key IN (SELECT value FROM json_each(?2)) AND id >= ?3",
};

/** Reads what is wanted, at one moment. Errors: `unavailable`, and those of opening the vault. */
export async function readSnapshot(store: Store, wanted: Wanted): Promise<Result<Snapshot>> {
  const { db } = store;
  const inVault = (sql: string, ids: readonly string[]) => db.prepare(sql).bind(wanted.vault, JSON.stringify(ids));
  const read = await call<
    [Partial<VaultRow> & { existed: number }, { id: string }, ItemRow, FileRow, Done & { id: string }, ReplayRow]
  >(
    db,
    db.prepare(SQL.vault).bind(wanted.vault),
    db.prepare(SQL.tokens).bind(JSON.stringify(wanted.tokens)),
    inVault(SQL.items, wanted.items),
    inVault(SQL.files, wanted.items),
    inVault(SQL.done, wanted.operations),
    db.prepare(SQL.replays).bind(wanted.vault, JSON.stringify(wanted.replays), oldestReplay(store.now)),
  );
  if (!read.ok) return read;
  const [vaults, tokens, items, files, done, replays] = read.value;
  const [vault] = vaults;
  const opened = vault?.id ? await openVault(store, vault as VaultRow) : undefined;
  if (opened && !opened.ok) return opened;
  const keys = opened?.value.keys;
  const filesOf = Map.groupBy(files, (row) => row.item_id);
  return ok({
    opened: opened?.value,
    existed: vault?.existed === 1,
    tokens: new Set(tokens.map((row) => row.id)),
    // Rows of a vault that is gone are gone with it: without keys there is nothing to open.
    items: await openEach(
      keys ? items : [],
      (row) => row.id,
      (row) => openItem(keys!, wanted.vault, row, filesOf.get(row.id) ?? []),
    ),
    filesOf,
    done: new Map(done.map((row) => [row.id, row])),
    replays: await openEach(
      keys ? replays : [],
      (row) => row.key,
      (row) => openReplay(keys!, wanted.vault, row),
    ),
  });
}

async function openEach<Row, V>(
  rows: readonly Row[],
  name: (row: Row) => string,
  open: (row: Row) => Promise<V>,
): Promise<Map<string, V>> {
  return new Map(await Promise.all(rows.map(async (row) => [name(row), await open(row)] as const)));
}
