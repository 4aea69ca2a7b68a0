import type { FileRow } from "../items/files.ts";
import type { ItemRow } from "../items/items.ts";
import type { VaultRow } from "../vaults/rows.ts";
import { type KeptRows, NOTHING_KEPT, type RowRequest, type Rows } from "./rows.ts";

/**
 * The cache of a coordinator: sealed rows of its vault, as last read or written. A write whose rows are all cached costs one D1 call. The
 * cache has no authority. If another coordinator has written since, the fence of the commit refuses the batch, and the rows are read
 * (docs/design/writes.md).
 */
export interface RowCache {
  /**
   * The requested rows; `undefined` when one of them is not cached, as texts of earlier versions never are. An Item that is to be created
   * is assumed to be new.
   */
  get(request: RowRequest): Rows | undefined;
  /** Adds rows that were read. */
  put(rows: Pick<Rows, "vault" | "items" | "filesOf" | "kept">): void;
  /** Applies the rows written by a commit. `undefined` empties the cache: the vault was deleted, or the outcome is unknown. */
  update(written: WrittenRows | undefined): void;
}

/** The changes of a commit to the rows of its vault. */
export interface WrittenRows {
  readonly vault: VaultRow;
  /** The Items after the commit. */
  readonly items: readonly ItemRow[];
  /** The kept versions and Files of Items, by their ids. */
  readonly kept: ReadonlyMap<string, KeptRows>;
  /** The ids of the new Items, which have no Files. */
  readonly created: readonly string[];
  /** The ids of deleted Items, and of Items whose Files or only earlier versions changed. The next write reads them. */
  readonly unknown: readonly string[];
}

/** The columns that identify a state of a vault (fence.ts), and the keys that decrypt its rows. */
const FENCED = ["content_version", "attribute_version", "updated_at", "keys"] as const;

interface Entry {
  readonly item: ItemRow;
  readonly files: readonly FileRow[];
  readonly kept: KeptRows;
}

/** Creates a cache. `limit` is the approximate maximum of characters of sealed text. */
export function createRowCache(limit: number): RowCache {
  let vault: VaultRow | undefined;
  const items = new Map<string, Entry>();
  let size = 0;

  function remove(id: string): void {
    const entry = items.get(id);
    if (entry) size -= sizeOf(entry);
    items.delete(id);
  }

  function insert(entry: Entry): void {
    remove(entry.item.id);
    items.set(entry.item.id, entry);
    size += sizeOf(entry);
    // A Map keeps the order of insertion: the least recently read or written entries come first.
    for (const id of items.keys()) {
      if (size <= limit) break;
      remove(id);
    }
  }

  function replaceVault(row: VaultRow | undefined): void {
    if (!row || !vault || FENCED.some((column) => row[column] !== vault![column])) {
      items.clear();
      size = 0;
    }
    vault = row;
  }

  return {
    get(request) {
      if (!vault || request.texts.length > 0) return undefined;
      const entries = request.items.flatMap((id) => items.get(id) ?? []);
      if (entries.length < request.items.length) return undefined;
      return rowsOf(vault, entries, request.tokens);
    },

    put(rows) {
      replaceVault(rows.vault);
      if (!rows.vault) return;
      for (const item of rows.items) {
        insert({ item, files: rows.filesOf.get(item.id) ?? [], kept: rows.kept.get(item.id) ?? NOTHING_KEPT });
      }
    },

    update(written) {
      if (!written) return replaceVault(undefined);
      vault = written.vault;
      const created = new Set(written.created);
      for (const item of written.items) {
        // An Item that was evicted is not added again, because it may have Files.
        const files = created.has(item.id) ? [] : items.get(item.id)?.files;
        if (files) insert({ item, files, kept: written.kept.get(item.id) ?? NOTHING_KEPT });
      }
      for (const id of written.unknown) remove(id);
    },
  };
}

/** Returns the rows of a request if all of them are cached. An Item to be created is assumed to be new. */
const rowsOf = (vault: VaultRow, entries: readonly Entry[], tokens: RowRequest["tokens"]): Rows => ({
  vault,
  everExisted: true,
  tokens,
  items: entries.map(({ item }) => item),
  filesOf: new Map(entries.map(({ item, files }) => [item.id, files])),
  kept: new Map(entries.map(({ item, kept }) => [item.id, kept])),
  deleted: new Map(),
  texts: [],
  applied: [],
  records: [],
});

/** The approximate characters of the row of an ended File. */
const ENDED_FILE_CHARACTERS = 100;

const sizeOf = ({ item, files, kept }: Entry): number =>
  item.overview.length +
  item.details.length +
  files.reduce((sum, { sealed }) => sum + sealed.length, 0) +
  kept.ended.length * ENDED_FILE_CHARACTERS;
