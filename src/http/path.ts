import { getPath } from "hono/utils/url";

/** The path to route by: a doubled `//` and a trailing slash are served as the plain path (contract 1), never redirected. */
export function plainPath(request: Request): string {
  const path = getPath(request).replace(/\/{2,}/g, "/");
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The query as the client wrote it, undecoded. */
export function rawQuery(url: string): string {
  const [beforeFragment = ""] = url.split("#", 1);
  const start = beforeFragment.indexOf("?");
  return start < 0 ? "" : beforeFragment.slice(start + 1);
}
