import type { Context as HonoContext } from "hono";
import type { KvOperationId } from "../api/doors.ts";
import type { OperationId } from "../api/operations.ts";
import type { VerifiedClaims } from "../crypto/token.ts";
import type { Trace } from "../log.ts";
import { createRequestId } from "../request-id.ts";

/** The values that Hono carries through a request. `requestId` is set before any handler runs. */
export type App = {
  Bindings: Env;
  /**
   * `operation`: absent on a path of no operation. `admin`: the token of the admin routes that the request has in place of ADMIN_TOKEN (contract
   * 8.18). `kv`: true below `/vault` (contract 29).
   */
  Variables: { requestId: string; operation?: OperationId | KvOperationId; admin?: VerifiedClaims; kv?: true };
};
export type Context = HonoContext<App>;

/** Returns the request's data for log lines. */
export function traceOf(c: Context): Trace {
  const operation = c.get("operation");
  return { request: c.get("requestId"), ...(operation && { operation }) };
}

/** Returns the client's address; absent if the platform gives none. */
export const addressOf = (c: Context): string | undefined => c.req.header("CF-Connecting-IP");

const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Returns true if the request came to this machine: the service runs in `npm start` or `wrangler dev`. */
export const isLocal = (c: Context): boolean => LOCAL.has(new URL(c.req.url).hostname);

/** Gives a request a new id. It must happen before the response exists. */
export function setRequestId(c: Context): string {
  const id = createRequestId(Date.now());
  c.set("requestId", id);
  c.header("Request-Id", id);
  return id;
}
