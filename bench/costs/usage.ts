/** What an operation takes of the platform: the counts of the benchmark, and what it cannot count. */
import { SECOND } from "../../src/model/time.ts";
import { sumOf, type Usage } from "./arithmetic.ts";

/** The memory that the platform charges for a Durable Object, in GB. */
export const OBJECT_GB = 0.128;

/**
 * Entries of a segment of the log (store/activity/flush.ts) that come alone, at 68 a minute in one log, which are those of Workers Free: the 66 seconds of a
 * cell. One a minute makes segments of 17.
 */
const SEGMENT_ENTRIES = 70;

/** Entries of an object of the archive: about 550 bytes each of 4 MiB. */
const OBJECT_ENTRIES = 7_600;

/**
 * The log entry of a read or a denial in a flush of its own, which is the most it can take: the rows of the flush, 1 ms of CPU, and its share
 * of the end of the segment: a row that is deleted, and an object of the archive. Takes the rows of the flush.
 */
export const logEntryOf = ({ rowsRead, rowsWritten }: Flush): Usage => ({
  cpu: 1,
  rowsRead,
  rowsWritten: rowsWritten + 1 / SEGMENT_ENTRIES,
  r2Writes: 1 / OBJECT_ENTRIES,
});

export interface Flush {
  /** 0: the request has no entry. */
  readonly d1: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
}

/** What the benchmark counts of one request. */
export interface Counted {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly objectCalls: number;
  /** Milliseconds that Durable Objects run for the request. */
  readonly objectMs: number;
  readonly r2: number;
  /** What follows the request. */
  readonly flush: Flush;
}

export interface Beside {
  /** CPU in milliseconds. An estimate: workerd's clock stands still in synchronous code, and a local D1 call is mostly CPU. */
  readonly cpu: number;
  /** Rows of D1 that are deleted later because of it. A deletion counts as a row written. */
  readonly deletedLater?: number;
  /** Rows that the coordinator writes to its own storage. */
  readonly objectRows?: number;
  /** Whether the calls to R2 write. */
  readonly writesR2?: true;
}

/** Returns the usage of a request from its counts and their additions. */
export function usageOf(counts: Counted, { cpu, deletedLater = 0, objectRows = 0, writesR2 }: Beside): Usage {
  const request: Usage = {
    requests: 1,
    cpu,
    rowsRead: counts.rowsRead,
    rowsWritten: counts.rowsWritten + deletedLater,
    objectRequests: counts.objectCalls,
    objectDuration: (counts.objectMs / SECOND) * OBJECT_GB,
    objectRows,
    [writesR2 ? "r2Writes" : "r2Reads"]: counts.r2,
  };
  return sumOf([
    [1, request],
    [counts.flush.d1, logEntryOf(counts.flush)],
  ]);
}
