import type { Context as HonoContext } from "hono";

/** What Hono carries through a request. `requestId` is set before any handler runs. */
export type App = { Bindings: Env; Variables: { requestId: string } };
export type Context = HonoContext<App>;

/** The client's address; absent where the platform gives none. */
export const addressOf = (c: Context): string | undefined => c.req.header("CF-Connecting-IP");

const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Whether the request came to this machine: the service runs in `npm start` or `wrangler dev`. */
export const isLocal = (c: Context): boolean => LOCAL.has(new URL(c.req.url).hostname);
