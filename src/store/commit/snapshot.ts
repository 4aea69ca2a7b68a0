import type { FilesOfItem, Item } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { isInVersion, type StoredItem } from "../../model/stored.ts";
import type { Store } from "../d1/database.ts";
import { type FileRow, openFiles, withoutKeys } from "../items/files.ts";
import { type ItemRow, openItem } from "../items/items.ts";
import { checkRootKeys } from "../keys/root-keys.ts";
import { type BrokenVault, brokenVault, type OpenVault, openForWrite } from "../vaults/rows.ts";
import type { RowCache } from "./cache.ts";
import { type IdempotencyRecord, openRecord } from "./idempotency.ts";
import {
  type KeptTexts,
  NOTHING_KEPT,
  type VersionRef,
  type AppliedOperation,
  loadRows,
  type RowRequest,
  type Rows,
  type TokenHashes,
} from "./rows.ts";

/** The decrypted state of a vault that a group of writes needs. */
export interface Snapshot {
  /** Absent if the vault does not exist or is broken. */
  readonly opened: OpenVault | undefined;
  /** A vault that cannot be decrypted. It can be deleted; every other operation gets the refusal. */
  readonly broken?: BrokenVault | undefined;
  /** True if the vault exists or existed: the log keeps the deletion of a vault. */
  readonly everExisted: boolean;
  /** The tokens that are not revoked, with the hashes in their rows. */
  readonly tokens: TokenHashes;
  /** A row that is lost or cannot be decrypted fails only the operations on it. */
  readonly items: ReadonlyMap<string, Result<Item>>;
  /** The Files of each Item whose row is broken or lost. */
  readonly filesOfBroken: ReadonlyMap<string, FilesOfItem>;
  /** The earlier versions whose texts were requested, by `versionKey`. */
  readonly versions: ReadonlyMap<string, Result<Item>>;
  /** The rows in D1 of each Item that has any, including deleted and broken Items. */
  readonly stored: ReadonlyMap<string, StoredItem>;
  /** The operations of the group that took effect already, by their ids. */
  readonly applied: ReadonlyMap<string, AppliedOperation>;
  /** The idempotency records of the last day, by their keys. */
  readonly records: ReadonlyMap<string, Result<IdempotencyRecord>>;
}

export const versionKey = (item: string, version: number): string => `${item}/${version}`;

/**
 * Loads a snapshot at one moment, in one D1 call, and puts its rows into the cache. A second call is made if an operation of the group has
 * already taken effect and its answer needs other rows. These are the rows of an Item that was not requested, because each POST has a new
 * Item id. Or they are the texts of the version that it wrote, which is no longer current. Fails with `unavailable`, and with `misconfigured`
 * if the root keys do not belong to the database.
 */
export async function loadSnapshot(store: Store, cache: RowCache, request: RowRequest): Promise<Result<Snapshot>> {
  const rows = await loadRows(store, request);
  if (!rows.ok) return rows;
  cache.put(rows.value);
  const snapshot = await openRows(store, rows.value);
  if (!snapshot.ok) return snapshot;
  const missing = writtenVersions(snapshot.value).filter(isUnknown(request, snapshot.value));
  if (missing.length === 0) return snapshot;
  const items = [...new Set([...request.items, ...missing.map(([id]) => id)])];
  return loadSnapshot(store, cache, { ...request, items, texts: [...request.texts, ...missing] });
}

/** Returns the versions that earlier operations of the group have written and that their answers need. */
function writtenVersions({ records, applied }: Snapshot): VersionRef[] {
  const effects = [...records.values()].flatMap((record) => (record.ok && record.value.effect) || []);
  return [...effects, ...applied.values()].flatMap(({ item, version }) => (item === null ? [] : [[item, version ?? 0] as const]));
}

/**
 * Returns true if the rows of the Item, or a required earlier version, are not loaded. A broken vault has no keys, so no texts of versions
 * are needed.
 */
const isUnknown =
  ({ items, created }: RowRequest, { opened, stored, versions }: Snapshot) =>
  ([item, version]: VersionRef): boolean => {
    if (!items.includes(item) && !created.includes(item)) return true;
    const isKept = stored.get(item)?.versions.some((row) => row.version === version);
    return opened !== undefined && isKept === true && !versions.has(versionKey(item, version!));
  };

/**
 * Returns a snapshot from the cache, without a D1 call. Returns undefined if the cache lacks a row, or has the row of a broken File, which
 * may have been repaired in D1. The snapshot may be stale. It assumes that no token was revoked and that no operation of the group took
 * effect before. The fence of the commit checks these assumptions.
 */
export async function cachedSnapshot(store: Store, cache: RowCache, request: RowRequest): Promise<Result<Snapshot> | undefined> {
  const rows = cache.get(request);
  const snapshot = rows && (await openRows(store, rows));
  const isBroken = snapshot?.ok && [...snapshot.value.items.values()].some((item) => item.ok && item.value.brokenFiles);
  return isBroken ? undefined : snapshot;
}

async function openRows(store: Store, rows: Rows): Promise<Result<Snapshot>> {
  const { vault, filesOf } = rows;
  const opened = vault && (await openForWrite(store, vault));
  const broken = vault && opened && !opened.ok ? brokenVault(vault, opened) : undefined;
  // With wrong root keys every vault fails to decrypt. None of them is broken, and none must be deleted as such.
  const checked = broken ? await checkRootKeys(store.db, store.keyring) : ok(undefined);
  if (!checked.ok) return checked;
  const keys = opened?.ok ? opened.value.keys : undefined;
  const items = await openEach<ItemRow, Result<Item>>(
    // A missing or broken vault row gives no keys. Without a vault row, the other rows are being deleted.
    keys ? rows.items : [],
    (row) => row.id,
    (row) => openItem(keys!, vault!.id, row, filesOf.get(row.id) ?? []),
  );
  const stored = storedItems(rows);
  if (keys) for (const [id, { current, deleted }] of stored) if (!current && !deleted) items.set(id, fail("integrity")); // its row is lost
  const closed = [...items].flatMap(([id, item]) => (item.ok ? [] : [id]));
  return ok({
    opened: opened?.ok ? opened.value : undefined,
    broken,
    everExisted: rows.everExisted,
    tokens: rows.tokens,
    items,
    filesOfBroken: await openEach(
      closed,
      (id) => id,
      async (id) => withoutKeys(await openFiles(keys!, vault!.id, filesOf.get(id) ?? [])),
    ),
    versions: await openEach(
      keys ? rows.texts : [],
      ({ row }) => versionKey(row.id, row.version),
      ({ row, ended }) => openItem(keys!, vault!.id, row, fileRowsOfVersion(row, ended, filesOf)),
    ),
    stored,
    applied: new Map(rows.applied.map((row) => [row.id, row])),
    records: await openEach(
      keys ? rows.records : [],
      (row) => row.key,
      (row) => openRecord(keys!, vault!.id, row),
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

/** The part of a snapshot that needs no decryption. */

/** Returns the rows in D1 of each Item that has any, by Item id. A deletion of an existing Item is a damaged row, and is ignored. */
function storedItems({ items, filesOf, kept, deleted }: Rows): Map<string, StoredItem> {
  const current = new Map(
    items.map(({ id, version, overview, details }) => [id, { version, bytes: overview.length + details.length }]),
  );
  const ids = new Set([...current.keys(), ...filesOf.keys(), ...kept.keys(), ...deleted.keys()]);
  return new Map(
    [...ids].map((id) => {
      const files = (filesOf.get(id) ?? []).map(({ id: file, generation, size, since, sealed }) => {
        return { id: file, generation, size, since, bytes: sealed.length };
      });
      const deletion = current.has(id) ? undefined : deleted.get(id);
      return [id, { current: current.get(id), ...(kept.get(id) ?? NOTHING_KEPT), files, deleted: deletion }];
    }),
  );
}

/** Returns the rows of the Files of an earlier version, by their ids. */
const fileRowsOfVersion = ({ id, version }: KeptTexts["row"], ended: readonly FileRow[], filesOf: Rows["filesOf"]): FileRow[] => {
  const lasting = (filesOf.get(id) ?? []).filter((row) => isInVersion(row, version));
  return [...lasting, ...ended].toSorted((a, b) => (a.id < b.id ? -1 : 1));
};
