import type { Settings } from "../../settings.ts";

/**
 * The size of the database as D1 reports it with every answer (`meta.size_after`, bytes). Deleted rows make it smaller at
 * once; an UPDATE to a shorter text may leave it as it is. Each isolate knows the size from its own last D1 call.
 */

/**
 * Levels of the database's size. `archive`: reads and denials should not go into D1. `refuse`: no write may enlarge its vault.
 * `shrink`: a write must make its vault smaller, because the log entry of each write takes space too.
 */
export type DatabaseLevel = "ok" | "warning" | "archive" | "refuse" | "shrink";

/** The share of DATABASE_LIMIT_MB from which a level holds, the highest first. */
export const LEVELS: readonly (readonly [DatabaseLevel, share: number])[] = [
  ["shrink", 0.98],
  ["refuse", 0.95],
  ["archive", 0.9],
  ["warning", 0.8],
];

let lastSize: number | undefined;

/** Records the size in bytes that an answer of D1 reports. */
export function recordDatabaseSize(bytes: number): void {
  lastSize = bytes;
}

/** Bytes; `undefined` before the first D1 call of this isolate. */
export const databaseSize = (): number | undefined => lastSize;

/** Returns true if the last known size, plus `bytes`, reaches a level or a higher one. */
export function reachesLevel({ databaseLimit }: Pick<Settings, "databaseLimit">, level: DatabaseLevel, bytes = 0): boolean {
  const [, share] = LEVELS.find(([name]) => name === level) ?? ["ok", 0];
  return (lastSize ?? 0) + bytes >= share * databaseLimit;
}

/** Returns the level of the last known size. An unknown size is `ok`. */
export function databaseLevel({ databaseLimit }: Pick<Settings, "databaseLimit">): DatabaseLevel {
  const size = lastSize ?? 0;
  return LEVELS.find(([, share]) => size >= share * databaseLimit)?.[0] ?? "ok";
}
