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

/**
 * The entries of a list, page after page (contract 11.3). `query` is that of the first page; the links carry it on. `onPage` gets the headers
 * of each page.
 */
export async function* entriesOf<T>(
  client: Client,
  path: string,
  query?: RequestOptions["query"],
  onPage: (headers: Headers) => void = () => undefined,
): AsyncGenerator<T> {
  for (let rest = query; ;) {
    const response: Response = await client.send("GET", path, rest ? { query: rest } : {});
    onPage(response.headers);
    yield* await jsonOf<T[]>(response);
    const next = nextQuery(response);
    if (!next) return;
    rest = next;
  }
}

export async function allOf<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

/** The query of the next page. The rest of a link is not used: behind a proxy, the service has another name or path. */
function nextQuery(response: Response): Record<string, string> | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "") ?? [];
  if (link === undefined) return undefined;
  return Object.fromEntries(new URL(link, response.url).searchParams);
}

/** A value in a filter (contract 5.5, 5.9). */
export const quotedInFilter = (value: string): string => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
