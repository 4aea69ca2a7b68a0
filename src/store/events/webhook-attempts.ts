import { DELIVERY_FAULTS, type RecordedAttempt } from "../../model/webhook.ts";

/**
 * The newest attempts to deliver to a webhook: a JSON array in the row of its progress (webhook-progress.ts), so that recording one writes
 * no other row, and the deletion of the webhook deletes them.
 */

const ATTEMPTS_MAX = 20;

/** The last time that a date can be, in Unix milliseconds (ECMA-262, 21.4.1.1). */
const TIME_MAX = 8.64e15;

const isCount = (value: unknown, most = Number.MAX_SAFE_INTEGER): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most;

/** Whether an entry of the array is an attempt, and not what a damaged row has in its place. */
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

/** Parses the array, without what is damaged, so that it stops no delivery. */
function parseAttempts(text: string | null): readonly RecordedAttempt[] {
  try {
    const attempts: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(attempts) ? attempts.filter(isAttempt) : [];
  } catch {
    return [];
  }
}

/** The array with one attempt more, without those that are too many. */
export const addAttempt = (text: string | null, attempt: RecordedAttempt): string =>
  JSON.stringify([attempt, ...parseAttempts(text)].slice(0, ATTEMPTS_MAX));

interface Row extends Record<string, SqlStorageValue> {
  readonly attempts: string | null;
}

const findRow = (sql: SqlStorage, id: string): Row | undefined =>
  sql.exec<Row>("SELECT attempts FROM webhooks WHERE id = ?1 AND state <> 'DELETED'", id).toArray()[0];

/** The newest first. */
export const listAttempts = (sql: SqlStorage, id: string): readonly RecordedAttempt[] =>
  parseAttempts(findRow(sql, id)?.attempts ?? null);

/** Records an attempt that changes nothing else. One of a webhook that was deleted meanwhile is not recorded. */
export function recordAttempt(sql: SqlStorage, id: string, attempt: RecordedAttempt): void {
  const row = findRow(sql, id);
  if (row) sql.exec("UPDATE webhooks SET attempts = ?2 WHERE id = ?1", id, addAttempt(row.attempts, attempt));
}
