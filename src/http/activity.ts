import { covers } from "../crypto/token.ts";
import { LIMITS } from "../model/limits.ts";
import { readCount, readQuery } from "../model/query.ts";
import { ok, type Result } from "../model/result.ts";
import { readActivity } from "../store/activity.ts";
import { authenticate } from "./enter.ts";
import { rawQuery } from "./path.ts";
import { presentActivity } from "./present.ts";
import type { Handler } from "./route.ts";

/** Endpoint 11: what was done in the vaults that a token reads, newest first. Reading it is not logged. */

export const listActivity: Handler = async (c) => {
  const caller = await authenticate(c);
  if (!caller.ok) return caller;
  const { store, claims } = caller.value;
  const asked = readWindow(readQuery(rawQuery(c.req.url)).rest);
  const { limit, offset } = asked.ok ? asked.value : { limit: 1, offset: 0 };
  const readable = Object.keys(claims.vaults).filter((vault) => covers(claims.vaults[vault], "r"));
  const page = await readActivity(store, claims.id, [...readable, claims.id], limit, offset);
  if (!page.ok) return page;
  if (!asked.ok) return asked; // whether the token was revoked comes first
  const { activities, total = "*" } = page.value;
  const range = activities.length > 0 ? `${offset + 1}-${offset + activities.length}` : "*";
  const presented = activities.map((activity) => presentActivity(activity, claims.dialect));
  return ok(c.json(presented, 200, { "Content-Range": `${range}/${total}` }));
};

/** `limit` and `offset`. Errors: 400. */
function readWindow(query: URLSearchParams): Result<{ limit: number; offset: number }> {
  const limit = readCount(query, "limit", 1, LIMITS.page);
  if (!limit.ok) return limit;
  const offset = readCount(query, "offset", 0, LIMITS.activityOffset);
  return offset.ok ? ok({ limit: limit.value ?? 50, offset: offset.value ?? 0 }) : offset;
}
