import type { FileRow } from "./files.ts";
import type { ItemRow } from "./items.ts";
import type { Rows, Wanted } from "./rows.ts";
import type { VaultRow } from "./vaults.ts";

/**
 * What a coordinator remembers of its vault: rows as it read or wrote them last, sealed as they lie in D1. A write that
 * finds all it needs here costs one D1 call. Another coordinator may have written since; then the fence of the commit
 * says so, and the rows are read. So the memory saves time, and decides nothing.
 */
export interface Memory {
  /** The rows that are wanted; nothing when one of them is not known. What is to be created is taken to be new. */
  recall(wanted: Wanted): Rows | undefined;
  /** Takes in what was read. */
  learn(rows: Pick<Rows, "vault" | "items" | "filesOf">): void;
  /** Takes in what a commit wrote; forgets all when the vault is gone, or when nobody knows. */
  advance(written: Written | undefined): void;
}

/** What a commit did to the rows of its vault. */
export interface Written {
  readonly vault: VaultRow;
  /** The Items as they lie there now; and those of them that are new, and so have no Files. */
  readonly items: readonly ItemRow[];
  readonly created: readonly string[];
  /** The Items that went, and those whose Files changed: these are read when they are wanted again. */
  readonly unknown: readonly string[];
}

/** What tells one state of a vault from another: see fence.ts. */
const FENCED = ["content_version", "attribute_version", "updated_at"] as const;

interface Known {
  readonly item: ItemRow;
  readonly files: readonly FileRow[];
}

/** In: how many characters of sealed text it holds at most, about. */
export function createMemory(limit: number): Memory {
  let vault: VaultRow | undefined;
  const items = new Map<string, Known>();
  let size = 0;

  function drop(id: string): void {
    const known = items.get(id);
    if (known) size -= sizeOf(known);
    items.delete(id);
  }

  function keep(known: Known): void {
    drop(known.item.id);
    items.set(known.item.id, known);
    size += sizeOf(known);
    // A Map keeps the order of insertion: those that were read or written longest ago go first.
    for (const id of items.keys()) {
      if (size <= limit) break;
      drop(id);
    }
  }

  function begin(row: VaultRow | undefined): void {
    if (!row || !vault || FENCED.some((column) => row[column] !== vault![column])) {
      items.clear();
      size = 0;
    }
    vault = row;
  }

  return {
    recall(wanted) {
      if (!vault) return undefined;
      const known: Known[] = [];
      for (const id of wanted.items) {
        const one = items.get(id);
        if (!one) return undefined;
        known.push(one);
      }
      return {
        vault,
        existed: true,
        tokens: wanted.tokens,
        items: known.map(({ item }) => item),
        filesOf: new Map(known.map(({ item, files }) => [item.id, files])),
        done: [],
        replays: [],
      };
    },

    learn(rows) {
      begin(rows.vault);
      if (!rows.vault) return;
      for (const item of rows.items) keep({ item, files: rows.filesOf.get(item.id) ?? [] });
    },

    advance(written) {
      if (!written) return begin(undefined);
      vault = written.vault;
      const created = new Set(written.created);
      for (const item of written.items) {
        // One that was let go meanwhile stays unknown: it may have Files.
        const files = created.has(item.id) ? [] : items.get(item.id)?.files;
        if (files) keep({ item, files });
      }
      for (const id of written.unknown) drop(id);
    },
  };
}

const sizeOf = ({ item, files }: Known): number =>
  item.overview.length + item.details.length + files.reduce((sum, { sealed }) => sum + sealed.length, 0);
