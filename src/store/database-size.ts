import type { Settings } from "../settings.ts";

/** How full the database is, by the size that came with the last answer of D1 in this isolate. */

export type DatabaseLevel = "ok" | "warning" | "archive" | "refuse";

/** Bytes: the most that a D1 database holds (developers.cloudflare.com/d1/platform/limits). */
const LIMIT = 10_000_000_000;

/** Each level, and the part of the limit from which on it applies. */
const LEVELS: readonly (readonly [DatabaseLevel, number])[] = [
  ["refuse", 0.95],
  ["archive", 0.9],
  ["warning", 0.8],
];

let size = 0;

/** In: bytes, `meta.size_after` of an answer. */
export function recordDatabaseSize(bytes: number): void {
  size = bytes;
}

export const databaseLevel = (_settings: Settings): DatabaseLevel => LEVELS.find(([, part]) => size >= part * LIMIT)?.[0] ?? "ok";
