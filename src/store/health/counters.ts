import { must } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { into } from "../tables/statements.ts";

/** Counts of the clean-up, for /metrics (contract 23.9). The table `counters` keeps them, because no process lives long enough. */

/** The rows that the clean-up deletes or moves: tokens to `ended_tokens`, entries of the log to the archive. */
export const CLEANED = [
  "token",
  "item",
  "version",
  "content",
  "idempotency_record",
  "log_entry",
  "log_entry_archived",
  "archive_object",
  "content_without_row",
  "session",
] as const;

export type Counts = Partial<Readonly<Record<(typeof CLEANED)[number], number>>>;

const PREFIX = "cleaned/";

const SQL = {
  add: `
    INSERT ${into("counters")} SELECT value ->> 0, value ->> 1 FROM json_each(?1) WHERE true
    ON CONFLICT (name) DO UPDATE SET value = min(max(value, 0), ${Number.MAX_SAFE_INTEGER} - excluded.value) + excluded.value`,
  read: `SELECT substr(name, ${PREFIX.length + 1}) AS kind, value FROM counters WHERE name >= '${PREFIX}' AND name < 'cleaned0'`,
};

/**
 * Adds counts in one D1 call, which writes one row for each kind. Without counts it makes no call. The caller adds them after the work, so
 * a run that is killed before that is not counted, and no run is counted twice. Throws when D1 fails.
 */
export async function recordCounts(db: D1Database, counts: Counts): Promise<void> {
  const added = Object.entries(counts).filter(([, count]) => count > 0);
  if (added.length === 0) return;
  const rows = JSON.stringify(added.map(([kind, count]) => [PREFIX + kind, count]));
  must("count the clean-up", await runBatch(db, db.prepare(SQL.add).bind(rows)));
}

export interface CountRow {
  readonly kind: string;
  readonly value: number;
}

/** Returns the statement that reads the counts: one `CountRow` for each kind that has one. */
export const countsStatement = (db: D1Database): D1PreparedStatement => db.prepare(SQL.read);
