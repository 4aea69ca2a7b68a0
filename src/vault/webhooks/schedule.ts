import type { Cursor } from "../../model/cursor.ts";
import type { DeliveryError } from "../../model/webhook.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../model/time.ts";
import type { Progress } from "../../store/events/webhook-progress.ts";

/** When a webhook is tried again, and when it is given up (contract 17.8 and 17.9). Pure functions; times are Unix milliseconds. */

/** The time after which a webhook without news looks for events that no commit has announced. */
const POLL_MS = 15 * MINUTE;

/** The waits double from the first to the longest one. */
const FIRST_WAIT_MS = 5 * SECOND;
const WAIT_MS_MAX = HOUR;

/** A receiver that has failed for this time is paused. */
const GIVE_UP_MS = DAY;

/** The status by which a receiver says that it wants no more messages (Standard Webhooks, "Delivery success and failure"). */
const GONE_STATUS = 410;

/** After the delivery of an event. In: its position. */
export const delivered = (progress: Progress, { sequence, at }: Cursor, now: number): Progress => ({
  ...progress,
  sequence,
  at,
  due: now,
  failures: 0,
  failingSince: null,
  lastDelivery: now,
  lastError: null,
});

/** Without an event to deliver. Before the deletion of the vault, which may be on its way, it looks again soon. */
export const idle = (progress: Progress, now: number): Progress => ({
  ...progress,
  due: now + (progress.deletionNoticeAt === null ? POLL_MS : MINUTE),
});

/** When D1 did not answer: no failure of the receiver. */
export const postponed = (progress: Progress, now: number): Progress => ({ ...progress, due: now + MINUTE });

/** After an attempt that failed: exponential backoff with jitter. In: a random number from 0 to 1. */
export function failed(progress: Progress, error: DeliveryError, random: number): Progress {
  const failures = progress.failures + 1;
  const failingSince = progress.failingSince ?? error.at;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), WAIT_MS_MAX) * (0.5 + random / 2);
  const state = error.status === GONE_STATUS ? "DISABLED" : error.at - failingSince >= GIVE_UP_MS ? "PAUSED" : progress.state;
  return { ...progress, state, failures, failingSince, lastError: error, due: error.at + Math.round(wait) };
}
