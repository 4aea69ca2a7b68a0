import { DELIVERY_FAULTS, type RecordedAttempt } from "../../model/webhook.ts";

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

interface Row extends Record<string, SqlStorageValue> {
  readonly attempts: string | null;
}

const findRow = (sql: SqlStorage, id: string): Row | undefined =>
  sql.exec<Row>("SELECT attempts FROM webhooks WHERE id = ?1 AND state <> 'DELETED'", id).toArray()[0];

/** Returns the attempts, newest first. */
export const listAttempts = (sql: SqlStorage, id: string): readonly RecordedAttempt[] =>
  parseAttempts(findRow(sql, id)?.attempts ?? null);

/** Records an attempt without changing the progress. The attempt of a deleted webhook is not recorded. */
export function recordAttempt(sql: SqlStorage, id: string, attempt: RecordedAttempt): void {
  const row = findRow(sql, id);
  if (row) sql.exec("UPDATE webhooks SET attempts = ?2 WHERE id = ?1", id, addAttempt(row.attempts, attempt));
}
