/** The dollars of operations, computed from what each takes. */
import { PLAN_DOLLARS, type Price, PRICES, STORAGE, type Unit } from "./prices.ts";

/** How many units of each price something takes. An absent one is 0. */
export type Usage = { readonly [unit in Unit]?: number };

export interface Stored {
  /** GB in D1 and in R2. */
  readonly d1: number;
  readonly r2: number;
}

const prices = Object.entries(PRICES) as [Unit, Price][];

/** Returns the dollars of a million operations with this usage, beyond the plan. */
export const dollarsPerMillion = (usage: Usage): number =>
  prices.reduce((sum, [unit, { perMillion }]) => sum + (usage[unit] ?? 0) * perMillion, 0);

/** Returns the usage of several operations, each with its number and usage. */
export function sumOf(parts: readonly (readonly [times: number, usage: Usage])[]): Usage {
  const sum = (unit: Unit) => parts.reduce((total, [times, usage]) => total + times * (usage[unit] ?? 0), 0);
  return Object.fromEntries(prices.map(([unit]) => [unit, sum(unit)]));
}

const beyond = (used: number, included: number): number => Math.max(0, used - included);

/** Returns the dollars of a month with the plan, from the usage of the month and the stored bytes. */
export function dollarsPerMonth(usage: Usage, stored: Stored): number {
  const used = prices.reduce(
    (sum, [unit, { perMillion, included }]) => sum + (beyond(usage[unit] ?? 0, included) * perMillion) / 1e6,
    0,
  );
  const keptIn = (place: keyof Stored) => beyond(stored[place], STORAGE[place].included) * STORAGE[place].perGb;
  return PLAN_DOLLARS + used + keptIn("d1") + keptIn("r2");
}

/**
 * How often an operation can be done in a day of Workers Free, and the unit that ends first. Takes the usage of one operation. Returns `undefined` when
 * it uses nothing that is limited by the day.
 */
export function mostPerDay(usage: Usage): { readonly times: number; readonly unit: string } | undefined {
  const limits = prices.flatMap(([unit, { name, free }]) => {
    const each = usage[unit] ?? 0;
    return free === undefined || each === 0 ? [] : [{ times: Math.floor(free / each), unit: name }];
  });
  return limits.toSorted((a, b) => a.times - b.times)[0];
}
