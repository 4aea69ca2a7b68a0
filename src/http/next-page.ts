import type { Context } from "./context.ts";

/** The header `Link` with the URL of the next page (RFC 8288): the path of the request, with another query. */
export function nextPage(c: Context, query: string): string {
  const url = new URL(c.req.url);
  url.search = query;
  return `<${url.href}>; rel="next"`;
}
