import { covers } from "../crypto/token.ts";
import { LIMITS } from "../model/limits.ts";
import { readCount, readQuery } from "../model/query.ts";
import { ok } from "../model/result.ts";
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
  const { rest } = readQuery(rawQuery(c.req.url));
  const limit = readCount(rest, "limit", 1, LIMITS.page);
  if (!limit.ok) return limit;
  const offset = readCount(rest, "offset", 0, LIMITS.activityOffset);
  if (!offset.ok) return offset;
  const readable = Object.keys(claims.vaults).filter((vault) => covers(claims.vaults[vault], "r"));
  const first = offset.value ?? 0;
  const page = await readActivity(store, claims.id, [...readable, claims.id], limit.value ?? 50, first);
  if (!page.ok) return page;
  const { activities, total = "*" } = page.value;
  const range = activities.length > 0 ? `${first + 1}-${first + activities.length}` : "*";
  const presented = activities.map((activity) => presentActivity(activity, claims.dialect));
  return ok(c.json(presented, 200, { "Content-Range": `${range}/${total}` }));
};
