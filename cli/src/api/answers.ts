import type { Client, RequestOptions } from "@item-vault/client";
import { CliError } from "../frame/failure.ts";

/** Answers of the service as values. */

/** The JSON of an answer. Errors: throws a CliError when the connection ended within the answer (contract 4.10). */
export async function jsonOf<T>(response: Response): Promise<T> {
  try {
    return (await response.json()) as T;
  } catch {
    throw new CliError("The answer of the service ended early", { exit: "unavailable", hint: "Run the command again." });
  }
}

/** Sends a request. Out: the JSON of the answer. */
export const request = async <T>(client: Client, method: string, path: string, options?: RequestOptions): Promise<T> =>
  jsonOf<T>(await client.send(method, path, options));

/** The entries of a list, page after page (contract 11.3). `query` is that of the first page; the links carry it on. */
export async function* entriesOf<T>(client: Client, path: string, query?: RequestOptions["query"]): AsyncGenerator<T> {
  let next: { path: string; query?: RequestOptions["query"] } | undefined = { path, ...(query ? { query } : {}) };
  while (next) {
    const response: Response = await client.send("GET", next.path, next.query ? { query: next.query } : {});
    yield* await jsonOf<T[]>(response);
    next = nextOf(response);
  }
}

export async function allOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** The path of the next page: a link leads to the same service, whatever name a proxy gave it. */
function nextOf(response: Response): { path: string } | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  if (link === undefined) return undefined;
  const { pathname, search } = new URL(link, response.url);
  return { path: pathname + search };
}

/** A value in a filter (contract 5.5, 5.9). */
export const quotedInFilter = (value: string): string => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
