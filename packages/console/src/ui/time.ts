/** Times for people, in the words of the page and the time zone of the browser: `Nov 29, 2026, 4:05 PM`. */

const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const HOUR = new Intl.DateTimeFormat("en", { timeStyle: "short" });

/** The time of the day. In: an ISO 8601 time. */
export const formatHour = (time: string): string => HOUR.format(new Date(time));

/** In: an ISO 8601 time. */
export const formatDate = (time: string): string => DATE.format(new Date(time));

/** In: an ISO 8601 time; empty where the stored record does not open. */
export const formatTime = (time: string): string => (time === "" ? "unknown time" : TIME.format(new Date(time)));

/** A day in milliseconds, where the hour of a change of daylight saving time does not matter. */
export const DAY_MS = 24 * 60 * 60 * 1000;
