import type { RowCache } from "../../../src/store/commit/cache.ts";
import type { KeptRows } from "../../../src/store/commit/rows.ts";
import type { NearRead, Served } from "../../../src/store/d1/near-reads.ts";
import type { FileRow } from "../../../src/store/items/files.ts";
import type { ItemRow } from "../../../src/store/items/items.ts";
import type { createQueue } from "../../../src/vault/queue.ts";
import * as rewrites from "../../support/rewrites.ts";

/** Bugs that a test plants, by changing what is passed between the parts that ship. */
export interface Plant {
  /** Changes the SQL of each statement. */
  readonly rewrite: (sql: string) => string;
  /** Changes the cache of each coordinator. */
  readonly cache: (cache: RowCache) => RowCache;
  /** Changes the queue of each coordinator. */
  readonly queue: (create: typeof createQueue) => typeof createQueue;
  /** Changes how an isolate hands entries of the log to the queue. */
  readonly handOver: (send: Env["ACTIVITY"]["send"]) => Env["ACTIVITY"]["send"];
  /** Changes the bucket of backups. */
  readonly backups: (bucket: R2Bucket) => R2Bucket;
  /** Whether a session of a replica claims to have its bookmark without waiting for it. */
  readonly ignoresBookmarks?: boolean;
  /** Whether replicas carry out a statement; absent: all. */
  readonly isReplicated?: (sql: string) => boolean;
  /** Changes the time at which an isolate looks at the states that it knows; absent: it is the time. In: its database. */
  readonly lookAt?: (db: D1Database, now: number) => number;
  /** Changes what a near read tells about a call; absent: nothing. */
  readonly served?: (served: Served, read: NearRead) => Served;
  /** The seed with which the search for the bug begins: one that has found it. Absent: 1. */
  readonly seed?: number;
  /** The requests of a run; absent: few, with which hardly anything is written while a backup reads. */
  readonly size?: number;
}

export const NO_PLANT: Plant = {
  rewrite: (sql) => sql,
  cache: (cache) => cache,
  queue: (create) => create,
  handOver: (send) => send,
  backups: (bucket) => bucket,
};

/** The cache keeps the rows of Items when another coordinator has changed the vault. */
function cacheThatKeepsItems(cache: RowCache): RowCache {
  const items = new Map<string, ItemRow>();
  const filesOf = new Map<string, readonly FileRow[]>();
  const keptOf = new Map<string, KeptRows>();
  return {
    get(request) {
      const rows = cache.get({ ...request, items: [] });
      const kept = request.items.flatMap((id) => items.get(id) ?? []);
      return rows && kept.length === request.items.length ? { ...rows, items: kept, filesOf, kept: keptOf } : cache.get(request);
    },
    put(rows) {
      for (const row of rows.items) if (!items.has(row.id)) items.set(row.id, row);
      for (const [id, files] of rows.filesOf) filesOf.set(id, files);
      for (const [id, versions] of rows.kept) keptOf.set(id, versions);
      cache.put(rows);
    },
    update(written) {
      for (const row of written?.items ?? []) items.set(row.id, row);
      for (const [id, versions] of written?.kept ?? []) keptOf.set(id, versions);
      for (const id of written?.unknown ?? []) items.delete(id);
      cache.update(written);
    },
  };
}

/** The queue carries out two groups at a time. */
const twoGroups: Plant["queue"] = (create) => (options) => {
  const queues = [create(options), create(options)];
  let arrived = 0;
  return { submit: (operation) => queues[arrived++ % 2]!.submit(operation) };
};

/** The queue carries out a group in the reverse order. */
const reversedGroups: Plant["queue"] = (create) => (options) =>
  create({ ...options, commit: async (group) => (await options.commit(group.toReversed())).toReversed() });

/** Nothing is handed to the queue. */
const nothingHandedOver: Plant["handOver"] = () => async () => ({ metadata: { metrics: NO_BACKLOG } });
const NO_BACKLOG = { backlogCount: 0, backlogBytes: 0 };

/** A part of a vault is deleted when its manifest has been written. */
const partDeleted: Plant["backups"] = (bucket) => {
  const put = async (key: string, content: string, options?: R2PutOptions) => {
    const stored = await bucket.put(key, content, options);
    const { objects } = await bucket.list({ prefix: `${key.slice(0, key.lastIndexOf("/"))}/parts/`, limit: 1 });
    if (key.endsWith(".manifest")) await bucket.delete(objects.map((object) => object.key));
    return stored;
  };
  return Object.assign({ ...bucket }, { put });
};

/** Each bug changes one mechanism that docs/consistency.md or the contract of the log names. */
export const PLANTS: Readonly<Record<string, Plant>> = {
  "fence: its condition on the versions always holds": { ...NO_PLANT, rewrite: rewrites.withoutFence },
  "cache: Items stay in it when the vault has changed": { ...NO_PLANT, cache: cacheThatKeepsItems, seed: 5 },
  "idempotency: no statement finds a record": { ...NO_PLANT, rewrite: rewrites.withoutRecords },
  "idempotency: the log refuses no operation that took effect": { ...NO_PLANT, rewrite: rewrites.withoutLog, seed: 4 },
  "versions: the one before a write is not kept": { ...NO_PLANT, rewrite: rewrites.withoutKeeping },
  "versions: none is trimmed or destroyed": { ...NO_PLANT, rewrite: rewrites.withoutTrim },
  "versions: those of a destroyed Item stay": { ...NO_PLANT, rewrite: rewrites.withoutDestruction, seed: 6 },
  "versions: a File belongs to one too many": { ...NO_PLANT, rewrite: rewrites.withLateEnds, seed: 6 },
  "ids: the fence does not look for those that clients have chosen": {
    ...NO_PLANT,
    rewrite: rewrites.withoutChosenIds,
    seed: 12,
  },
  "deleted Items: a restored one stays among them": { ...NO_PLANT, rewrite: rewrites.withoutReturn },
  "events: a write has the number of the one before it": { ...NO_PLANT, rewrite: rewrites.withEarlyNumbers },
  "events: the creations are left out": { ...NO_PLANT, rewrite: rewrites.withoutFirstEvents },
  "keys: an earlier one goes although texts are under it": { ...NO_PLANT, rewrite: rewrites.withEarlyRemoval },
  "log: a flush that D1 has not taken is not handed to the queue": { ...NO_PLANT, handOver: nothingHandedOver, seed: 10 },
  "jobs: a rewrap leaves tokens under another root key": { ...NO_PLANT, rewrite: rewrites.withoutReturnOfTokens, seed: 4 },
  "jobs: none excludes another one": { ...NO_PLANT, rewrite: rewrites.withoutHolders, seed: 2 },
  "backups: what has changed meanwhile is not read again": { ...NO_PLANT, rewrite: rewrites.withoutChanges, seed: 11, size: 700 },
  "backups: a part goes when the manifest is written": { ...NO_PLANT, backups: partDeleted },
  "restores: versions of Items are not written": { ...NO_PLANT, rewrite: rewrites.withoutRestoredVersions },
  "restores: the log has no entry of one": { ...NO_PLANT, rewrite: rewrites.withoutRestoredEntry },
  "tokens: those below a revoked one stay": { ...NO_PLANT, rewrite: rewrites.withoutDescendants },
  "order: two groups at a time": { ...NO_PLANT, queue: twoGroups, seed: 2 },
  "order: groups in the reverse order": { ...NO_PLANT, queue: reversedGroups },
};

/** The bug that the modules of this process have, for the parts that the coordinators make themselves. */
export const planted: { plant: Plant } = { plant: NO_PLANT };
