import { NOWHERE } from "../../crypto/seal.ts";
import { isId, parseId } from "../../model/ids.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { readableVaults } from "../../model/permission.ts";
import { parseCount } from "../../model/query.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import { NEWEST } from "../../store/activity-merge.ts";
import { type ActivityPage, loadPageAt, loadPageBefore } from "../../store/activity-page.ts";
import { nextPage } from "../next-page.ts";
import { presentActivity } from "../present-activity.ts";
import type { Call, ParseCall, Reply } from "../route.ts";

/** The activity logs, newest entry first: endpoint 11 and the admin's. Reading a log is not logged. */

interface Window {
  readonly limit: number;
  /** The id that is newer than the page; absent: the page is given by its offset. */
  readonly before: string | undefined;
  readonly offset: number;
}

function parse({ query: { rest } }: ParseCall): Result<Window> {
  const limit = parseCount(rest, "limit", 1, LIMITS.page);
  if (!limit.ok) return limit;
  const offset = parseCount(rest, "offset", 0, LIMITS.activityOffset);
  if (!offset.ok) return offset;
  const before = parseId(rest.get("before") ?? NOWHERE);
  if (before === undefined || !isId(before)) return invalid("before: is not the id of an entry");
  if (rest.has("before") && rest.has("offset")) return invalid("before: does not go with offset");
  return ok({ limit: limit.value ?? 50, offset: offset.value ?? 0, before: rest.has("before") ? before : undefined });
}

/** The activity in the vaults that a token reads. */
export const listActivity = {
  parse,
  async handle(call: Call, { limit, offset, before }: Window): Promise<Result<Reply>> {
    const { store, actor, claims } = call;
    // A token may name any id as a vault; this one is the log of the admin.
    const logs = [...readableVaults(call).filter((vault) => vault !== NOWHERE), actor];
    if (before !== undefined) return present(call, limit, await loadPageBefore(store, { claims, logs }, before, limit));
    const page = await loadPageAt(store, { claims, logs }, offset, limit);
    if (!page.ok) return page;
    const { activities, total = "*" } = page.value;
    const range = activities.length > 0 ? `${offset + 1}-${offset + activities.length}` : "*";
    return present(call, limit, page, { "Content-Range": `${range}/${total}` });
  },
};

/** What the admin did, and who was refused as the admin. */
export const listAdminActivity = {
  parse,
  handle: async (call: Call, { limit, before = NEWEST }: Window): Promise<Result<Reply>> =>
    present(call, limit, await loadPageBefore(call.store, { claims: ADMIN, logs: [NOWHERE] }, before, limit)),
};

/** net/http of Ruby does not decompress an answer with a `Content-Range`, so nothing on the way may compress it. */
const UNCOMPRESSED = { "Cache-Control": "no-store, no-transform" };

/** The answer, with a link to the next page (RFC 8288) unless it is the last. */
function present(
  { c, dialect }: Call,
  limit: number,
  page: Result<ActivityPage>,
  headers: Record<string, string> = {},
): Result<Reply> {
  if (!page.ok) return page;
  const { activities, next } = page.value;
  const link = nextPage(c, next && `limit=${limit}&before=${next}`);
  const presented = activities.map((activity) => presentActivity(activity, dialect));
  return ok({ response: c.json(presented, 200, { ...UNCOMPRESSED, ...headers, ...link }) });
}
