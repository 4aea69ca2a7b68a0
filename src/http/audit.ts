import type { Claims } from "../crypto/token.ts";
import type { Action, Activity, Origin } from "../model/activity.ts";
import { isId, parseId } from "../model/ids.ts";
import type { Result } from "../model/result.ts";
import { sealActivity } from "../store/activity.ts";
import { enqueueActivity } from "../store/activity-queue.ts";
import type { Store } from "../store/database.ts";
import { report } from "../store/report.ts";
import { isWorthLogging } from "./rate.ts";
import { requestId } from "./request-id.ts";
import type { Call } from "./route.ts";

/** The activity log of what writes nothing: reads and denials, on their way to a queue. Writes are logged by their commit. */

/** A request of a token's holder, as far as the handler knows it. */
export interface Visited {
  readonly store: Store;
  readonly claims: Claims;
  /** The vault; of the list of vaults the token's id. */
  readonly log: string;
  /** Whether the token lets its holder in. */
  readonly allowed: boolean;
  /** What was done, where the method does not say it. */
  readonly action?: Action;
  /** The version of the Item that was read. */
  readonly version?: number;
}

/** Adds to what is known of the request. */
export function note(c: Call, more: Partial<Visited>): void {
  c.set("visited", { ...c.get("visited")!, ...more });
}

/** Where a request comes from. Both texts are the client's own, or Cloudflare's, so they are cut and sealed. */
export const originOf = (c: Call): Origin => ({
  userAgent: (c.req.header("User-Agent") ?? "").slice(0, 256).toWellFormed(),
  requestIp: (c.req.header("CF-Connecting-IP") ?? "").slice(0, 64).toWellFormed(),
});

/** Sends what is to be logged of a request to the queue, off the request's path. */
export function record(c: Call, result: Result<unknown>): void {
  const visited = c.get("visited");
  const activity = visited && describeRequest(c, visited, result);
  if (activity) c.executionCtx.waitUntil(send(c, visited, activity));
}

async function send(c: Call, { store }: Visited, activity: Activity): Promise<void> {
  if (activity.result === "DENY" && !(await isWorthLogging(c, activity.actor))) return;
  try {
    await enqueueActivity(c.env.ACTIVITY, await sealActivity(store.keyring.active, activity));
  } catch (error) {
    report("the activity queue", error);
  }
}

const ACTIONS: Readonly<Record<string, Action>> = {
  GET: "READ",
  HEAD: "READ",
  POST: "CREATE",
  PUT: "UPDATE",
  PATCH: "UPDATE",
  DELETE: "DELETE",
};

/**
 * What the log says of a request, or nothing: of a write that was let in, because its commit says it, and of a read that
 * found nothing, or was malformed. A write to the Files of an Item is an update of the Item.
 */
function describeRequest(c: Call, visited: Visited, result: Result<unknown>): Activity | undefined {
  const { store, claims, log, version = null } = visited;
  const revoked = !result.ok && result.failure.kind === "unauthorized";
  const denied = !visited.allowed || revoked;
  const byMethod = ACTIONS[c.req.method]!;
  const action = visited.action ?? (byMethod !== "READ" && c.req.path.includes("/files") ? "UPDATE" : byMethod);
  if (!isId(log) || (!denied && (action !== "READ" || !result.ok))) return undefined;
  const item = parseId(c.req.param("item") ?? "");
  return {
    id: requestId(store.now),
    log,
    action,
    result: denied ? "DENY" : "SUCCESS",
    actor: claims.id,
    item: item !== undefined && isId(item) ? item : null,
    version,
    origin: originOf(c),
  };
}
