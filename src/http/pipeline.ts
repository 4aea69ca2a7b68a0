import { isNear } from "../api/operation.ts";
import { rootOf } from "../crypto/token.ts";
import { closeShare } from "../memory-budget.ts";
import { ADMIN } from "../model/operation.ts";
import { itemsIn, permissionIn, missing } from "../model/permission.ts";
import { fail, ok, type Refusal, type Result } from "../model/result.ts";
import { limitToken } from "../requests/rate-limit.ts";
import { askUnlessRefused } from "../requests/refused.ts";
import { isDamage, recordDamage } from "../store/health/damages.ts";
import { loadDeletedItem } from "../store/items/deleted-items.ts";
import { loadFile } from "../store/items/files.ts";
import { loadItem } from "../store/items/items.ts";
import { loadVersion } from "../store/items/versions.ts";
import { loadForToken } from "../store/vaults/authorized.ts";
import { loadVault } from "../store/vaults/vaults.ts";
import { audit, auditRefusal } from "./audit.ts";
import type { Context } from "./context.ts";
import { authenticate, isAllowed, withinScope } from "./guard.ts";
import { answerNear, parseBookmarks, readsNear } from "./near.ts";
import { checkItemId, checkVersion, parseCall, parseTarget } from "./parts.ts";
import { refuse } from "./refuse.ts";
import { type Caller, type Reply, respond, type Route, type Target } from "./route.ts";

/**
 * Serves a route of the table: authenticate, authorize, parse, handle, audit, answer. The order of refusals follows contract 4.5
 * on every route.
 */
export async function serve(route: Route, c: Context): Promise<Response> {
  const caller = await authenticate(route, c);
  if (!caller.ok) {
    auditRefusal(route, c, caller.failure);
    return refuse(c, caller);
  }
  const target = parseTarget(c);
  if (!target.ok) return refuse(c, target);
  try {
    return await serveCaller(route, caller.value, target.value);
  } finally {
    closeShare(caller.value.store.share);
  }
}

async function serveCaller(route: Route, caller: Caller, target: Target): Promise<Response> {
  const { c } = caller;
  const allowed = isAllowed(route.access, caller, target);
  const result = allowed ? await answerCaller(route, caller, withinScope(caller, target)) : refuseOutsider(route, caller, target);
  audit(route, caller, target, allowed, result);
  if (showsDamage(result)) c.executionCtx.waitUntil(recordDamage(caller.store));
  return result.ok ? respond(c, result.value) : refuse(c, result);
}

/** Answers as `answer` does. A token that D1 refuses is refused for a minute without a D1 call. */
async function answerCaller(route: Route, caller: Caller, target: Target): Promise<Result<Reply>> {
  if (caller.actor === ADMIN) return answer(route, caller, target);
  return askUnlessRefused(caller.store, caller.claims, () => answer(route, caller, target));
}

const showsDamage = (result: Result<Reply>): boolean => (result.ok ? result.value.broken === true : isDamage(result.failure));

async function answer(route: Route, caller: Caller, target: Target): Promise<Result<Reply>> {
  const itemId = checkItemId(caller.c);
  if (!itemId.ok) return refuseInOrder(route, caller, { ...target, item: "", version: 0, file: "" }, itemId);
  const version = checkVersion(caller.c, target);
  if (!version.ok) return refuseInOrder(route, caller, target, version);
  const parsed = await parseCall(route, caller, target);
  if (!parsed.ok) return refuseInOrder(route, caller, target, parsed);
  const { call, input } = parsed.value;
  // The request has already counted as one.
  const more = (route.requests?.(input) ?? 1) - 1;
  const limited = more > 0 && (await limitToken(caller.c.env, rootOf(caller.claims), caller.store.now, more));
  if (limited) return limited;
  if (!isNear(route) || !readsNear(caller)) return route.handle(call, input);
  const bookmarks = await parseBookmarks(caller);
  if (!bookmarks.ok) return refuseInOrder(route, caller, target, bookmarks);
  return answerNear(caller, bookmarks.value, (store) => route.handle({ ...call, store }, input));
}

/** Refuses a request without the permission. The answer says which permission is missing only to a token that names the vault. */
function refuseOutsider({ access }: Route, { vaults }: Caller, { vault }: Target): Refusal {
  if (!("outside" in access)) return fail("out_of_scope", "issue tokens");
  const scope = vaults[vault];
  const others = access.by === "session" ? scope && "see who wrote in" : itemsIn(scope) && "make Items in";
  const lacks = missing(permissionIn(scope), access.permission) ?? others;
  return fail(access.outside, access.outside === "out_of_scope" ? lacks : undefined);
}

/**
 * Refuses a bad request only after a revoked token and after a missing vault, Item or File, but before a damaged one. The check costs
 * one D1 call, and only for refused requests. The admin may know which objects exist, and is refused immediately.
 */
async function refuseInOrder(route: Route, caller: Caller, target: Target, refusal: Refusal): Promise<Refusal> {
  const found = caller.actor === ADMIN ? ok(undefined) : await findTarget(route, caller, target);
  return found.ok || found.failure.kind === "integrity" ? refusal : found;
}

/** Finds the last object that the path names. Fails with `unauthorized` (revoked), and with the failures of missing objects. */
function findTarget(
  { deleted }: Route,
  { store, claims: token }: Caller,
  { vault, item, file, version }: Target,
): Promise<Result<unknown>> {
  const access = { token, vault };
  if (file !== "") return loadFile(store, access, item, file);
  if (version > 0) return loadVersion(store, access, item, version);
  if (item !== "") return deleted ? loadDeletedItem(store, access, item) : loadItem(store, access, item);
  return vault === "" ? loadForToken(store, token) : loadVault(store, access);
}
