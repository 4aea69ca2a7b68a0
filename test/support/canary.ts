import { env } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";

/** Canaries: random words that tests put into every input, and search in all places that must not contain them. */

export const words: string[] = [];

/** A new random word. */
export function canary(): string {
  const word = `canary${crypto.randomUUID().replaceAll("-", "")}`;
  words.push(word);
  return word;
}

/** The word in plaintext, and in base64 at each of the three offsets. */
function spellings(word: string): string[] {
  const shifted = [0, 1, 2].map((shift) => btoa("x".repeat(shift) + word).slice(shift === 0 ? 0 : 4, -4));
  return [word, ...shifted];
}

/** The words that the text contains, in plaintext or in base64. */
export const found = (text: string): string[] => words.filter((word) => spellings(word).some((one) => text.includes(one)));

/** Collects every line that is logged during the tests of the calling file. Also clears the words of previous files. */
export function captureLog(): readonly string[] {
  words.length = 0;
  const lines: string[] = [];
  beforeEach(() => {
    for (const method of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, method).mockImplementation((...values) => void lines.push(values.map(String).join(" ")));
    }
  });
  afterEach(() => vi.restoreAllMocks());
  return lines;
}

async function rowsOf(table: string): Promise<string> {
  const { results } = await env.DB.prepare(`SELECT * FROM ${table}`).all();
  return JSON.stringify(results);
}

/** Every row of every table, as JSON, by table. */
export async function rowsByTable(): Promise<Readonly<Record<string, string>>> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  ).all<{ name: string }>();
  return Object.fromEntries(await Promise.all(tables.map(async ({ name }) => [name, await rowsOf(name)] as const)));
}

const LOGS: ReadonlySet<string> = new Set(["activity", "log_segments", "logs"]);

/** The names of tables that differ between two states, but for those of the log. */
export const changedTables = (before: Readonly<Record<string, string>>, after: typeof before): string[] =>
  Object.keys(after).filter((name) => after[name] !== before[name] && !LOGS.has(name));

/** Every row of every table, as JSON. */
export const dumpOfDatabase = async (): Promise<string> => Object.values(await rowsByTable()).join();
