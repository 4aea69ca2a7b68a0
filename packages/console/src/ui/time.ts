/** Times for people, as they write them where the browser is, in its time zone. */

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const HOUR = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

export const formatHour = (time: string): string => HOUR.format(new Date(time));

export const formatDate = (time: string): string => DATE.format(new Date(time));

/** Formats an ISO 8601 time; "" is the time of a broken record. */
export const formatTime = (time: string): string => (time === "" ? "unknown time" : TIME.format(new Date(time)));

/** A day in milliseconds, where the hour of a change of daylight saving time does not matter. */
export const DAY_MS = 24 * 60 * 60 * 1000;
