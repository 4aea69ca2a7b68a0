import type { File } from "../../../src/model/file.ts";
import { entityTag, type Item } from "../../../src/model/item.ts";
import { ok, type Result } from "../../../src/model/result.ts";
import { NOTHING_STORED, type StoredItem } from "../../../src/model/stored.ts";
import { DEFAULT_QUOTA, type Vault } from "../../../src/model/vault.ts";
import type { Commit } from "../../../src/store/commit/commit.ts";
import type { IdempotencyRecord } from "../../../src/store/commit/idempotency.ts";
import type { AppliedOperation } from "../../../src/store/commit/rows.ts";
import { type Snapshot, versionKey } from "../../../src/store/commit/snapshot.ts";
import type { OpenVault } from "../../../src/store/vaults/rows.ts";
import type { Retention } from "../../../src/vault/working.ts";

/**
 * A model of what survives a crash: D1 with its fence (store/commit/fence.ts), R2, and the pending records in the
 * coordinator's own storage. It holds one vault with one Item.
 */

export const VAULT = "00000000-0000-4000-8000-000000000001";
export const ITEM = "00000000-0000-4000-8000-000000000002";
export const ACTOR = "00000000-0000-4000-8000-000000000003";
export const TOKEN_HASH = "the hash of the token";

/** The nonce of an Item's version; `draw` 0 is that of the first version. Each attempt to write a version draws another one. */
export const nonceOf = (draw: number): string => drawnBytes(8, draw).toHex();
const drawnBytes = (size: number, draw: number) => new Uint8Array(size).fill(draw);

/** The entity tags that a version may get in a run. */
export const tagsOf = (version: number): string[] =>
  Array.from({ length: 256 }, (_, draw) => entityTag({ version, nonce: nonceOf(draw) }));

/** The File that the Item has at the start. */
export const FILE: File = { id: "file", name: "", size: 1, generation: "first" };

/** An Item keeps no earlier version, and a deletion destroys it at once. */
export const NOTHING_KEPT: Retention = { versionsKept: 0, deletedRetention: 0 };

const storedFirst: StoredItem = {
  ...NOTHING_STORED,
  current: { version: 1, bytes: 100 },
  files: [{ id: FILE.id, generation: FILE.generation, size: 1, since: 0, bytes: 100 }],
};

/** Parts of the fence and of the snapshot that a test removes. */
export interface Broken {
  readonly fence?: boolean;
  /** The snapshot does not show the operations that took effect. */
  readonly log?: boolean;
  /** The fence does not check the operations that took effect. */
  readonly before?: boolean;
}

export type ModelStore = ReturnType<typeof createStore>;

/** In: what the vault keeps. With earlier versions, the Item has two at the start, and the first one is kept. */
export function createStore(broken: Broken = {}, retention: Retention = NOTHING_KEPT) {
  const times = { createdAt: 0, updatedAt: 0 };
  const counts = { items: 1, created: 1, deleted: 0, restored: 0, destroyed: 0, files: 1, fileBytes: 1 };
  const own = { sealedBytes: 0, quota: DEFAULT_QUOTA, dataKeyId: VAULT, keyNumber: 1, earlierKeys: 0 };
  const versions = { attributeVersion: 1, contentVersion: 1 };
  let vault: Vault = { id: VAULT, name: "", description: "", ...versions, ...counts, ...own, ...times };
  const content = { title: "", category: "LOGIN", urls: [], favorite: false, sections: [], fields: [] } as const;
  const first: Item = {
    id: ITEM,
    vault: VAULT,
    version: 1,
    nonce: nonceOf(0),
    tags: ["first"],
    lastEditedBy: ACTOR,
    ...content,
    files: [FILE],
    ...times,
  };
  const keeps = retention.versionsKept > 0;
  const second = { ...first, version: 2, nonce: nonceOf(1), tags: ["second"] };
  const storedSecond = { ...storedFirst, current: { version: 2, bytes: 100 }, versions: [{ version: 1, bytes: 100 }] };
  const items = new Map<string, Result<Item>>([[ITEM, ok(keeps ? second : first)]]);
  const stored = new Map<string, StoredItem>([[ITEM, keeps ? storedSecond : storedFirst]]);
  const kept = new Map<string, Result<Item>>(keeps ? [[versionKey(ITEM, 1), ok(first)]] : []);
  const records = new Map<string, Result<IdempotencyRecord>>();
  const applied = new Map<string, AppliedOperation>();
  let draws = keeps ? 1 : 0;
  return {
    retention,
    /** Stands for random bytes: other ones with each call. */
    random: (size: number): Uint8Array => drawnBytes(size, ++draws),
    /** The generations of the contents in R2. */
    contents: new Set([FILE.generation]),
    /** The generations that the coordinators have recorded as pending: for an upload, or because a commit releases them. */
    pending: new Map<string, "upload" | "released">(),
    /** The Files of the Item, as D1 has them. */
    files: (): readonly File[] => {
      const item = items.get(ITEM);
      return item?.ok ? item.value.files : [];
    },
    read: (): Snapshot => ({
      opened: { vault } as OpenVault,
      everExisted: true,
      tokens: new Map([[ACTOR, TOKEN_HASH]]),
      filesOfBroken: new Map(),
      items: new Map(items),
      versions: new Map(kept),
      stored: new Map(stored),
      applied: new Map(broken.log ? [] : applied),
      records: new Map(records),
    }),
    /** Writes a commit behind the fence. In: a number that no other attempt has. */
    write(commit: Commit, attempt: number): "committed" | "stale" {
      if (!broken.fence && commit.before!.vault.contentVersion !== vault.contentVersion) return "stale";
      const repeated = commit.activities.some(({ id }) => applied.has(id)) || commit.records.some(({ key }) => records.has(key));
      if (!broken.before && repeated) return "stale";
      vault = commit.after!;
      for (const { id, after, made, stored: rows } of commit.items) {
        for (const version of [unwrapped(items.get(id)), ...made])
          if (version) kept.set(versionKey(id, version.version), ok(version));
        for (const key of kept.keys()) {
          if (!rows.after?.versions.some(({ version }) => key === versionKey(id, version))) kept.delete(key);
        }
        if (after) items.set(id, ok(after));
        else items.delete(id);
        if (rows.after) stored.set(id, rows.after);
        else stored.delete(id);
      }
      for (const { id, action, item, version } of commit.activities) {
        applied.set(id, { id, action, item, version, sealed: sealedEntry(id, attempt) });
      }
      for (const record of commit.records) records.set(record.key, ok(record));
      return "committed";
    },
  };
}

const unwrapped = (item: Result<Item> | undefined): Item | undefined => (item?.ok ? item.value : undefined);

/** Stands for the sealed text of an operation's log entry in one attempt. */
export const sealedEntry = (id: string, attempt: number): string => `${id}, attempt ${attempt}`;
