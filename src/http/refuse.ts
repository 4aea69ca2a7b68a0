import type { ContentfulStatusCode } from "hono/utils/http-status";
import { describe, type Failure } from "../model/failure.ts";
import type { Context } from "./context.ts";
import { NEAR_HEADERS } from "./near.ts";

/** Writes the response of a failure (contract 4). No other function writes an error body. */
export function refuse(c: Context, failure: Failure): Response {
  const { kind, status, message, retryAfterSeconds } = describe(failure, c.req.param());
  c.header("Item-Vault-Error", kind);
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  if (status === 401) c.header("Token-Expires", undefined);
  for (const name of NEAR_HEADERS) c.header(name, undefined);
  if (status === 416) c.header("Content-Range", `bytes */${failure.detail}`);
  if (status === 405) c.header("Allow", failure.detail);
  if (retryAfterSeconds !== undefined) c.header("Retry-After", String(retryAfterSeconds));
  return c.json({ status, message }, status as ContentfulStatusCode);
}
