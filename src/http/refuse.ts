import type { ContentfulStatusCode } from "hono/utils/http-status";
import { logRefusal } from "../log.ts";
import { describe } from "../model/failure.ts";
import type { Refusal } from "../model/result.ts";
import { type Context, traceOf } from "./context.ts";
import { kvErrors, kvFailure } from "./kv.ts";
import { NEAR_HEADERS } from "./near.ts";

/** Returns true if the service caused the failure, rather than a quota or the client. */
const isFault = (status: number): boolean => status >= 500 && status !== 507;

/** Writes the response of a failure (contract 4), and logs it if the fault is the service's. No other function writes an error body. */
export function refuse(c: Context, refusal: Refusal): Response {
  const isKv = c.get("kv") === true;
  const failure = isKv ? kvFailure(refusal.failure) : refusal.failure;
  const { kind, status, message, retryAfterSeconds } = describe(failure, c.req.param());
  if (isFault(status)) logRefusal(refusal, traceOf(c));
  c.header("Item-Vault-Error", kind);
  if (status === 401) c.header("WWW-Authenticate", "Bearer");
  if (status === 401 || isKv) c.header("Token-Expires", undefined);
  for (const name of NEAR_HEADERS) c.header(name, undefined);
  if (status === 416) c.header("Content-Range", `bytes */${failure.detail}`);
  if (status === 405) c.header("Allow", failure.detail);
  if (retryAfterSeconds !== undefined) c.header("Retry-After", String(retryAfterSeconds));
  return c.json(isKv ? { errors: kvErrors(kind, message) } : { status, message }, status as ContentfulStatusCode);
}
