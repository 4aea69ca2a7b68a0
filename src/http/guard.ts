import type { GuardedAccess } from "../api/operation.ts";
import { actorOf, isCurrent, rootOf, type VerifiedClaims, verifyToken } from "../crypto/token.ts";
import { openShare } from "../memory-budget.ts";
import { NAMES_NOTHING } from "../model/ids.ts";
import { ADMIN } from "../model/operation.ts";
import { isForItem, itemsIn, permissionIn, covers } from "../model/permission.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { NARROW_ADMIN_NAMES } from "../model/token-kind.ts";
import { countFailure, limitToken } from "../requests/rate-limit.ts";
import { requireInUse } from "../requests/refused.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";
import { checkRootKeys, explainFailure } from "../store/keys/root-keys.ts";
import { actingToken } from "../store/tokens/session-rows.ts";
import type { ConsoleSession } from "../store/tokens/sessions.ts";
import { sessionOf } from "./console-session.ts";
import { addressOf, type Context } from "./context.ts";
import { kvTokenOf } from "./kv.ts";
import { expiryOf } from "./present/tokens.ts";
import type { Caller, Route, Target } from "./route.ts";
import { bearerOf, isSecret } from "./secret.ts";

/** Authentication and authorization: the checks before any I/O on the data (contract 4 and 8). */

/**
 * Authenticates a request. Returns the caller. Refusals are checked in this order: `misconfigured`; `cross_site`, `unauthorized`,
 * `rate`; `schema`, `unavailable`.
 */
export async function authenticate(route: Pick<Route, "access" | "action">, c: Context): Promise<Result<Caller>> {
  const now = Date.now();
  const opened = await openStore(c.env, now);
  if (!opened.ok) return opened;
  const store = { ...opened.value, share: openShare(now) };
  const caller = await (route.access.by === "admin"
    ? authenticateAdmin(route.access, c, store)
    : authenticateToken(route, c, store));
  if (!caller.ok) return caller;
  // After authentication, because it may cost a D1 call: invalid tokens must not cause load.
  const schema = await checkSchema(store.db);
  return schema.ok ? caller : schema;
}

/**
 * Returns true if the caller's token grants the route's permission in the vault of the path, is used by a session or may issue tokens if the route
 * needs that.
 */
export function isAllowed(access: GuardedAccess, { vaults, claims }: Caller, { vault }: Target): boolean {
  if (access.by === "admin") return true;
  if (access.permission === undefined) return !access.delegates || claims.delegate === true;
  const scope = vaults[vault];
  if (!covers(permissionIn(scope), access.permission)) return false;
  return access.by === "session" ? claims.session !== undefined : !(access.whole && itemsIn(scope));
}

/** Returns the target. An Item outside the token's scope is replaced by an id that names nothing (contract 8.15). */
export const withinScope = ({ vaults }: Caller, target: Target): Target =>
  target.item === "" || isForItem(vaults[target.vault], target.item) ? target : { ...target, item: NAMES_NOTHING };

/**
 * Compares the bearer token with the secret `ADMIN_TOKEN`, verifies a token of the admin routes, or loads the session. Without the secret there are no admin routes: see app.ts.
 */
async function authenticateAdmin(access: GuardedAccess & { by: "admin" }, c: Context, store: Store): Promise<Result<Caller>> {
  const session = access.direct ? undefined : await sessionOf(c, store, false);
  if (session?.ok === false) return session;
  if (session && session.value.admin === undefined) return fail("unauthorized");
  const holder = session ? ok(undefined) : await authenticateAdminBearer(access, c, store);
  if (!holder.ok) return holder;
  c.set("admin", holder.value);
  // No other key decrypts a row that is sealed under a wrong root key.
  const checked = access.seals ? await checkRootKeys(store.db, store.keyring) : ok(undefined);
  return checked.ok ? ok(callerOf(c, store, NO_CLAIMS)) : checked;
}

/**
 * Authenticates the bearer of ADMIN_TOKEN, or of a token of the admin routes, which takes a D1 call. Returns the claims of that token. Fails
 * with `misconfigured`; `unauthorized`, also if the token is not valid for the operation; `rate`; `schema`, `unavailable`.
 */
async function authenticateAdminBearer(
  access: GuardedAccess & { by: "admin" },
  c: Context,
  store: Store,
): Promise<Result<VerifiedClaims | undefined>> {
  const equal = await isSecret(c, c.env.ADMIN_TOKEN);
  if (!equal.ok || equal.value) return equal.ok ? ok(undefined) : equal;
  const verified = await verifyToken(store.keyring, bearerOf(c), store.now, store.settings.tokensNotBefore, "admin");
  // Also before a refusal, so that its log entry names the person.
  if (verified.ok) c.set("admin", verified.value);
  if (!verified.ok || access.secret || !servesNarrow(access, verified.value))
    return countFailure(c.env, addressOf(c), fail("unauthorized"));
  const inUse = await requireInUse(c.env, store, verified.value);
  return inUse.ok ? verified : inUse;
}

/** Returns false for a token that serves only some of the admin routes, and not this one. */
const servesNarrow = ({ narrow }: GuardedAccess & { by: "admin" }, claims: VerifiedClaims): boolean =>
  NARROW_ADMIN_NAMES.every((name) => !claims[name] || name === narrow);

async function authenticateToken(
  { access, action }: Pick<Route, "access" | "action">,
  c: Context,
  store: Store,
): Promise<Result<Caller>> {
  // The D1 call of a read checks the session again. A write goes to the coordinator, which knows tokens only.
  const reads = action === "READ" || action === "UNLOGGED";
  const session = access.direct ? undefined : await sessionOf(c, store, reads);
  if (session?.ok === false) return session;
  const claims = session ? claimsOf(session.value, store) : await verifyBearer(c, store);
  if (!claims.ok) return claims;
  // Set before the response exists; refuse.ts removes it from a 401.
  c.header("Token-Expires", expiryOf(claims.value));
  return (await limitToken(c.env, rootOf(claims.value), store.now)) ?? ok(callerOf(c, store, claims.value));
}

/** Returns the claims of the token that a session acts as. Fails with `unauthorized` if the session acts as none. */
function claimsOf(session: ConsoleSession, { now, settings }: Store): Result<VerifiedClaims> {
  const { id, expiresAt } = session;
  const token = actingToken(session);
  return token && isCurrent(token, now, settings.tokensNotBefore)
    ? ok({ ...token, session: { id, expiresAt } })
    : fail("unauthorized");
}

async function verifyBearer(c: Context, store: Store): Promise<Result<VerifiedClaims>> {
  // One space, and nothing around it: two Authorization headers arrive joined by a comma, and do not match. A module for Puppet sends
  // the name of the header in its value too.
  const bearer = /^(?:Authorization: )?Bearer ([\w.-]+)$/i.exec(c.req.header("Authorization") ?? "")?.[1];
  const token = c.get("kv") ? kvTokenOf(c, bearer) : bearer;
  const claims =
    token === undefined
      ? fail("unauthorized")
      : await verifyToken(store.keyring, token, store.now, store.settings.tokensNotBefore);
  return claims.ok ? claims : countFailure(c.env, addressOf(c), await explainFailure(store));
}

/** The claims of the admin. No token has them, so the store refuses them. */
const NO_CLAIMS: VerifiedClaims = { id: ADMIN, name: "", dialect: "uuid", vaults: {}, issuedAt: 0, expiresAt: 0, hash: "" };

const callerOf = (c: Context, store: Store, claims: VerifiedClaims): Caller => {
  const { dialect, vaults } = claims;
  return { c, store, actor: actorOf(claims), claims, dialect, vaults };
};
