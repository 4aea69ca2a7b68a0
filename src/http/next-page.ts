import type { Context } from "./context.ts";

/**
 * The header `Link` with the URL of the next page (RFC 8288): the path of the request, with another query. In: that query; absent
 * on the last page, which has no such header.
 */
export function nextPage(c: Context, query: string | undefined): Record<string, string> {
  if (query === undefined) return {};
  const url = new URL(c.req.url);
  url.search = query;
  return { Link: `<${url.href}>; rel="next"` };
}
