import { LIMITS } from "@item-vault/model/limits";

/** Lists of the service. */

/** Entries of a page: the most that the service gives. */
export const PAGE_ENTRIES_MAX = LIMITS.page;

export async function allOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** A value in a filter (contract 5.5, 5.9). */
export const quotedInFilter = (value: string): string => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
