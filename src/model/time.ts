/** Units of time, in milliseconds. */
/** The expiry time of rows that do not expire: 9999-12-31T23:59:59Z, in Unix seconds. */
export const NEVER_SECONDS = 253_402_300_799;

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The first time that RFC 3339 cannot write: the year 10000 in Unix milliseconds. */
export const TIME_END = 253_402_300_800_000;

/**
 * Returns true if a column holds a valid time: Unix milliseconds after the first of 1970, up to the last of RFC 3339
 * (9999-12-31). A column that lost its value has 0.
 */
export const isTime = (milliseconds: number): boolean =>
  Number.isSafeInteger(milliseconds) && milliseconds > 0 && milliseconds < TIME_END;

/** Returns a time for an answer that always has one. The impossible time of a damaged row becomes 1970-01-01. */
export const possibleTime = (milliseconds: number): number => (isTime(milliseconds) ? milliseconds : 0);

/** Returns the UTC day of a time in Unix milliseconds, as in `2026-11-26`. */
export const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);
