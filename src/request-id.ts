import { operationId } from "./model/ids.ts";

let last = { time: 0, sequence: 0 };

/**
 * Returns a UUIDv7 for a request at `now`, in Unix milliseconds. The id is the header `Request-Id`, the id of the log entry, and the id of a
 * write's operation. The ids of one millisecond count up (RFC 9562 section 6.2, method 1), so the log keeps the order within an isolate.
 */
export function createRequestId(now: number): string {
  last = { time: now, sequence: now === last.time ? last.sequence + 1 : 0 };
  const random = crypto.getRandomValues(new Uint8Array(10));
  // The 12 bits after the version: the low half of the first byte, and the second. After 4,096 ids they start again at 0.
  random[0] = (last.sequence >> 8) & 15;
  random[1] = last.sequence & 255;
  return operationId(now, random);
}
