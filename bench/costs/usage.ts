/** What an operation takes of the platform: the counts of the benchmark, and what it cannot count. */
import { sumOf, type Usage } from "./arithmetic.ts";

/** Milliseconds that a coordinator runs for a write: two D1 calls of 30 ms and the time between them. An estimate. */
const COORDINATOR_MS = 100;
/** The memory that the platform charges for a Durable Object, in GB. */
const OBJECT_GB = 0.128;

/** A message has at most 64 KB here, so it is written, read and deleted by one operation each. */
const QUEUE_OPERATIONS = 3;

/**
 * A log entry of a read or a denial, in a message and a batch of its own, which is the most it can take: the queue's operations, one
 * call of the consumer with 2 ms of CPU, the row of the entry, the row of its log, and later the deletion of the entry.
 */
export const LOG_ENTRY: Usage = { queue: QUEUE_OPERATIONS, cpu: 2, rowsWritten: 3 };

/** What the benchmark counts of one request. */
export interface Counted {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly objectCalls: number;
  readonly r2: number;
  /** Messages. */
  readonly queue: number;
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

/** In: the counts of one request, and what they lack. */
export function usageOf(counts: Counted, { cpu, deletedLater = 0, objectRows = 0, writesR2 }: Beside): Usage {
  const request: Usage = {
    requests: 1,
    cpu,
    rowsRead: counts.rowsRead,
    rowsWritten: counts.rowsWritten + deletedLater,
    objectRequests: counts.objectCalls,
    objectDuration: (counts.objectCalls * COORDINATOR_MS * OBJECT_GB) / 1000,
    objectRows,
    [writesR2 ? "r2Writes" : "r2Reads"]: counts.r2,
  };
  return sumOf([
    [1, request],
    [counts.queue, LOG_ENTRY],
  ]);
}
