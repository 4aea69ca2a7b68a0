/** The budget of rows of a page of the activity log, shared by its calls. */

/** Rows that a page reads, besides those of a token's check. */
const PAGE_ROWS_MAX = 9_500;

/** The part of them that the first call plans to read. The rest is for later calls. */
const FIRST_CALL_ROWS_MAX = 6_500;

/** Rows that D1 counts at most for a segment of a log, and for each log with segments. */
const SEGMENT_ROWS = 4;
const LOG_ROWS = 10;

/** Least rows of each log in a call: an entry and a segment. */
const LOG_ROWS_MIN = 1 + LOG_ROWS + SEGMENT_ROWS;

/** The segments of each log that so many rows suffice for. */
export const segmentsWithin = (rows: number, logs: number): number => Math.floor((rows / logs - LOG_ROWS) / SEGMENT_ROWS);

/** The rows that the calls of one page may still read. */
export interface RowBudget {
  rows: number;
}

/** The shared state of the calls of one page. */
export interface Reading extends RowBudget {
  /** The calls that were made. */
  calls: number;
  /** The logs of segments that have none from the starts of earlier calls on. */
  readonly ended: Set<string>;
}

/** Begins to read a page. */
export const beginReading = (): Reading => ({ rows: PAGE_ROWS_MAX, calls: 0, ended: new Set() });

/**
 * Returns the rows that the current call may read for segments, besides its `entries`. A later call gets half of the rest, so that another
 * call can follow.
 */
export const segmentRowsMax = ({ calls, rows }: Reading, entries: number): number =>
  calls === 1 ? FIRST_CALL_ROWS_MAX - entries : (rows - entries) / 2;

/** Returns the rows that D1 reads of a log for a number of segments. */
export const rowsRead = (segments: number): number => (segments === 0 ? 0 : LOG_ROWS + segments * SEGMENT_ROWS);

/** Returns the number of calls for a number of rows, if each reads `logs` logs. */
export const callsWithin = (rows: number, logs: number): number => Math.floor(rows / (logs * LOG_ROWS_MIN));

/** Returns the number of entries of each log that take half of the rows. Its segments get the other half. */
export const sizeWithin = (rows: number, logs: number): number => Math.floor(rows / logs / 2);
