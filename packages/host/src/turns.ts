import type { DatabaseSync } from "node:sqlite";
import type { SqliteFile } from "./sqlite-file.ts";

/**
 * Transactions of the file, which D1 and the Durable Objects share. The writes of an object between two awaits are one transaction, as on
 * Cloudflare. A batch of D1 is a transaction of its own.
 */
export interface Turns {
  readonly db: DatabaseSync;
  /**
   * Runs the writes of an object in the transaction of this turn of the event loop. Throws SQLite's error. Calls `failed` if the transaction
   * fails, now or later.
   */
  readonly write: <T>(failed: (error: Error) => void, run: () => T) => T;
  /** Commits the transaction of this turn, if an object has written. Never throws: the objects are told. */
  readonly end: () => void;
  /** Runs a function as one transaction. Throws the function's error, or SQLite's. */
  readonly transaction: <T>(run: () => T) => T;
  /**
   * Resolves in another turn of the event loop. A Durable Object gets one event per turn, so nothing comes between its alarm and its next
   * await.
   */
  readonly next: () => Promise<void>;
  /** As `SqliteFile.settled`, with the transaction of this turn. */
  readonly settled: () => Promise<void> | undefined;
}

export function createTurns({ db, wrote, settled }: Pick<SqliteFile, "db" | "wrote" | "settled">): Turns {
  const [begin, commit, rollback] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => db.prepare(sql));
  const changes = db.prepare("SELECT total_changes() AS changes");
  const countChanges = (): number => (changes.get() as { changes: number }).changes;
  let members: Set<(error: Error) => void> | undefined;

  function end(): void {
    if (!members) return;
    try {
      commit!.run();
      wrote();
      members = undefined;
    } catch (error) {
      abort(error as Error);
    }
  }

  function abort(error: Error): void {
    if (db.isTransaction) rollback!.run(); // SQLite rolls a full database back itself
    const told = members ?? [];
    members = undefined;
    for (const failed of told) failed(error);
  }

  return {
    db,
    write(failed, run) {
      if (!members) {
        begin!.run();
        members = new Set();
        queueMicrotask(end);
      }
      members.add(failed);
      try {
        return run();
      } catch (error) {
        if (!db.isTransaction) abort(error as Error);
        throw error;
      }
    },
    end,
    transaction(run) {
      end();
      begin!.run();
      const before = countChanges();
      try {
        const result = run();
        commit!.run();
        if (countChanges() !== before) wrote();
        return result;
      } catch (error) {
        if (db.isTransaction) rollback!.run();
        throw error;
      }
    },
    next: () => new Promise((resolve) => setImmediate(resolve)),
    settled: () => (end(), settled()),
  };
}
