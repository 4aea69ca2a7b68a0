import { LIMITS } from "@item-vault/model/limits";

/** Lifetimes of new tokens, in seconds. */

const MINUTE = 60; // seconds
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The offered lifetimes: label and seconds. */
export const LIFETIMES: readonly (readonly [label: string, seconds: number])[] = [
  ["1 hour", HOUR],
  ["12 hours", 12 * HOUR],
  ["7 days", 7 * DAY],
  ["30 days", 30 * DAY],
  ["90 days", LIMITS.tokenLifetimeDefault],
  ["1 year", LIMITS.tokenLifetime],
];

/** The lifetimes offered for the tokens of a workload's rule. */
export const RULE_LIFETIMES: typeof LIFETIMES = [
  ["5 minutes", 5 * MINUTE],
  ["15 minutes", LIMITS.ruleLifetimeDefault],
  ["30 minutes", 30 * MINUTE],
  ["1 hour", LIMITS.ruleLifetime],
];

/** The units of a lifetime that is typed, with their seconds. */
export const UNITS = { hours: HOUR, days: DAY } as const;
export type Unit = keyof typeof UNITS;

/** The most of a unit. */
export const mostOf = (unit: Unit): number => LIMITS.tokenLifetime / UNITS[unit];
