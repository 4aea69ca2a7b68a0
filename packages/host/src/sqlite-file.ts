import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { laterRelease, OperatorError } from "./operator-error.ts";

/**
 * The one SQLite file of the server. Commits go to its write-ahead log without a sync, so that no reader waits for the disk. Whatever leaves the
 * process waits for `settled` instead, and one `fdatasync` serves every commit before it (docs/design/host.md).
 */
export interface SqliteFile {
  readonly db: DatabaseSync;
  /** Says that a transaction of `db` has written. */
  readonly wrote: () => void;
  /** Resolves when every commit so far is on the disk. `undefined`: it is already. */
  readonly settled: () => Promise<void> | undefined;
  /** Syncs, checkpoints and closes the file. */
  readonly close: () => Promise<void>;
}

/** SQLite before this release may lose commits when a checkpoint meets a writer (sqlite.org/wal.html#walresetbug). */
const SQLITE_VERSION_MIN = "3.51.3";

/** Transactions after which the worker thread copies the pages of the log into the database, or milliseconds after one transaction. */
const CHECKPOINT_TRANSACTIONS = 250;
const CHECKPOINT_MS_MAX = 10_000;
const LOOK_INTERVAL_MS = 500;

/** Bytes of a log that is truncated. Truncation blocks writers, so it happens only if writers have not paused for a long time. */
const TRUNCATE_BYTES = 64 * 1024 * 1024;

/** SQLite's default. */
const PAGE_BYTES = 4096;

/** Version of the tables that this host adds to those of the migrations. */
const LAYOUT = 1;

/** Milliseconds that a writer waits for a truncation. */
const BUSY_MS_MAX = 30_000;

/**
 * Runs checkpoints on a thread and connection of its own, because copying takes up to 160 ms. Only SQLite opens the database and its `-shm`.
 * If Node closed one of them, SQLite would lose its locks (POSIX).
 */
const CHECKPOINTER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const db = new DatabaseSync(workerData.path);
  db.exec("PRAGMA busy_timeout = 0; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA checkpoint_fullfsync = ON");
  const checkpoint = (mode) => db.prepare("PRAGMA wal_checkpoint(" + mode + ")").get();
  parentPort.on("message", (mode) => {
    if (mode === "close") { db.close(); parentPort.close(); return; }
    try { parentPort.postMessage(checkpoint(mode)); } catch (error) { parentPort.postMessage({ error: error.message }); }
  });`;

const numberOf = (version: string): number => version.split(".").reduce((number, part) => number * 1_000 + Number(part), 0);

/** Throws when this Node has an SQLite that may lose commits. */
export function checkSqliteVersion(): void {
  const db = new DatabaseSync(":memory:");
  const { version } = db.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  db.close();
  if (numberOf(version) >= numberOf(SQLITE_VERSION_MIN)) return;
  throw new OperatorError(
    `This Node.js has SQLite ${version}, which can lose commits. Use one with SQLite ${SQLITE_VERSION_MIN} or later: Node.js 24.21 has it.`,
  );
}

export interface SqliteFileOptions {
  readonly path: string;
  /** Ends the process: after a failed sync nobody knows which commits the disk has. */
  readonly fail: (error: Error) => void;
}

/** Opens the file, or creates it. Throws SQLite's error for a file that is damaged or none of SQLite's. */
export function openSqliteFile({ path, fail }: SqliteFileOptions): SqliteFile {
  const db = openConnection(path);
  const log = openSync(`${path}-wal`, "r");
  syncFolder(dirname(path));

  let written = 1;
  let synced = 0;
  let isClosed = false;
  let syncing: number | undefined;
  let waiting: { readonly upTo: number; readonly resolve: () => void }[] = [];

  function sync(): void {
    if (syncing !== undefined || synced === written) return;
    syncing = written;
    fdatasync(log, (error) => {
      if (error) return fail(error);
      if (!isClosed && !isSameFile(log, `${path}-wal`)) return fail(new Error("somebody has deleted item-vault.db-wal"));
      synced = syncing!;
      syncing = undefined;
      const done = waiting.filter(({ upTo }) => upTo <= synced);
      waiting = waiting.filter(({ upTo }) => upTo > synced);
      for (const { resolve } of done) resolve();
      sync();
    });
  }

  const settled = (): Promise<void> | undefined => {
    if (synced === written) return undefined;
    sync();
    return new Promise((resolve) => waiting.push({ upTo: written, resolve }));
  };

  const checkpoints = startCheckpoints(path, () => written);
  return {
    db,
    wrote() {
      written++;
      // After this turn, so that its other commits share the sync.
      if (syncing === undefined) setImmediate(sync);
    },
    settled,
    async close() {
      await checkpoints.stop();
      isClosed = true;
      db.close(); // which copies the log into the database
      await settled(); // writes made while the thread ended; the descriptor outlives the name of the log
      closeSync(log);
    },
  };
}

/** Opens the connection of the process, and makes the log. Throws an OperatorError for the layout of a later release. */
function openConnection(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_MS_MAX });
  const { user_version: layout } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (layout > LAYOUT) throw laterRelease();
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA checkpoint_fullfsync = ON; -- macOS: fsync alone does not reach the disk
    PRAGMA foreign_keys = ON;
    PRAGMA cache_size = -32768;
    PRAGMA temp_store = MEMORY`);
  if (layout !== LAYOUT) db.exec(`PRAGMA user_version = ${LAYOUT}`); // not at each start: the disk may be full
  db.exec(`BEGIN; PRAGMA user_version = ${LAYOUT}; ROLLBACK`); // makes the log, and throws for a file that may only be read
  return db;
}

/** Keeps the log short. */
function startCheckpoints(path: string, written: () => number) {
  const thread = new Worker(CHECKPOINTER, { eval: true, workerData: { path } });
  let isBusy = false;
  let asked: "PASSIVE" | "TRUNCATE" = "PASSIVE";
  let checked = 0;
  thread.on("message", ({ log = 0, error }: { log?: number; error?: string }) => {
    isBusy = false;
    if (error !== undefined) return console.error(`item-vault: a checkpoint failed: ${error}`);
    if (asked === "PASSIVE" && log * PAGE_BYTES > TRUNCATE_BYTES) ask("TRUNCATE");
  });
  thread.unref(); // after the listener, which holds the process
  function ask(mode: typeof asked): void {
    asked = mode;
    isBusy = true;
    thread.postMessage(mode); // oxlint-disable-line unicorn/require-post-message-target-origin -- a thread, not a window
  }
  let checkedAt = performance.now();
  const timer = setInterval(() => {
    const isDue = written() - checked >= CHECKPOINT_TRANSACTIONS || performance.now() - checkedAt > CHECKPOINT_MS_MAX;
    if (isBusy || !isDue || written() === checked) return;
    [checked, checkedAt] = [written(), performance.now()];
    ask("PASSIVE");
  }, LOOK_INTERVAL_MS).unref();
  return {
    async stop() {
      clearInterval(timer);
      thread.ref();
      const ended = new Promise((resolve) => thread.once("exit", resolve));
      thread.postMessage("close"); // oxlint-disable-line unicorn/require-post-message-target-origin
      await ended;
    },
  };
}

/** Returns true if a name still belongs to an open file. Commits to a deleted log would end with the process. */
function isSameFile(descriptor: number, path: string): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  return named?.ino === fstatSync(descriptor).ino;
}

/** Syncs the names in a folder. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
}
