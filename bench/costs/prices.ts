/**
 * The price list of the platform (Workers Paid) and the limits of Workers Free. Read on 2026-11-22 in the pages below, as a public
 * archive has them. A price that changes is changed here, with the date; then `npm run bench -- costs` writes the tables again.
 */

export const PRICES_READ_ON = "2026-11-22";
export const PRICE_PAGES = [
  "https://developers.cloudflare.com/workers/platform/pricing/",
  "https://developers.cloudflare.com/d1/platform/pricing/",
  "https://developers.cloudflare.com/durable-objects/platform/pricing/",
  "https://developers.cloudflare.com/r2/pricing/",
  "https://developers.cloudflare.com/queues/platform/pricing/",
] as const;

/** The dollars of Workers Paid in each month. */
export const PLAN_DOLLARS = 5;

/** One thing that the platform charges for. */
export interface Price {
  readonly name: string;
  /** Dollars for a million units beyond the included ones. */
  readonly perMillion: number;
  /** Units in a month of Workers Paid. */
  readonly included: number;
  /** Units in a day of Workers Free; absent where it has no limit by the day. */
  readonly free?: number;
}

export const PRICES = {
  requests: { name: "Worker requests", perMillion: 0.3, included: 10e6, free: 100_000 },
  cpu: { name: "CPU, in ms", perMillion: 0.02, included: 30e6 },
  rowsRead: { name: "rows read", perMillion: 0.001, included: 25e9, free: 5_000_000 },
  rowsWritten: { name: "rows written", perMillion: 1, included: 50e6, free: 100_000 },
  objectRequests: { name: "Durable Object requests", perMillion: 0.15, included: 1e6, free: 100_000 },
  /** A Durable Object is charged as 128 MB while it runs. */
  objectDuration: { name: "Durable Object duration, in GB-s", perMillion: 12.5, included: 400_000, free: 13_000 },
  objectRows: { name: "rows written by Durable Objects", perMillion: 1, included: 50e6, free: 100_000 },
  r2Writes: { name: "R2 class A", perMillion: 4.5, included: 1e6 },
  r2Reads: { name: "R2 class B", perMillion: 0.36, included: 10e6 },
  queue: { name: "queue operations", perMillion: 0.4, included: 1e6, free: 10_000 },
} as const satisfies Record<string, Price>;

export type Unit = keyof typeof PRICES;

/** Dollars for a GB in a month, and the GB that are included. */
export const STORAGE = {
  d1: { perGb: 0.75, included: 5 },
  r2: { perGb: 0.015, included: 10 },
} as const;
