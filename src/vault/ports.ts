import { failedBy } from "../log.ts";
import { type ContentAddress, addressOf } from "../model/file.ts";
import type { Refusal, Result } from "../model/result.ts";
import type { RowCache } from "../store/commit/cache.ts";
import { type Commit, type CommitAttempt, writeCommit } from "../store/commit/commit.ts";
import type { RowRequest } from "../store/commit/rows.ts";
import { cachedSnapshot, loadSnapshot, type Snapshot } from "../store/commit/snapshot.ts";
import type { Store } from "../store/d1/database.ts";
import { databaseLevel, type DatabaseLevel } from "../store/d1/size.ts";
import type { Random } from "./complete.ts";
import type { WebhookPorts } from "./webhooks/messages.ts";
import type { Retention } from "./working.ts";

/** Everything that the commit loop reads and writes. docs/consistency.md lists how each may fail. */
export interface CommitPorts extends PacingPorts {
  /** A snapshot out of the cache, which may be out of date; `undefined` when a row is missing there. */
  readonly cached: (request: RowRequest) => Promise<Result<Snapshot> | undefined>;
  /** Loads the state of the vault at one moment. Fails with `unavailable` or `misconfigured`. */
  readonly load: (request: RowRequest) => Promise<Result<Snapshot>>;
  /** Records the contents that the commit releases, durably, before the commit is written. */
  readonly recordReleased: (commit: Commit) => Promise<void>;
  /**
   * Deletes the pending records of contents whose rows the commit has inserted, and starts the deletion of a deleted vault's rows. If it
   * fails, the records stay and the rows wait for the cron trigger.
   */
  readonly deleteCommitted: (commit: Commit) => Promise<void> | void;
  /** Writes the commit if nothing has changed since its snapshot. */
  readonly write: (commit: Commit) => Promise<CommitAttempt>;
  /** Returns the failure for an exception in an operation or a port, which is a defect of the service. */
  readonly onDefect: (error: unknown) => Refusal;
  /** Returns the current level of the database's size. */
  readonly databaseLevel: () => DatabaseLevel;
  /** The time of the group, which its Items get: Unix milliseconds. */
  readonly now: number;
  readonly random: Random;
  readonly retention: Retention;
}

/** The ports of the commit loop on the coordinator's own storage, and its clock. */
type StoragePorts = Pick<CommitPorts, "recordReleased" | "deleteCommitted" | "clock">;

/** Returns the ports of the commit loop. `store` has the current time. */
export const databasePorts = (store: Store, cache: RowCache, storage: StoragePorts): CommitPorts => ({
  ...storage,
  cached: (request) => cachedSnapshot(store, cache, request),
  load: (request) => loadSnapshot(store, cache, request),
  write: (commit) => writeCommit(store, cache, commit),
  backOff,
  onDefect: (error) => failedBy("A write", error),
  databaseLevel: () => databaseLevel(store.settings),
  now: store.now,
  retention: store.settings,
  random: drawRandom,
});

const drawRandom: Random = (size) => crypto.getRandomValues(new Uint8Array(size));

/** The longest wait between two reads of a D1 that does not recover. */
const WAIT_MS_MAX = 2_000;

/** Up to 4, 8, 16… milliseconds, at random, so that two coordinators do not collide again. */
const backOff = (retry: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** (retry + 1), WAIT_MS_MAX)));

/** Returns the contents whose rows the commit has written. */
export const committedContents = ({ vault, files }: Commit): readonly ContentAddress[] =>
  files.flatMap((change) => (change.kind === "put" ? [addressOf(vault, change.item, change.file)] : []));

export const webhookPorts = (sql: SqlStorage, store: Store, clock: () => number): WebhookPorts => ({
  sql,
  store,
  clock,
  random: () => Math.random(),
});

/** The limits of the commit loop (group.ts): its D1 calls and its time. docs/consistency.md adds up the times. */

/** Writes of a group from loaded snapshots. */
export const SNAPSHOT_WRITES_MAX = 5;

/**
 * The time in which a group begins D1 calls. It runs from the start of the group. It starts again at the end of the first attempt with an
 * unknown outcome, because only a read shows whether that attempt took effect.
 */
export const GROUP_PATIENCE_MS = 10_000;

/** The ports of the commit loop to time. */
interface PacingPorts {
  /** Waits before retry 1, 2, 3…: exponential backoff with jitter. */
  readonly backOff: (retry: number) => Promise<void>;
  /** The current time: Unix milliseconds. */
  readonly clock: () => number;
}

/** The progress of a group. */
export interface PacedGroup {
  /** The time after which the group begins no D1 call: Unix milliseconds. */
  readonly until: number;
  /** True if an attempt may still take effect. */
  readonly uncertain: boolean;
}

export const isOver = ({ clock }: PacingPorts, { until }: PacedGroup): boolean => clock() >= until;

/**
 * Waits before each read but the first. `reads` is the number of reads so far. Returns true if the next read may begin. A group without an
 * uncertain attempt gets one more read than writes: the last read shows why the write before it was refused.
 */
export async function waitForRead(ports: PacingPorts, group: PacedGroup, reads: number): Promise<boolean> {
  if (reads > SNAPSHOT_WRITES_MAX && !group.uncertain) return false;
  if (reads > 0 && !isOver(ports, group)) await ports.backOff(reads);
  return !isOver(ports, group);
}
