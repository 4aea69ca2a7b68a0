import type { DeliveryError, RecordedAttempt, WebhookState } from "../../model/webhook.ts";

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
  /** +1 with each change by the admin: a delivery that began before it is not recorded. */
  readonly revision: number;
  /** Attempts that failed since the last delivery, and when the first of them failed. */
  readonly failures: number;
  readonly failingSince?: number | undefined;
  readonly lastDelivery?: number | undefined;
  readonly lastError?: DeliveryError | undefined;
  /** The newest changes by the admin: hashes of their requests, so that a repeated one changes nothing. */
  readonly changes: readonly string[];
}

/** A row: the progress as JSON, and the newest attempts. */
interface Row extends Record<string, SqlStorageValue> {
  readonly progress: string;
  readonly attempts: string | null;
}

const progressOf = ({ progress }: Row): Progress => JSON.parse(progress) as Progress;

/** Returns all rows. A coordinator has the rows of one vault. */
export const listProgress = (sql: SqlStorage): readonly Progress[] =>
  sql.exec<Row>("SELECT progress, attempts FROM webhooks").toArray().map(progressOf);

const findRow = (sql: SqlStorage, id: string): Row | undefined =>
  sql.exec<Row>("SELECT progress, attempts FROM webhooks WHERE id = ?1", id).toArray()[0];

export function findProgress(sql: SqlStorage, id: string): Progress | undefined {
  const row = findRow(sql, id);
  return row && progressOf(row);
}

/** Inserts the row of a new webhook. A row that exists stays unchanged. */
export const insertProgress = (sql: SqlStorage, row: Progress): void =>
  void sql.exec("INSERT OR IGNORE INTO webhooks (id, progress) VALUES (?1, ?2)", row.id, JSON.stringify(row));

/**
 * Replaces a row that was read, and records an attempt with it. Returns true if the row was replaced. If its `revision` has
 * changed since, only the attempt is recorded.
 */
export function replaceProgress(sql: SqlStorage, read: Progress, next: Progress, attempt?: RecordedAttempt): boolean {
  const row = findRow(sql, read.id);
  if (!row || progressOf(row).revision !== read.revision) {
    if (attempt) recordAttempt(sql, read.id, attempt);
    return false;
  }
  const kept = attempt ? addAttempt(row.attempts, attempt) : row.attempts;
  const attempts = next.state === "DELETED" ? null : kept;
  sql.exec("UPDATE webhooks SET progress = ?2, attempts = ?3 WHERE id = ?1", read.id, JSON.stringify(next), attempts);
  return true;
}

export const deleteProgress = (sql: SqlStorage, id: string): void => void sql.exec("DELETE FROM webhooks WHERE id = ?1", id);

/** Deletes all rows, with the vault. */
export const deleteAllProgress = (sql: SqlStorage): void => void sql.exec("DELETE FROM webhooks");

/** Returns true if a webhook waits for events. */
export const hasActive = (sql: SqlStorage): boolean => listProgress(sql).some(({ state }) => state === "ACTIVE");

/** Returns true if the alarm has a task at the time of the row: a delivery, or the end of a record. */
const isTimed = ({ state }: Progress): boolean => state === "ACTIVE" || state === "DELETED";

/** Returns the time of the next task, in Unix milliseconds: Infinity if there is none. */
export const nextDue = (sql: SqlStorage): number =>
  Math.min(...listProgress(sql).map((one) => (isTimed(one) ? one.due : Infinity)));

/** Returns true if the alarm has a task: an active webhook without failures may have new events at any time. */
export const isDue = (sql: SqlStorage, now: number): boolean =>
  listProgress(sql).some((one) => (isTimed(one) && one.due <= now) || (one.state === "ACTIVE" && one.failures === 0));

/**
 * The newest attempts to deliver to a webhook. They are a JSON array in the row of its progress (webhook-progress.ts). So
 * recording an attempt writes no other row, and the deletion of the webhook deletes its attempts.
 */

const ATTEMPTS_MAX = 20;

const parseAttempts = (text: string | null | undefined): readonly RecordedAttempt[] =>
  JSON.parse(text ?? "[]") as readonly RecordedAttempt[];

/** Returns the array with one more attempt, without the oldest attempts above the limit. */
const addAttempt = (text: string | null, attempt: RecordedAttempt): string =>
  JSON.stringify([attempt, ...parseAttempts(text)].slice(0, ATTEMPTS_MAX));

/** Returns the attempts, newest first. */
export const listAttempts = (sql: SqlStorage, id: string): readonly RecordedAttempt[] =>
  parseAttempts(findRow(sql, id)?.attempts);

/** Records an attempt without changing the progress. The attempt of a deleted webhook is not recorded. */
export function recordAttempt(sql: SqlStorage, id: string, attempt: RecordedAttempt): void {
  const row = findRow(sql, id);
  if (!row || progressOf(row).state === "DELETED") return;
  sql.exec("UPDATE webhooks SET attempts = ?2 WHERE id = ?1", id, addAttempt(row.attempts, attempt));
}
