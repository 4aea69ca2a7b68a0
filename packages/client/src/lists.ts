import type { Answer, CallOptions } from "./call.ts";
import type { Client } from "./client.ts";
import type { Operations } from "./schema.ts";

/** Lists of the service. */

/** A client that sends typed requests only. */
export type Caller = Pick<Client, "call">;

/** The operations whose answer is a list. */
type Lists = {
  [N in keyof Operations]: Operations[N]["answer"] extends readonly unknown[] ? N : never;
}[keyof Operations];
export type Listed<N extends Lists> = Operations[N]["answer"][number];

/**
 * The entries of a list, page after page (contract 11.3). The query of `options` is that of the first page; the links carry it on. `onPage`
 * gets the headers of each page. Throws the ItemVaultError of a request.
 */
export async function* entriesOf<N extends Lists>(
  client: Caller,
  operation: N,
  options: CallOptions<N>,
  onPage: (headers: Answer<N>["headers"]) => void = () => undefined,
): AsyncGenerator<Listed<N>> {
  for (let query: object | undefined = {}; query;) {
    const { data, headers } = await client.call(operation, { ...options, ...query });
    onPage(headers);
    yield* data as Listed<N>[];
    query = nextQuery(headers.get("Link") ?? "");
  }
}

/** The query of the next page. The rest of a link is not used: behind a proxy, the service has another name or path. */
function nextQuery(links: string): { readonly query: Readonly<Record<string, string>> } | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(links) ?? [];
  if (link === undefined) return undefined;
  return { query: Object.fromEntries(new URL(link, "http://host").searchParams) };
}
