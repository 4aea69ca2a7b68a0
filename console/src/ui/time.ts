/** Times for people. English, as all texts of the console, in the time zone of the browser. */

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

/** In: an ISO 8601 time. */
export const formatDate = (time: string): string => DATE.format(new Date(time));

/** In: an ISO 8601 time; empty where the stored record does not open. */
export const formatTime = (time: string): string => (time === "" ? "unknown time" : TIME.format(new Date(time)));
