import { CliError } from "./failure.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `30m`, `24h` or `7d`. Errors: throws a CliError that names the option. */
export function parseDuration(text: string, option: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new CliError(`--${option} is no duration such as 30m, 24h or 7d`, { exit: "usage" });
  return Number(count) * UNITS[unit!]!;
}

/** A duration for a reader: its largest unit, such as `5 hours`. */
export function describeDuration(milliseconds: number): string {
  const [name, size] = NAMES.find(([, unit]) => milliseconds >= unit) ?? NAMES.at(-1)!;
  const count = Math.floor(milliseconds / size);
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

const NAMES = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;
