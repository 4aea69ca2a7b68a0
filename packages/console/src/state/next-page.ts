/** Pages of a list (contract 11.3). */

/** The cursor of the next page; `undefined` after the last one. In: the headers of a page. */
export function nextCursor(headers: Headers): string | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return link === undefined ? undefined : (new URL(link, location.origin).searchParams.get("cursor") ?? undefined);
}
