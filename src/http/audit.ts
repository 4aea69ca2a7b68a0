import { NOWHERE } from "../crypto/seal.ts";
import { actorOf, type Claims, rootOf } from "../crypto/token.ts";
import type { Action, Activity, Origin } from "../model/activity.ts";
import type { Failure } from "../model/failure.ts";
import { isId } from "../model/ids.ts";
import { ADMIN } from "../model/operation.ts";
import type { Result } from "../model/result.ts";
import { readEntries, sendEntry } from "../requests/read-entries.ts";
import { addressOf, type Context } from "./context.ts";
import type { Caller, Reply, Route, Target } from "./route.ts";

/**
 * Logs reads and denials of tokens, and actions of the admin, after the answer. The commit of a write logs the write. The batch
 * that issues or revokes a token already has an entry with the same id.
 */

/** Returns the origin of a request. The client chooses both texts, so they are cut and sealed. */
export const originOf = (c: Context): Origin => ({
  userAgent: (c.req.header("User-Agent") ?? "").slice(0, 256).toWellFormed(),
  requestIp: (addressOf(c) ?? "").slice(0, 64).toWellFormed(),
});

/** Returns the origin, with the token's id if the actor is another. */
export const originOfToken = (c: Context, claims: Claims): Origin => ({
  ...originOf(c),
  ...(actorOf(claims) !== claims.id && { token: claims.id }),
});

export const originOfCaller = ({ c, claims }: Caller): Origin => originOfToken(c, claims);

/** Adds the log entry of a request, after the response. `allowed` is true if the token is authorized. */
export function audit(route: Route, caller: Caller, target: Target, allowed: boolean, result: Result<Reply>): void {
  for (const activity of activitiesOf(route, caller, target, allowed, result))
    caller.c.executionCtx.waitUntil(sendEntry(caller.c.env, activity));
}

function activitiesOf(...request: Parameters<typeof audit>): readonly Activity[] {
  const [route, caller, target, , result] = request;
  const { c, actor } = caller;
  const requested = { requestId: c.get("requestId"), actor, origin: originOfCaller(caller) };
  if (result.ok && result.value.entries) return readEntries(requested, result.value.entries, Date.now());
  const activity = caller.actor === ADMIN ? adminActivity(route, caller, target, result) : activityOf(...request);
  return activity ? [activity] : [];
}

/** Logs an admin request that was refused because its token is missing, wrong, or not valid for the route. */
export function auditRefusal(route: Route, c: Context, { kind }: Failure): void {
  if (route.access.by !== "admin" || kind !== "unauthorized") return;
  const action = route.action === "UNLOGGED" ? "READ" : route.action;
  c.executionCtx.waitUntil(sendEntry(c.env, adminEntry(route, c, action, null, "DENY")));
}

/** Returns an entry of the admin's log. `id` is the id of the vault, token, webhook, person or job, if there is one. */
export function adminEntry(
  { resource = "VAULT" }: Pick<Route, "resource">,
  c: Context,
  action: Action,
  id: string | null,
  result: Activity["result"] = "SUCCESS",
): Activity {
  const what = { log: NOWHERE, action, result, resource, item: id, version: null };
  const admin = c.get("admin");
  // An administrator acts as the person; a token that only reads backups has no person above it.
  const who = admin
    ? { actor: rootOf(admin), origin: { ...originOf(c), token: admin.id } }
    : { actor: ADMIN, origin: originOf(c) };
  return { id: c.get("requestId"), ...what, ...who };
}

/** Returns the log entry of a successful admin request, or of one that only ADMIN_TOKEN may send (contract 25.11). */
function adminActivity(route: Route, { c }: Caller, target: Target, result: Result<Reply>): Activity | undefined {
  const action = (result.ok && result.value.action) || route.action;
  const denied = !result.ok && result.failure.kind === "out_of_scope";
  if (action === "UNLOGGED" || (!result.ok && !denied)) return undefined;
  const { resource = "VAULT" } = route;
  // The routes of root keys concern all root keys.
  const parameter = resource === "BACKUP" ? "vault" : resource.toLowerCase();
  const id = (result.ok && result.value.made) || String(target[parameter as keyof Target]);
  return adminEntry(route, c, action, isId(id) ? id : null, denied ? "DENY" : "SUCCESS");
}

/**
 * Returns the log entry of a request: a read that succeeded, or a denial. No entry: a write that was allowed, because its commit
 * logs it; a read that found nothing or was malformed. The entry of a request that names no vault is in the log of the token.
 */
function activityOf(
  { action: routeAction }: Route,
  caller: Caller,
  { vault, item }: Target,
  allowed: boolean,
  result: Result<Reply>,
): Activity | undefined {
  const { c, actor } = caller;
  const revoked = !result.ok && result.failure.kind === "unauthorized";
  const outside = !result.ok && result.failure.kind === "out_of_scope";
  const denied = !allowed || revoked || outside;
  const reply = result.ok ? result.value : undefined;
  const action = reply?.action ?? routeAction;
  const log = vault || actor;
  if (action === "UNLOGGED" || !isId(log)) return undefined;
  if (!denied && (action !== "READ" || !reply)) return undefined;
  return {
    id: c.get("requestId"),
    log,
    action,
    result: denied ? "DENY" : "SUCCESS",
    actor,
    item: isId(item) ? item : null,
    version: reply?.version ?? null,
    origin: originOfCaller(caller),
  };
}
