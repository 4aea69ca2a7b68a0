import { Hono } from "hono";
import type { AnswerBody } from "../api/answer.ts";
import { KV_OPERATIONS, type KvOperationId } from "../api/doors.ts";
import type { OpenAccess } from "../api/operation.ts";
import { type OperationId, OPERATIONS } from "../api/operations.ts";
import { failedBy } from "../log.ts";
import { COMMON_HEADERS } from "../model/common-headers.ts";
import { fail } from "../model/result.ts";
import { parseDoors } from "../settings.ts";
import { isFromOtherOrigin } from "./console-session.ts";
import { type App, setRequestId } from "./context.ts";
import * as endpoints from "./endpoints.ts";
import { faultOfKvHeaders } from "./kv.ts";
import { plainPath } from "./parts.ts";
import { serve } from "./pipeline.ts";
import { refuse } from "./refuse.ts";
import { type Handler, type OpenHandler, type OpenRoute, type PathHandler, respond, type Route, servePath } from "./route.ts";

/**
 * The handlers of the operations of the API (src/api/operations.ts) and of the other APIs (src/api/doors.ts). An endpoint exports each handler
 * under the operation's id.
 */

const TABLE = { ...OPERATIONS, ...KV_OPERATIONS };
type Id = keyof typeof TABLE;
type OpenId = { readonly [One in Id]: (typeof TABLE)[One]["access"] extends OpenAccess ? One : never }[Id];
type GuardedId = Exclude<Id, OpenId>;
type BodyOf<One extends Id> = One extends OperationId ? AnswerBody<One> : unknown;

type Handlers = { readonly [One in OpenId]: OpenHandler<BodyOf<One>> } & {
  readonly [One in GuardedId]: Handler<BodyOf<One>> | PathHandler<BodyOf<One>>;
};

const HANDLERS: Handlers = endpoints;

const isGuarded = (id: Id): id is GuardedId => "action" in TABLE[id];

const routesOf = (ids: readonly Id[]): Route[] =>
  ids.flatMap((id) => {
    if (!isGuarded(id)) return [];
    const handler: Handler | PathHandler = HANDLERS[id];
    return [{ id, ...TABLE[id], ...(typeof handler === "function" ? servePath(handler) : handler) }];
  });
const openRoutesOf = (ids: readonly Id[]): OpenRoute[] =>
  ids.flatMap((id) => (isGuarded(id) ? [] : [{ id, ...TABLE[id], open: HANDLERS[id] }]));

const ids = Object.keys(OPERATIONS) as OperationId[];
const kvIds = Object.keys(KV_OPERATIONS) as KvOperationId[];

/** The routes that the pipeline serves. */
export const ROUTES: readonly Route[] = routesOf(ids);

/** The routes without a guard. */
export const OPEN_ROUTES: readonly OpenRoute[] = openRoutesOf(ids);

const HEADERS = Object.entries(COMMON_HEADERS);

function createApp(): Hono<App> {
  const created = new Hono<App>({ getPath: plainPath });
  created.use(async (c, next) => {
    setRequestId(c);
    // Set before the response exists: each header that is set afterwards costs a new Response.
    for (const [name, value] of HEADERS) c.header(name, value);
    await next();
  });
  created.onError((error, c) => refuse(c, failedBy("A request", error)));
  return created;
}

/** Serves routes, and answers every other method on their paths with a 405 (RFC 9110 section 15.5.6). */
function serveRoutes(on: Hono<App>, open: readonly OpenRoute[], guarded: readonly Route[], postIsPut = false): void {
  const methodsOf = ({ method }: Pick<Route, "method">): string[] =>
    postIsPut && method === "POST" ? ["POST", "PUT"] : [method];
  for (const route of open)
    on.on(methodsOf(route), route.path, async (c) => {
      c.set("operation", route.id);
      // Checked before any limit of the address, so that a foreign page does not use up its visitor's limit.
      const result = route.method === "POST" && isFromOtherOrigin(c) ? fail("cross_site") : await route.open(c);
      return result.ok ? respond(c, result.value) : refuse(c, result);
    });
  for (const route of guarded)
    on.on(methodsOf(route), route.path, (c) => {
      c.set("operation", route.id);
      return serve(route, c);
    });
  for (const [path, routes] of Map.groupBy([...open, ...guarded], (route) => route.path)) {
    const served = routes.flatMap((route) => (route.method === "GET" ? ["GET", "HEAD"] : methodsOf(route)));
    on.all(path, (c) => refuse(c, fail("method_not_allowed", served.join(", "))));
  }
}

/** The read API of Vault KV v2. It has a router of its own, because one with its ambiguous paths would be slower for every request. */
const kv = createApp();
kv.use(async (c, next) => {
  c.set("kv", true);
  const fault = faultOfKvHeaders(c);
  return fault ? refuse(c, fault) : next();
});
serveRoutes(kv, openRoutesOf(kvIds), routesOf(kvIds), true);
kv.notFound((c) =>
  refuse(
    c,
    c.req.method === "GET" || c.req.method === "HEAD" ? fail("route_not_found") : fail("method_not_allowed", "GET, HEAD"),
  ),
);

/** The service as a Hono application. */
export const app = createApp();

// Without its secret, a route does not exist.
app.use("/metrics", async (c, next) => (c.env.METRICS_TOKEN ? next() : c.notFound()));
app.use("/v1/admin/*", async (c, next) => (c.env.ADMIN_TOKEN ? next() : c.notFound()));
app.all("/vault/*", (c) => {
  const doors = parseDoors(c.env.DOORS);
  if (!doors.ok) {
    c.set("kv", true);
    return refuse(c, doors);
  }
  return doors.value.includes("vault") ? kv.fetch(c.req.raw, c.env, c.executionCtx) : c.notFound();
});

serveRoutes(app, OPEN_ROUTES, ROUTES);

// A person who opens the address of the service gets the console. Every other client gets the 404 of an unknown path.
app.get("/", (c) => (/\btext\/html\b/i.test(c.req.header("Accept") ?? "") ? c.redirect("/console/") : c.notFound()));
// A browser asks for it for each page that names no icon.
app.get("/favicon.ico", (c) => c.redirect("/console/icon.svg"));

app.notFound((c) => refuse(c, fail("route_not_found")));
