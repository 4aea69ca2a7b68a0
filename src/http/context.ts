import type { Context as HonoContext } from "hono";

/** What Hono carries through a request. `requestId` is set before any handler runs. */
export type App = { Bindings: Env; Variables: { requestId: string } };
export type Context = HonoContext<App>;

/** The client's address; absent where the platform gives none. */
export const addressOf = (c: Context): string | undefined => c.req.header("CF-Connecting-IP");
