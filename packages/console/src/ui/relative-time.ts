const WORDS = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** The units, each with its seconds, the largest first. */
const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 365 * 24 * 60 * 60],
  ["day", 24 * 60 * 60],
  ["hour", 60 * 60],
  ["minute", 60],
];

/** Formats an ISO 8601 time relative to `now`, in Unix milliseconds: in the largest unit with at least two, rounded. */
export function formatFromNow(time: string, now: number): string {
  const seconds = (Date.parse(time) - now) / 1000;
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= 2 * size);
  if (unit) return WORDS.format(Math.round(seconds / unit[1]), unit[0]);
  if (Math.abs(seconds) < 60) return seconds < 0 ? "just now" : "in less than a minute";
  return WORDS.format(Math.sign(seconds), "minute");
}
