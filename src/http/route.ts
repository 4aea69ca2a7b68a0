import type { Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { describe, type Failure } from "../model/failure.ts";
import { fail, type Result } from "../model/result.ts";
import { record, type Visited } from "./audit.ts";

/** How a path is served: by a table of handlers, one a method; what they fail with is written here and nowhere else. */

export type App = { Bindings: Env; Variables: { visited?: Visited } };
export type Call = Context<App>;
export type Handler = (c: Call) => Promise<Result<Response>>;

/** Serves a path. Every other method is a 405 that names those that are served (RFC 9110 section 15.5.6). */
export function route(app: Hono<App>, path: string, handlers: Readonly<Record<string, Handler>>): void {
  for (const [method, handler] of Object.entries(handlers)) {
    app.on(method, path, async (c) => {
      const result = await handler(c);
      record(c, result);
      return result.ok ? result.value : refuse(c, result.failure);
    });
  }
  const served = Object.keys(handlers).flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  app.all(path, (c) => refuse(c, fail("method_not_allowed", served.join(", ")).failure));
}

/** The one place that writes an error body (contract 1.4). */
export function refuse(c: Call, failure: Failure): Response {
  const { vault, item, file, token } = c.req.param() as Record<string, string>;
  const { status, message, retryAfterSeconds } = describe(failure, { vault, item, file, token });
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  if (status === 416) c.header("Content-Range", `bytes */${failure.detail}`);
  if (status === 405) c.header("Allow", failure.detail);
  if (retryAfterSeconds !== undefined) c.header("Retry-After", String(retryAfterSeconds));
  return c.json({ status, message }, status as ContentfulStatusCode);
}
