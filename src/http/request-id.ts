import { operationId } from "../model/ids.ts";

let last = { time: 0, sequence: 0 };

/**
 * The id of a request: those of one millisecond count up (RFC 9562 section 6.2, method 1), so that what an isolate served
 * one after the other stands so in the log. In: Unix milliseconds.
 */
export function requestId(now: number): string {
  last = { time: now, sequence: now === last.time ? last.sequence + 1 : 0 };
  const random = crypto.getRandomValues(new Uint8Array(10));
  // The 12 bits behind the version: the low half of the first byte, and the second. A busier millisecond starts again.
  random[0] = (last.sequence >> 8) & 15;
  random[1] = last.sequence & 255;
  return operationId(now, random);
}
