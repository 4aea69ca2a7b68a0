import { Hono } from "hono";
import type { AnswerBody } from "../api/answer.ts";
import type { OpenAccess } from "../api/operation.ts";
import { type OperationId, OPERATIONS } from "../api/operations.ts";
import { failedBy } from "../log.ts";
import { COMMON_HEADERS } from "../model/common-headers.ts";
import { fail } from "../model/result.ts";
import { isFromOtherOrigin } from "./console-session.ts";
import { type App, setRequestId } from "./context.ts";
import * as endpoints from "./endpoints.ts";
import { plainPath } from "./parts.ts";
import { serve } from "./pipeline.ts";
import { refuse } from "./refuse.ts";
import { type Handler, type OpenHandler, type OpenRoute, type PathHandler, respond, type Route, servePath } from "./route.ts";

/** The handlers of the operations of the API (src/api/operations.ts). An endpoint exports each handler under the operation's id. */

type OpenId = {
  readonly [Id in OperationId]: (typeof OPERATIONS)[Id]["access"] extends OpenAccess ? Id : never;
}[OperationId];
type GuardedId = Exclude<OperationId, OpenId>;

type Handlers = { readonly [Id in OpenId]: OpenHandler<AnswerBody<Id>> } & {
  readonly [Id in GuardedId]: Handler<AnswerBody<Id>> | PathHandler<AnswerBody<Id>>;
};

const HANDLERS: Handlers = endpoints;

const ids = Object.keys(OPERATIONS) as OperationId[];
const isGuarded = (id: OperationId): id is GuardedId => "action" in OPERATIONS[id];

/** The routes that the pipeline serves. */
export const ROUTES: readonly Route[] = ids.flatMap((id) => {
  if (!isGuarded(id)) return [];
  const handler: Handler | PathHandler = HANDLERS[id];
  return [{ id, ...OPERATIONS[id], ...(typeof handler === "function" ? servePath(handler) : handler) }];
});

/** The routes without a guard. */
export const OPEN_ROUTES: readonly OpenRoute[] = ids.flatMap((id) =>
  isGuarded(id) ? [] : [{ id, ...OPERATIONS[id], open: HANDLERS[id] }],
);

const HEADERS = Object.entries(COMMON_HEADERS);

/** The service as a Hono application. */
export const app = new Hono<App>({ getPath: plainPath });

app.use(async (c, next) => {
  setRequestId(c);
  // Set before the response exists: each header that is set afterwards costs a new Response.
  for (const [name, value] of HEADERS) c.header(name, value);
  await next();
});

// Without its secret, a route does not exist.
app.use("/metrics", async (c, next) => (c.env.METRICS_TOKEN ? next() : c.notFound()));
app.use("/v1/admin/*", async (c, next) => (c.env.ADMIN_TOKEN ? next() : c.notFound()));

for (const route of OPEN_ROUTES) {
  app.on(route.method, route.path, async (c) => {
    c.set("operation", route.id);
    // Checked before any limit of the address, so that a foreign page does not use up its visitor's limit.
    const result = route.method === "POST" && isFromOtherOrigin(c) ? fail("cross_site") : await route.open(c);
    return result.ok ? respond(c, result.value) : refuse(c, result);
  });
}
for (const route of ROUTES)
  app.on(route.method, route.path, (c) => {
    c.set("operation", route.id);
    return serve(route, c);
  });

// A person who opens the address of the service gets the console. Every other client gets the 404 of an unknown path.
app.get("/", (c) => (/\btext\/html\b/i.test(c.req.header("Accept") ?? "") ? c.redirect("/console/") : c.notFound()));
// A browser asks for it beside each page that names no icon.
app.get("/favicon.ico", (c) => c.redirect("/console/icon.svg"));

// Every other method on a path of the table is a 405 (RFC 9110 section 15.5.6).
for (const [path, routes] of Map.groupBy([...OPEN_ROUTES, ...ROUTES], (route) => route.path)) {
  const served = routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  app.all(path, (c) => refuse(c, fail("method_not_allowed", served.join(", "))));
}

app.notFound((c) => refuse(c, fail("route_not_found")));

app.onError((error, c) => refuse(c, failedBy("A request", error)));
