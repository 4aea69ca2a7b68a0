import type { Cell, Manifest, PartRef } from "../../model/backup.ts";
import type { Cursor } from "../../model/cursor.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { tryBucket } from "../buckets/calls.ts";
import { type BackupStore, listFolder, loadManifest, lostParts } from "./load.ts";
import type { OpenManifest } from "./manifest.ts";
import { backupContent } from "./object-keys.ts";
import { presentPart } from "./part.ts";
import { readVault, type Slice } from "./read-rows.ts";
import type { Writing } from "./write.ts";

/** The backup of a vault between two steps: its beginning, its state, and what its stages share. */

/** The state: plain data, which the job keeps as JSON. */
export interface VaultBackup {
  readonly vault: string;
  /** True if every part is written and every content looked up. Otherwise the previous backup's are shared. */
  readonly full: boolean;
  readonly number: number;
  /**
   * `items`: reads all Items. `changes`: reads the changes of writes since then. `merge`: puts that into the parts. `log`: reads the log.
   * `contents`: copies contents. `end`: checks that everything is there, and writes the manifest.
   */
  readonly stage: "items" | "changes" | "merge" | "log" | "contents" | "end";
  /** Number of restarts of the backup. */
  readonly restarts: number;
  /** The Item, or the entry of the log, up to which everything was read. */
  readonly after: string;
  /** The write after which changes are read in this pass, and the write at which the pass began; absent before its first slice. */
  readonly since: Cursor;
  readonly until?: Cursor | undefined;
  /** The parts of Items, then the parts of the log and the vault. */
  readonly parts: readonly PartRef[];
  /** For each pass of changes that has read any, its parts: units of `SOURCES.changes`, which the backup does not name. */
  readonly changes: readonly (readonly PartRef[])[];
  /** The number of passes of changes that have begun. */
  readonly passes: number;
  /** The moment of the backup, when it is known. */
  readonly moment?: Moment | undefined;
  /** In the stages `merge` and `contents`: the number of parts that are done. */
  readonly done: number;
  /**
   * In the stage `contents`: the number of done contents of the next part, the number that was looked up, and the contents that FILES
   * lacked.
   */
  readonly content: number;
  readonly copied: number;
  readonly missing: readonly string[];
}

/** The vault at the moment of the backup. */
export interface Moment {
  /** Unix milliseconds. */
  readonly at: number;
  readonly row: Readonly<Record<string, Cell>>;
  readonly head: Cursor;
  readonly deployment: string;
  /** The rows that belong to the vault itself. */
  readonly ofVault: PartRef;
}

/** The environment of the stages of a vault's backup. */
export interface BackupContext {
  readonly store: BackupStore;
  /** Returns true if the step should end. The stage keeps its state, and the next step continues. */
  readonly isSpent: () => boolean;
  /** Asks the coordinator of a vault to space its commits for a while. A lost call costs nothing. */
  readonly spaceCommits: (vault: string) => Promise<void>;
  /** The parts that the backup shares, by their hashes. */
  readonly previous: ReadonlyMap<string, PartRef>;
}

/** The next state, or `deleted` if the vault does not exist any more. */
export type Next = Result<VaultBackup | "deleted">;

export const writingOf = (
  { store, previous }: BackupContext,
  { vault }: VaultBackup,
  { deployment }: Pick<Slice, "deployment">,
): Writing => ({ store, vault, deployment, previous });

/** The newest backup of a vault. */
interface Newest {
  /** 0 without a backup. */
  readonly number: number;
  /** Absent if there is none, if it cannot be read, or if the bucket has lost an object of it. Then the next backup is a full one. */
  readonly open: OpenManifest | undefined;
}

/** Looks up the newest backup of a vault, or of the registry. Fails with `unavailable`. */
export async function findNewest({ backups, keyring }: BackupStore, vault: string): Promise<Result<Newest>> {
  const folder = await listFolder(backups, vault);
  if (!folder.ok) return folder;
  const { numbers, sizes } = folder.value;
  const number = numbers.at(-1) ?? 0;
  const open = number === 0 ? undefined : await loadManifest(backups, keyring, { vault, number });
  if (!open?.ok) return open?.failure.kind === "unavailable" ? open : ok({ number, open: undefined });
  const contents = await hasContents(backups, open.value.manifest);
  if (!contents.ok) return contents;
  const isWhole = contents.value && lostParts(open.value.manifest, sizes).length === 0;
  return ok({ number, open: isWhole ? open.value : undefined });
}

/** Contents of a vault are counted up to this number: one call lists them. */
const COUNTED_CONTENTS_MAX = 1_000;

/**
 * Returns true if the bucket has at least the number of contents that a backup names, by one list. Contents of earlier backups may hide a
 * missing one. Fails with `unavailable`.
 */
async function hasContents(bucket: Bucket, { vault, parts }: Manifest): Promise<Result<boolean>> {
  const limit = Math.min(countContents(parts), COUNTED_CONTENTS_MAX);
  return limit === 0
    ? ok(true)
    : tryBucket(async () => (await bucket.list({ prefix: backupContent(`${vault}/`), limit })).objects.length === limit);
}

/** Returns a lower bound of the contents that were copied. The parts of one large Item may name the same contents. */
export function countContents(parts: readonly PartRef[]): number {
  const byItem = new Map<string | undefined, number>();
  for (const { item, contents = 0, missing } of parts)
    if (missing === undefined) byItem.set(item, Math.max(contents, byItem.get(item) ?? 0));
  return byItem.values().reduce((sum, contents) => sum + contents, 0);
}

/**
 * Returns the parts that a backup shares with the previous backup, by their hashes. Empty for a full backup, and if the previous backup is
 * not authentic any more. Fails with `unavailable`.
 */
export async function loadSharedParts(
  { backups, keyring }: BackupStore,
  { vault, number, full }: Pick<VaultBackup, "vault" | "number" | "full">,
): Promise<Result<ReadonlyMap<string, PartRef>>> {
  const before = full ? undefined : await loadManifest(backups, keyring, { vault, number: number - 1 });
  if (!before?.ok) return before?.failure.kind === "unavailable" ? before : ok(new Map());
  return ok(new Map(before.value.manifest.parts.map((part) => [part.sha256, part])));
}

/** The beginning of a vault's backup: its state, or the newest backup if that has the state of the vault. */
type Beginning = "deleted" | { readonly unchanged: OpenManifest } | VaultBackup;

/**
 * Begins the backup of a vault. An unchanged vault gets a backup if its newest one is under a root key that is not active, lacks contents or
 * an object, or cannot be read. Fails with `unavailable`.
 */
export async function beginVault(store: BackupStore, vault: string, isFull: boolean): Promise<Result<Beginning>> {
  const [newest, read] = [await findNewest(store, vault), await readVault(store.db, vault)];
  if (!newest.ok) return newest;
  if (!read.ok) return read;
  if (!read.value) return ok("deleted");
  const { number, open } = newest.value;
  if (!isFull && open && (await isUnchanged(store, open, read.value))) return ok({ unchanged: open });
  return ok(beginAgain({ vault, full: isFull || !open, number: number + 1, restarts: -1 }, read.value));
}

async function isUnchanged(
  { keyring: { active } }: BackupStore,
  { manifest, rootKey }: OpenManifest,
  slice: Slice,
): Promise<boolean> {
  if (rootKey !== active.id || manifest.deployment !== slice.deployment) return false;
  if (JSON.stringify(manifest.row) !== JSON.stringify(slice.row)) return false;
  const { ref } = await presentPart({ deployment: slice.deployment, vault: manifest.vault }, { tables: slice.ofVault });
  return manifest.parts.at(-1)?.sha256 === ref.sha256 && !manifest.parts.some(({ missing }) => missing !== undefined);
}

/** Returns the state before the first slice. `read` is the newest data read of the vault. */
export const beginAgain = (
  { vault, full, number, restarts }: Pick<VaultBackup, "vault" | "full" | "number" | "restarts">,
  read: Pick<Slice, "head">,
): VaultBackup => ({
  vault,
  full,
  number,
  restarts: restarts + 1,
  stage: "items",
  after: "",
  since: read.head,
  parts: [],
  changes: [],
  passes: 0,
  done: 0,
  content: 0,
  copied: 0,
  missing: [],
});
