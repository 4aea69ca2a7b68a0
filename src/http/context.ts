import type { Context as HonoContext } from "hono";

/** What Hono carries through a request. `requestId` is set before any handler runs. */
export type App = { Bindings: Env; Variables: { requestId: string } };
export type Context = HonoContext<App>;
