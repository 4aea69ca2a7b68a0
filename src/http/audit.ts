import type { Activity, Origin } from "../model/activity.ts";
import { isId } from "../model/ids.ts";
import { ADMIN } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import { logFailure } from "../log.ts";
import { sealActivity } from "../store/activity.ts";
import { enqueueActivity } from "../store/activity-queue.ts";
import type { Context } from "./context.ts";
import { isWorthLogging } from "./rate-limit.ts";
import type { Caller, Reply, Route, Target } from "./route.ts";

/** Logs reads and denials of tokens, through a queue. The commit of a write logs the write. */

/** Where a request comes from. The client may choose both texts, so they are cut and sealed. */
export const originOf = (c: Context): Origin => ({
  userAgent: (c.req.header("User-Agent") ?? "").slice(0, 256).toWellFormed(),
  requestIp: (c.req.header("CF-Connecting-IP") ?? "").slice(0, 64).toWellFormed(),
});

/** Sends the log entry of a request to the queue, after the response. In: whether the token is authorized. */
export function audit(route: Route, caller: Caller, target: Target, allowed: boolean, result: Result<Reply>): void {
  const activity = activityOf(route, caller, target, allowed, result);
  if (activity) caller.c.executionCtx.waitUntil(send(caller, activity));
}

async function send({ c, store }: Caller, activity: Activity): Promise<void> {
  if (activity.result === "DENY" && !(await isWorthLogging(c, activity.actor))) return;
  try {
    await enqueueActivity(c.env.ACTIVITY, await sealActivity(store.keyring.active, activity));
  } catch (error) {
    logFailure("The activity queue", error);
  }
}

/**
 * The log entry of a request: a read that succeeded, or a denial. No entry: a write that was allowed, because its commit
 * logs it; a read that found nothing or was malformed. The entry of a list of vaults is in the log of the token.
 */
function activityOf(
  { action: routeAction }: Route,
  { c, actor }: Caller,
  { vault, item }: Target,
  allowed: boolean,
  result: Result<Reply>,
): Activity | undefined {
  const revoked = !result.ok && result.failure.kind === "unauthorized";
  const denied = !allowed || revoked;
  const reply = result.ok ? result.value : undefined;
  const action = reply?.action ?? routeAction;
  const log = vault || actor;
  if (action === "UNLOGGED" || actor === ADMIN || !isId(log)) return undefined;
  if (!denied && (action !== "READ" || !reply)) return undefined;
  return {
    id: c.get("requestId"),
    log,
    action,
    result: denied ? "DENY" : "SUCCESS",
    actor,
    item: isId(item) ? item : null,
    version: reply?.version ?? null,
    origin: originOf(c),
  };
}
