import { CliError } from "./failure.ts";
import { plural } from "./printable.ts";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Returns the seconds of a time such as `90d`, `12h`, `30m`, `45s` or `0`. Throws a CliError that names the option. */
export function secondsOf(option: string, text: string): number {
  if (text === "0") return 0;
  const [, number, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (number === undefined)
    throw new CliError(`${option} takes a time with a unit, for example 90d, 12h, 30m or 45s`, { exit: "usage" });
  return Number(number) * SECONDS[unit!]!;
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
