import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";
import { ok, type Result } from "../../model/result.ts";
import { sendEntry } from "../../requests/entries.ts";
import { openStore, type Store } from "../../store/database.ts";
import type { Grants, Lifetime } from "../../store/session-rows.ts";
import { deleteSession, insertSession, loadSession } from "../../store/sessions.ts";
import { adminFingerprint, requireConsole, requireSession, sessionIdOf, setCookie } from "../console-session.ts";
import type { Context } from "../context.ts";
import { presentSession } from "../present-session.ts";
import { signInEntry } from "./refused-sign-in.ts";
import type { Granted } from "./sign-in-access.ts";
import { authenticateSignIn } from "./sign-in.ts";

/** /console/session: the session of the console (contract 24). Only the console sends these requests, so they have no row of a token. */

/** Errors: `cross_site`, `misconfigured`. */
async function openForConsole(c: Context): Promise<Result<Store>> {
  const allowed = requireConsole(c);
  return allowed.ok ? openStore(c.env, Date.now()) : allowed;
}

/** Errors: those of `openForConsole` and `requireSession`. */
export async function getSession(c: Context): Promise<Result<Response>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  const session = await requireSession(c, store.value);
  return session.ok ? ok(c.json(presentSession(session.value, store.value.settings))) : session;
}

/**
 * Signs in: the new grant is added to those of the session in the request, under a new cookie. Errors: those of `openForConsole` and
 * `authenticateSignIn`; `unavailable`, `database_full`.
 */
export async function signIn(c: Context): Promise<Result<Response>> {
  const opened = await openForConsole(c);
  if (!opened.ok) return opened;
  const store = opened.value;
  const granted = await authenticateSignIn(c, store);
  if (!granted.ok) return granted;
  const replaced = await sessionIdOf(c, store);
  const earlier = replaced === undefined ? undefined : await loadSession(store, replaced, await adminFingerprint(c));
  if (earlier?.ok === false && earlier.failure.kind !== "unauthorized") return earlier;
  const { grants, ...lifetime } = merge(earlier?.ok ? earlier.value : undefined, granted.value, store.now);
  const made = await insertSession(store, grants, lifetime, replaced);
  if (!made.ok) return made;
  c.executionCtx.waitUntil(sendEntry(c.env, store, signInEntry(c, "SUCCESS", granted.value.token?.id)));
  setCookie(c, made.value.text, Math.floor((lifetime.expiresAt - store.now) / SECOND));
  return ok(c.json(presentSession({ ...grants, ...lifetime }, store.settings)));
}

/**
 * A grant that is kept keeps its beginning and its end: no sign-in makes an earlier one younger or last longer. A new one ends with what
 * has signed in.
 */
function merge(earlier: (Grants & Lifetime) | undefined, granted: Granted, now: number): Lifetime & { readonly grants: Grants } {
  const admin = granted.admin ?? earlier?.admin;
  const token = granted.token ?? earlier?.token;
  const keeps = earlier && (admin !== granted.admin || token !== granted.token);
  return {
    grants: { admin, token },
    createdAt: keeps ? earlier.createdAt : now,
    expiresAt: Math.min(keeps ? earlier.expiresAt : now + LIMITS.session * SECOND, granted.until ?? Infinity),
  };
}

/** Signs out: 204, also without a session. Errors: those of `openForConsole`; `unavailable`. */
export async function signOut(c: Context): Promise<Result<Response>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  const id = await sessionIdOf(c, store.value);
  const deleted = id === undefined ? ok(undefined) : await deleteSession(store.value, id);
  if (!deleted.ok) return deleted;
  setCookie(c, "", 0);
  return ok(c.body(null, 204));
}
