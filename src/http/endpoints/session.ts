import type { AnswerBody, Presented, Schemas } from "../../api/answer.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, map, ok, type Result } from "../../model/result.ts";
import { SECOND, DAY } from "../../model/time.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { isKnownRefused, rememberRefusal } from "../../requests/refused.ts";
import type { Settings } from "../../settings.ts";
import type { Store } from "../../store/d1/database.ts";
import { type Grants, type Lifetime, actingToken } from "../../store/tokens/session-rows.ts";
import { type ConsoleSession, deleteSession, insertSession } from "../../store/tokens/sessions.ts";
import {
  adminFingerprint,
  isLimited,
  openForConsole,
  refuseEnded,
  requireSession,
  sessionIdOf,
  sessionOfId,
  setCookie,
} from "../console-session.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import { presentToken } from "../present/tokens.ts";
import type { Content } from "../route.ts";
import type { Granted } from "./sign-in-person.ts";
import { authenticateSignIn, openedEntry, signInEntry } from "./sign-in.ts";

/** /console/session: the session of the console (contract 24). Only the console sends these requests, so they have no row of a token. */

/** Fails as `openForConsole` and `requireSession` do. */
export async function getSession(c: Context): Promise<Result<Content<AnswerBody<"getSession">>>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  return map(await requireSession(c, store.value), (session) => ({ json: presentSession(session, store.value.settings) }));
}

/**
 * Signs in: adds a grant to those of the request's session, under a new cookie. Fails as `openForConsole` and
 * `authenticateSignIn` do, and with `unavailable` or `database_full`.
 */
export async function signIn(c: Context): Promise<Result<Content<AnswerBody<"signIn">>>> {
  const opened = await openForConsole(c);
  if (!opened.ok) return opened;
  const store = opened.value;
  const granted = await authenticateSignIn(c, store);
  if (!granted.ok) return granted;
  const replaced = await sessionIdOf(c, store);
  const earlier = await (granted.value.opened ? requireBoth(c, store) : findEarlier(c, store, replaced));
  if (!earlier.ok) return earlier;
  const { grants, ...lifetime } = merge(earlier.value, granted.value, store.now);
  const session = await insertSession(store, grants, lifetime, replaced);
  if (!session.ok) return session;
  const { opened: vaults, token } = granted.value;
  const entry = vaults ? openedEntry(c, grants.token!.id, Object.keys(vaults)) : signInEntry(c, "SUCCESS", token);
  c.executionCtx.waitUntil(sendEntry(c.env, entry));
  setCookie(c, session.value.text, Math.floor((lifetime.expiresAt - store.now) / SECOND));
  return ok({ json: presentSession({ ...grants, ...lifetime }, store.settings) });
}

/** Returns the session that a sign-in extends, or undefined without a live session. Fails with `unavailable`. */
async function findEarlier(c: Context, store: Store, id: string | undefined): Promise<Result<ConsoleSession | undefined>> {
  const earlier = id === undefined ? ok(undefined) : await sessionOfId(c, store, id);
  return earlier.ok || earlier.failure.kind !== "unauthorized" ? earlier : ok(undefined);
}

/**
 * Returns the session of the request, which must have the grants of the admin and of a token. Fails with `unauthorized`
 * otherwise, and as `requireSession` does.
 */
async function requireBoth(c: Context, store: Store): Promise<Result<ConsoleSession>> {
  const session = await requireSession(c, store);
  return session.ok && (session.value.admin === undefined || session.value.token === undefined) ? fail("unauthorized") : session;
}

/**
 * Merges grants. A kept grant keeps its start and its end, so no sign-in makes an earlier grant younger or longer. A new grant
 * ends with the credential that signed in.
 */
function merge(earlier: (Grants & Lifetime) | undefined, granted: Granted, now: number): Lifetime & { readonly grants: Grants } {
  const admin = granted.admin ?? earlier?.admin;
  const token = granted.token ?? earlier?.token;
  const keeps = earlier && (admin !== granted.admin || token !== granted.token);
  return {
    // Vaults opened to one token are not opened to another token.
    grants: { admin, token, opened: granted.opened ?? (token === earlier?.token ? earlier?.opened : undefined) },
    createdAt: keeps ? earlier.createdAt : now,
    expiresAt: Math.min(keeps ? earlier.expiresAt : now + LIMITS.session * SECOND, granted.until ?? Infinity),
  };
}

/** Signs out: 204, also without a session. Fails as `openForConsole`, or with `rate`, `unavailable`. */
export async function signOut(c: Context): Promise<Result<Content<never>>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  const id = await sessionIdOf(c, store.value);
  const session = id === undefined ? undefined : { id, admin: await adminFingerprint(c) };
  if (session && (await isLimited(c, store.value, session.id))) return fail("rate");
  if (session && !isKnownRefused(store.value, session)) {
    const deleted = await deleteSession(store.value, session.id);
    if (!deleted.ok) return deleted;
    if (deleted.value) rememberRefusal(store.value, session);
    else await refuseEnded(c, store.value, session.id);
  }
  setCookie(c, "", 0);
  return ok({ response: c.body(null, 204) });
}

/**
 * Presents a session of the console (contract 24.4). The token has the form of `GET /v1/token`. The settings are those shown by the texts
 * of the console.
 */
const presentSession = (
  session: Grants & Pick<Lifetime, "expiresAt">,
  { deletedRetention, versionsKept, access, oidc }: Settings,
): Presented<Schemas.Session> => {
  const token = actingToken(session);
  return {
    expiresAt: presentTime(session.expiresAt),
    admin: session.admin !== undefined,
    token: token && presentToken(token, token.dialect),
    person: token?.kind === "person" ? { id: token.id, email: token.name } : undefined,
    settings: { deletedRetentionDays: deletedRetention / DAY, versionsKept, people: (access ?? oidc) !== undefined },
  };
};
