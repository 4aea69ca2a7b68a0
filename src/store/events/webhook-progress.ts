import { type DeliveryError, type RecordedAttempt, type WebhookState, DELIVERY_FAULTS } from "../../model/webhook.ts";

/**
 * The progress of deliveries to each webhook: rows in the coordinator's own storage. A webhook exists if it has a row in D1; its
 * row here is written first.
 */

/** Times are Unix milliseconds. */
export interface Progress {
  readonly id: string;
  readonly vault: string;
  /** `DELETED`: kept for a day, so that a repeated request does not make the webhook again. */
  readonly state: WebhookState | "DELETED";
  /** The position after the last event that was delivered or skipped: see cursor.ts. */
  readonly sequence: number;
  readonly at: number;
  /** Time of the next task. */
  readonly due: number;
  readonly createdAt: number;
  /** +1 with each change by the admin, and before the deletion of the vault: a delivery that began before it is not recorded. */
  readonly revision: number;
  /** Attempts that failed since the last delivery, and when the first of them failed. */
  readonly failures: number;
  readonly failingSince: number | null;
  readonly lastDelivery: number | null;
  readonly lastError: DeliveryError | null;
  /** The URL and secrets for the event `vault.deleted`, sealed (webhook-rows.ts), and when the vault was about to be deleted. */
  readonly deletionNotice: string | null;
  readonly deletionNoticeAt: number | null;
  /** The newest changes by the admin: hashes of their requests, so that a repeated one changes nothing. */
  readonly changes: readonly string[];
}

type Row = {
  id: string;
  vault: string;
  state: Progress["state"];
  sequence: number;
  at: number;
  due: number;
  created_at: number;
  revision: number;
  failures: number;
  failing_since: number | null;
  last_delivery: number | null;
  last_error: string | null;
  deletion_notice: string | null;
  deletion_notice_at: number | null;
  changes: string;
};

const COLUMNS =
  "id, vault, state, sequence, at, due, created_at, revision, failures, failing_since, " +
  "last_delivery, last_error, deletion_notice, deletion_notice_at, changes";

/** Returns all rows. A coordinator has the rows of one vault. */
export const listProgress = (sql: SqlStorage): readonly Progress[] =>
  sql.exec<Row>(`SELECT ${COLUMNS} FROM webhooks`).toArray().map(progressOf);

export const findProgress = (sql: SqlStorage, id: string): Progress | undefined =>
  sql.exec<Row>(`SELECT ${COLUMNS} FROM webhooks WHERE id = ?1`, id).toArray().map(progressOf)[0];

const progressOf = (row: Row): Progress => ({
  id: row.id,
  vault: row.vault,
  state: row.state,
  sequence: row.sequence,
  at: row.at,
  due: row.due,
  createdAt: row.created_at,
  revision: row.revision,
  failures: row.failures,
  failingSince: row.failing_since,
  lastDelivery: row.last_delivery,
  lastError: row.last_error === null ? null : (JSON.parse(row.last_error) as DeliveryError),
  deletionNotice: row.deletion_notice,
  deletionNoticeAt: row.deletion_notice_at,
  changes: JSON.parse(row.changes) as string[],
});

/** Inserts the row of a new webhook. One that exists stays as it is. */
export function insertProgress(sql: SqlStorage, row: Progress): void {
  sql.exec(`INSERT INTO webhooks (${COLUMNS}) VALUES (${PARAMETERS}) ON CONFLICT (id) DO NOTHING`, ...valuesOf(row));
}

/**
 * Replaces a row that was read, and records an attempt with it. Returns true if the row was replaced. If its `revision` has
 * changed since, only the attempt is recorded.
 */
export function replaceProgress(sql: SqlStorage, read: Progress, next: Progress, attempt?: RecordedAttempt): boolean {
  type Current = { revision: number; attempts: string | null };
  const current = sql.exec<Current>("SELECT revision, attempts FROM webhooks WHERE id = ?1", read.id).toArray()[0];
  if (current?.revision !== read.revision) {
    if (attempt) recordAttempt(sql, read.id, attempt);
    return false;
  }
  const kept = attempt ? addAttempt(current.attempts, attempt) : current.attempts;
  const attempts = next.state === "DELETED" ? null : kept;
  sql.exec(`INSERT OR REPLACE INTO webhooks (attempts, ${COLUMNS}) VALUES (?, ${PARAMETERS})`, attempts, ...valuesOf(next));
  return true;
}

const PARAMETERS = COLUMNS.split(", ")
  .map(() => "?")
  .join(", ");

const valuesOf = (row: Progress): (string | number | null)[] => [
  row.id,
  row.vault,
  row.state,
  row.sequence,
  row.at,
  row.due,
  row.createdAt,
  row.revision,
  row.failures,
  row.failingSince,
  row.lastDelivery,
  row.lastError === null ? null : JSON.stringify(row.lastError),
  row.deletionNotice,
  row.deletionNoticeAt,
  JSON.stringify(row.changes),
];

export const deleteProgress = (sql: SqlStorage, id: string): void => void sql.exec("DELETE FROM webhooks WHERE id = ?1", id);

/** Returns true if a webhook waits for events. */
export const hasActive = (sql: SqlStorage): boolean =>
  sql.exec("SELECT 1 FROM webhooks WHERE state = 'ACTIVE' LIMIT 1").toArray().length > 0;

/** The rows for which the alarm has something to do at their time: a delivery, the end of a record, or a deletion notice. */
const TIMED = "(state IN ('ACTIVE', 'DELETED') OR deletion_notice_at IS NOT NULL)";

/** Returns the time of the next task, in Unix milliseconds. */
export const nextDue = (sql: SqlStorage): number | undefined =>
  sql.exec<{ next: number | null }>(`SELECT min(due) AS next FROM webhooks WHERE ${TIMED}`).one().next ?? undefined;

/** Returns true if the alarm has a task: an active webhook without failures may have new events at any time. */
export const isDue = (sql: SqlStorage, now: number): boolean =>
  sql.exec(`SELECT 1 FROM webhooks WHERE (${TIMED} AND due <= ?1) OR (state = 'ACTIVE' AND failures = 0) LIMIT 1`, now).toArray()
    .length > 0;

/**
 * The newest attempts to deliver to a webhook. They are a JSON array in the row of its progress (webhook-progress.ts). So
 * recording an attempt writes no other row, and the deletion of the webhook deletes its attempts.
 */

const ATTEMPTS_MAX = 20;

/** The last time that a date can be, in Unix milliseconds (ECMA-262, 21.4.1.1). */
const TIME_MAX = 8.64e15;

const isCount = (value: unknown, most = Number.MAX_SAFE_INTEGER): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;

/** Returns true if an entry of the array is a valid attempt. A damaged row may have other values. */
function isAttempt(entry: unknown): entry is RecordedAttempt {
  const { at, milliseconds, events, status, error, test } = (entry ?? {}) as Partial<Record<keyof RecordedAttempt, unknown>>;
  return (
    isCount(at, TIME_MAX) &&
    isCount(milliseconds) &&
    isCount(events) &&
    (status === undefined || isCount(status, 599)) &&
    (error === undefined || DELIVERY_FAULTS.some((fault) => fault === error)) &&
    (test === undefined || test === true)
  );
}

/** Parses the array without damaged entries, which must not stop a delivery. */
function parseAttempts(text: string | null): readonly RecordedAttempt[] {
  try {
    const attempts: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(attempts) ? attempts.filter(isAttempt) : [];
  } catch {
    return [];
  }
}

/** Returns the array with one more attempt, without the oldest attempts above the limit. */
export const addAttempt = (text: string | null, attempt: RecordedAttempt): string =>
  JSON.stringify([attempt, ...parseAttempts(text)].slice(0, ATTEMPTS_MAX));

interface AttemptsRow extends Record<string, SqlStorageValue> {
  readonly attempts: string | null;
}

const findRow = (sql: SqlStorage, id: string): AttemptsRow | undefined =>
  sql.exec<AttemptsRow>("SELECT attempts FROM webhooks WHERE id = ?1 AND state <> 'DELETED'", id).toArray()[0];

/** Returns the attempts, newest first. */
export const listAttempts = (sql: SqlStorage, id: string): readonly RecordedAttempt[] =>
  parseAttempts(findRow(sql, id)?.attempts ?? null);

/** Records an attempt without changing the progress. The attempt of a deleted webhook is not recorded. */
export function recordAttempt(sql: SqlStorage, id: string, attempt: RecordedAttempt): void {
  const row = findRow(sql, id);
  if (row) sql.exec("UPDATE webhooks SET attempts = ?2 WHERE id = ?1", id, addAttempt(row.attempts, attempt));
}
