/** Units of time, in milliseconds. */
/** When the row of what does not expire would: 9999-12-31T23:59:59Z, in Unix seconds. */
export const NEVER_SECONDS = 253_402_300_799;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** The first time that RFC 3339 cannot write: the year 10000 in Unix milliseconds. */
export const TIME_END = 253_402_300_800_000;

/**
 * Whether a column holds a time that can be written: Unix milliseconds after the first of 1970, up to the last of RFC 3339 (9999-12-31).
 * 0 is what a column has that lost its value.
 */
export const isTime = (milliseconds: number): boolean =>
  Number.isSafeInteger(milliseconds) && milliseconds > 0 && milliseconds < TIME_END;

/** A time of a damaged row, for an answer that has one in any case: an impossible time is 1970-01-01. */
export const possibleTime = (milliseconds: number): number => (isTime(milliseconds) ? milliseconds : 0);

/** The day (UTC) of a time: `2026-11-26`. In: Unix milliseconds. */
export const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
