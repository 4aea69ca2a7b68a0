import type { ItemVaultError } from "./error.ts";

/** The times of further attempts after a failure. */

const FIRST_DELAY = 200; // milliseconds
const LONGEST_DELAY = 30_000; // milliseconds
/** In seconds. A longer `Retry-After` is not waited for: the service may be back earlier. */
const LONGEST_RETRY_AFTER = 60;
const REPEATED_STATUSES = new Set([429, 502, 503, 504]);

/** Whether a retry of a failed request can succeed. A retry that would wait longer than a caller expects is not made. */
export const canRepeat = ({ kind, status, retryAfter = 0 }: ItemVaultError): boolean =>
  (kind === "network" || REPEATED_STATUSES.has(status)) && kind !== "misconfigured" && retryAfter <= LONGEST_RETRY_AFTER;

/** The milliseconds of `Retry-After`, or a minute when it is longer. */
export const askedDelayOf = ({ retryAfter = 0 }: Partial<ItemVaultError>): number =>
  Math.min(retryAfter, LONGEST_RETRY_AFTER) * 1000;

/**
 * Returns the milliseconds until the next attempt, after `failures` failed attempts in a row: the time that `Retry-After` asks for, and exponential
 * backoff with jitter.
 */
export const retryDelayOf = (failures: number, error: Partial<ItemVaultError> = {}): number =>
  askedDelayOf(error) + Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** failures) * (0.5 + Math.random() / 2);
