import { env } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";

/** Random words that are put into every input, and looked for wherever they must not turn up. */

export const words: string[] = [];

/** A word that nobody has used before. */
export function canary(): string {
  const word = `canary${crypto.randomUUID().replaceAll("-", "")}`;
  words.push(word);
  return word;
}

/** The word as it is, and in base64, whatever stands before it. */
function spellings(word: string): string[] {
  const shifted = [0, 1, 2].map((shift) => btoa("x".repeat(shift) + word).slice(shift === 0 ? 0 : 4, -4));
  return [word, ...shifted];
}

/** The words that are in the text. */
export const found = (text: string): string[] => words.filter((word) => spellings(word).some((one) => text.includes(one)));

/** Every line that is logged during a test of the file that calls this. The words of the files before it are forgotten. */
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

/** Every row of every table. */
export async function dumpOfDatabase(): Promise<string> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'",
  ).all<{ name: string }>();
  const rows = await Promise.all(tables.map(async ({ name }) => (await env.DB.prepare(`SELECT * FROM ${name}`).all()).results));
  return JSON.stringify(rows);
}
