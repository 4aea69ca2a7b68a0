import { fail, ok, type Result } from "./model/result.ts";
import { SECOND } from "./model/time.ts";

/**
 * The bytes that the requests of this isolate hold: bodies, and rows from D1. An isolate has 128 MB, and a byte takes about five until its
 * answer is sent. Beyond the bound a request is refused. It does not wait for another request, because such a wait hangs on Workers.
 */

/** Bytes of all requests together. A single request may have more. */
export const WORK_BYTES_MAX = 24 * 1024 * 1024;

/** A request with fewer bytes is neither counted nor refused. */
export const UNCOUNTED_BYTES_MAX = 128 * 1024;

/** A killed request has not returned its share. Its share expires. */
const SHARE_MS_MAX = 30 * SECOND;

const RETRY_SECONDS = 1;

/** The bytes of one request. */
export interface Share {
  /** Start of the request, in Unix milliseconds. */
  readonly since: number;
  bytes: number;
  /** The answer has begun. Its stream is still counted, but not refused. */
  answered: boolean;
}

const shares = new Set<Share>();

/** Returns the share of a request that begins now. */
export const openShare = (since: number): Share => ({ since, bytes: 0, answered: false });

/** Releases the bytes of a request that has answered, or begun to. */
export function closeShare(share: Share | undefined): void {
  if (!share) return;
  share.answered = true;
  share.bytes = 0;
  shares.delete(share);
}

/**
 * Sets the bytes that a request holds at one time to at least `bytes`. Jobs and coordinators have no share; they have their own bounds.
 * Fails with `rate` if other requests have too many.
 */
export function admitBytes(share: Share | undefined, bytes: number): Result<undefined> {
  if (!share || bytes <= Math.max(share.bytes, UNCOUNTED_BYTES_MAX)) return ok(undefined);
  let others = 0;
  for (const one of shares) {
    if (share.since - one.since >= SHARE_MS_MAX) shares.delete(one);
    else if (one !== share) others += one.bytes;
  }
  if (!share.answered && others > 0 && others + bytes > WORK_BYTES_MAX)
    return { ok: false, failure: { ...fail("rate").failure, retryAfterSeconds: RETRY_SECONDS } };
  share.bytes = bytes;
  shares.add(share);
  return ok(undefined);
}

/** Returns the size of rows: a character of a sealed text is a byte. */
export const sizeOfRows = (rows: readonly object[]): number =>
  rows.reduce(
    (sum, row) => sum + Object.values(row).reduce((size, value) => size + (typeof value === "string" ? value.length : 8), 0),
    0,
  );
