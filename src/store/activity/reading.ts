/** What a page of the activity log may read: a budget of rows, which its calls share. */

/** The rows that a page reads, besides those of the check of a token. */
const PAGE_ROWS_MAX = 9_500;

/** The part of them that the first call plans to read. The rest is for later calls. */
const FIRST_CALL_ROWS_MAX = 6_500;

/** What D1 counts for a segment of a log at most, and for each log that has segments besides. */
const SEGMENT_ROWS = 4;
const LOG_ROWS = 10;

/** What a call needs of each log at least: an entry, and a segment. */
const LOG_ROWS_MIN = 1 + LOG_ROWS + SEGMENT_ROWS;

/** The segments of each log that so many rows suffice for. */
export const segmentsWithin = (rows: number, logs: number): number => Math.floor((rows / logs - LOG_ROWS) / SEGMENT_ROWS);

/** The rows that the calls of one page may still read. */
export interface RowBudget {
  rows: number;
}

/** What the calls of one page share. */
export interface Reading extends RowBudget {
  /** The calls that were made. */
  calls: number;
  /** The logs of segments that have none from the starts of earlier calls on. */
  readonly ended: Set<string>;
}

/** Begins to read a page. */
export const beginReading = (): Reading => ({ rows: PAGE_ROWS_MAX, calls: 0, ended: new Set() });

/**
 * The rows that the call which was begun may read for segments. In: the entries that it reads. A later call has half of the rest, so that
 * another one can read on.
 */
export const segmentRowsMax = ({ calls, rows }: Reading, entries: number): number =>
  calls === 1 ? FIRST_CALL_ROWS_MAX - entries : (rows - entries) / 2;

/** The rows that D1 has read of a log for so many segments. */
export const rowsRead = (segments: number): number => (segments === 0 ? 0 : LOG_ROWS + segments * SEGMENT_ROWS);

/** The calls that so many rows suffice for. In: the logs that each reads on. */
export const callsWithin = (rows: number, logs: number): number => Math.floor(rows / (logs * LOG_ROWS_MIN));

/** The entries of each log that take half of so many rows; its segments have the other half. */
export const sizeWithin = (rows: number, logs: number): number => Math.floor(rows / logs / 2);
