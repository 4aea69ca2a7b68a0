/** Times and sizes for people. English, as all texts of the console, in the time zone of the browser. */

const TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });

/** In: an ISO 8601 time. */
export const formatDate = (time: string): string => DATE.format(new Date(time));

/** In: an ISO 8601 time. */
export const formatTime = (time: string): string => TIME.format(new Date(time));

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;

/** In: bytes. Out: with up to three digits, in powers of 1,000. */
export function formatSize(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${bytes === 1 ? "byte" : UNITS[power]}`;
}
