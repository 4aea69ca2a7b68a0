import { CliError } from "./failure.ts";
import { plural } from "./printable.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A time with its unit: `90d`. */
export const DURATION = /^(\d{1,9})([smhd])$/;

/** Returns the seconds of a time such as `90d`, `12h`, `30m`, `45s` or `0`. Throws a CliError that names the option. */
export function secondsOf(option: string, text: string): number {
  if (text === "0") return 0;
  const [, number, unit] = DURATION.exec(text) ?? [];
  if (number === undefined)
    throw new CliError(`${option} takes a time with a unit, for example 90d, 12h, 30m or 45s`, { exit: "usage" });
  return Number(number) * SECONDS[unit!]!;
}

/** Converts a time of RFC 3339, or an age such as `90d`, to RFC 3339. Throws a CliError that names the option. */
export function parseTime(option: string, text: string): string {
  if (/^\d+[smhd]$/.test(text)) return new Date(Math.max(0, Date.now() - secondsOf(option, text) * 1000)).toISOString();
  const time = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw new CliError(`${option} takes a date, a time such as 2026-11-21T09:00:00Z, or how long ago, such as 90d`, {
    exit: "usage",
  });
}

/** A duration for a reader: its largest unit, such as `5 hours`. */
export function describeDuration(milliseconds: number): string {
  const [name, size] = NAMES.find(([, unit]) => milliseconds >= unit) ?? NAMES.at(-1)!;
  const count = Math.floor(milliseconds / size);
  return plural(count, name);
}

const NAMES = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;
