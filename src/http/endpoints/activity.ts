import { LIMITS } from "../../model/limits.ts";
import { parseCount } from "../../model/query.ts";
import { ok, type Result } from "../../model/result.ts";
import { loadActivity } from "../../store/activity.ts";
import { presentActivity } from "../present-activity.ts";
import type { Call, ParseCall, Reply } from "../route.ts";
import { readableVaults } from "./vaults.ts";

/** Endpoint 11: the activity in the vaults that a token reads, newest first. Reading the log is not logged. */

interface Window {
  readonly limit: number;
  readonly offset: number;
}

export const listActivity = {
  parse({ query }: ParseCall): Result<Window> {
    const limit = parseCount(query.rest, "limit", 1, LIMITS.page);
    if (!limit.ok) return limit;
    const offset = parseCount(query.rest, "offset", 0, LIMITS.activityOffset);
    return offset.ok ? ok({ limit: limit.value ?? 50, offset: offset.value ?? 0 }) : offset;
  },
  async handle(call: Call, { limit, offset }: Window): Promise<Result<Reply>> {
    const { c, store, actor, claims, dialect } = call;
    const page = await loadActivity(store, claims, [...readableVaults(call), actor], limit, offset);
    if (!page.ok) return page;
    const { activities, total = "*" } = page.value;
    const range = activities.length > 0 ? `${offset + 1}-${offset + activities.length}` : "*";
    const presented = activities.map((activity) => presentActivity(activity, dialect));
    return ok({ response: c.json(presented, 200, { "Content-Range": `${range}/${total}` }) });
  },
};
