import { type Context, isLocal } from "./context.ts";

/**
 * Returns the header `Link` with the URL of the next page (RFC 8288): the path of the request with the query `query`. Without a
 * query, on the last page, there is no such header.
 */
export function nextPage(c: Context, query: string | undefined): Record<string, string> {
  if (query === undefined) return {};
  const url = new URL(c.req.url);
  url.search = query;
  return { Link: `<${url.href}>; rel="next"` };
}

/**
 * Returns the headers of an answer that no intermediary may compress (contract 1.7). net/http of Ruby does not decompress an answer with a
 * `Content-Range`, and a stream must not be held back. The local server compresses in spite of `no-transform` (RFC 9111 section 5.2.2.6),
 * unless the answer names an encoding.
 */
export const uncompressed = (c: Context): Record<string, string> => ({
  "Cache-Control": "no-store, no-transform",
  ...(isLocal(c) && { "Content-Encoding": "identity" }),
});

/**
 * Returns the header that counts the broken parts of an answer, including parts that it leaves out. The header is absent if the
 * count is 0 (contract 9.14, 11.10).
 */
export const brokenHeader = (count = 0): Record<string, string> => (count > 0 ? { "Item-Vault-Broken": String(count) } : {});
