/** The faults of the differential test, which its Worker (entry.ts) injects into one request. */

/** The header that asks for a fault. The service ignores it. */
export const FAULT_HEADER = "Differential-Fault";

/** The path that runs the hourly task. */
export const HOURLY_PATH = "/differential/hourly";

/** The path that answers how many messages the queue has not delivered. */
export const QUEUE_PATH = "/differential/queue";

/** The fault of a request whose entries in the log take the queue. They are late, so only the last requests have it. */
export const LATE_LOG = "late-log";

export const FAULTS = [
  /** Each D1 call of the Worker fails. */
  "reads",
  /** D1 fails before it has carried the first write out, or after it, or has no room for it. */
  "before",
  "after",
  "full",
  /** A statement behind the first write is refused, so D1 takes the whole batch back. */
  "within",
  /** The Durable Object of the vault leaves memory before the request. */
  "evict",
  /** It leaves memory before or after the commit of the write. */
  "abort-before",
  "abort-after",
  /** Each call of the bucket FILES fails. */
  "bucket",
] as const;

/** Of requests that wait for something: the log has no entry of them, because both servers get another number of them. */
export const UNLOGGED = "unlogged";

export type Fault = (typeof FAULTS)[number] | typeof LATE_LOG | typeof UNLOGGED;

/** Faults for which the Durable Object has to be told. */
export const isOfObject = (fault: Fault): boolean => !["reads", "bucket", LATE_LOG, UNLOGGED].includes(fault);
