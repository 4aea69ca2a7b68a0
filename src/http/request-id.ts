import { createRequestId } from "../requests/request-id.ts";
import type { Context } from "./context.ts";

/** Gives a request a new id. It has to happen before the response exists. */
export function setRequestId(c: Context): string {
  const id = createRequestId(Date.now());
  c.set("requestId", id);
  c.header("Request-Id", id);
  return id;
}
