import type { FileRecord } from "../model/file.ts";
import type { Item } from "../model/item.ts";
import { ok, type Result } from "../model/result.ts";
import type { Store } from "./database.ts";
import { openItem } from "./items.ts";
import type { Memory } from "./memory.ts";
import { openReplay, type Replay } from "./replays.ts";
import { type Done, readRows, type Rows, type Wanted } from "./rows.ts";
import { type OpenVault, openVault } from "./vaults.ts";

/** All that a group of writes to one vault needs to know. */
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

/**
 * Reads what is wanted, at one moment, in one D1 call; the memory learns it.
 * Errors: `unavailable`, and those of opening the vault.
 */
export async function readSnapshot(store: Store, memory: Memory, wanted: Wanted): Promise<Result<Snapshot>> {
  const rows = await readRows(store, wanted);
  if (!rows.ok) return rows;
  memory.learn(rows.value);
  return openRows(store, rows.value);
}

/**
 * The same without asking D1, as far as the memory goes: it may be out of date, and takes for granted that the tokens are
 * still in and that nothing of this was done before. Only a commit finds out, by its fence. Errors: those of opening the vault.
 */
export async function recallSnapshot(store: Store, memory: Memory, wanted: Wanted): Promise<Result<Snapshot> | undefined> {
  const rows = memory.recall(wanted);
  return rows && openRows(store, rows);
}

async function openRows(store: Store, rows: Rows): Promise<Result<Snapshot>> {
  const { vault, filesOf } = rows;
  const opened = vault && (await openVault(store, vault));
  if (opened && !opened.ok) return opened;
  const keys = opened?.value.keys;
  return ok({
    opened: opened?.value,
    existed: rows.existed,
    tokens: new Set(rows.tokens),
    // Rows of a vault that is gone are gone with it: without keys there is nothing to open.
    items: await openEach(
      keys ? rows.items : [],
      (row) => row.id,
      (row) => openItem(keys!, vault!.id, row, filesOf.get(row.id) ?? []),
    ),
    filesOf,
    done: new Map(rows.done.map((row) => [row.id, row])),
    replays: await openEach(
      keys ? rows.replays : [],
      (row) => row.key,
      (row) => openReplay(keys!, vault!.id, row),
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
