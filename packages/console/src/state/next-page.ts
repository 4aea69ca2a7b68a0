/** Returns the cursor of the next page from the headers of a page; `undefined` after the last one. */
export function nextCursor(headers: Headers): string | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return link === undefined ? undefined : (new URL(link, location.origin).searchParams.get("cursor") ?? undefined);
}
