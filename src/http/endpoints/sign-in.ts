import { signIn } from "../../api/bodies.ts";
import { parseConsoleSecret } from "../../crypto/console-secret.ts";
import { actorOf, type Claims, rootOf, verifyToken } from "../../crypto/token.ts";
import type { Activity } from "../../model/activity.ts";
import type { Failure } from "../../model/failure.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, map, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { SECOND } from "../../model/time.ts";
import { countFailure, limitToken } from "../../requests/rate-limit.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { askUnlessRefused, requireInUse } from "../../requests/refused.ts";
import type { Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { explainFailure } from "../../store/keys/root-keys.ts";
import type { Grants } from "../../store/tokens/session-rows.ts";
import { insertCode, takeCode } from "../../store/tokens/sessions.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import { adminEntry, originOfToken } from "../audit.ts";
import { parseBody } from "../body.ts";
import { adminFingerprint } from "../console-session.ts";
import { addressOf, type Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import type { Call, ReplyTo } from "../route.ts";
import { sameText } from "../secret.ts";
import { type Granted, signInByAccess, signInByProvider } from "./sign-in-person.ts";

/**
 * Credentials that sign in to the console (contract 24): a one-time code, a token, ADMIN_TOKEN, the identity provider's answer,
 * or else Cloudflare Access. A request with vaults signs in nobody: it opens them to its session (contract 24.12).
 */

/**
 * Returns the grants of a sign-in. Refusals are checked in this order: 400, 413, 415; `misconfigured`, `unauthorized`, `rate`;
 * `schema`, `unavailable`. Without a credential it fails with `sign_in_needed` if there is an identity provider. It then fails as
 * `signInByProvider` and `signInByAccess` do.
 */
export async function authenticateSignIn(c: Context, store: Store): Promise<Result<Granted>> {
  const parsed = await parseBody(c.req.raw, LIMITS.signIn);
  if (!parsed.ok) return parsed;
  const input = parseValue(signIn, parsed.value.json, "the body");
  if (!input.ok) return input;
  const { code, state, iss, token, vaults } = input.value;
  if (vaults !== undefined) return ok({ opened: vaults });
  if (token !== undefined) return redeemToken(c, store, token);
  if (code !== undefined && state === undefined) return redeemCode(c, store, code);
  const granted = await (state === undefined
    ? signInByAccess(c, store)
    : signInByProvider(c, store, { code: code!, state, iss }));
  // Not a failed authentication: the console sends such a request at its start, even without Access.
  if (!granted) return fail(store.settings.oidc ? "sign_in_needed" : "unauthorized");
  return granted.ok ? granted : refuseSignIn(c, granted);
}

async function redeemCode(c: Context, store: Store, code: string): Promise<Result<Granted>> {
  const id = await parseConsoleSecret(store.keyring, "sign-in-code", code);
  if (id === undefined) return refuseSignIn(c, await explainFailure(store));
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const holder = { id, admin: await adminFingerprint(c) };
  const granted = await askUnlessRefused(store, holder, () => takeCode(store, id, holder.admin));
  return granted.ok ? granted : refuseSignIn(c, granted);
}

async function redeemToken(c: Context, store: Store, token: string): Promise<Result<Granted>> {
  const admin = await adminFingerprint(c);
  if (admin !== undefined && (await sameText(token, c.env.ADMIN_TOKEN))) {
    return map(await checkSchema(store.db), () => ({ admin }));
  }
  const claims = await verifyToken(store.keyring, token, store.now, store.settings.tokensNotBefore);
  if (!claims.ok) return refuseSignIn(c, await explainFailure(store));
  const inUse = await requireInUse(c.env, store, claims.value, LIMITS.signInCost);
  return inUse.ok ? ok({ token: claims.value, until: claims.value.expiresAt * SECOND }) : refuseSignIn(c, inUse, claims.value);
}

/** Refusals of a person who may not sign in. All other refusals concern a request or the service. */
const LOGGED: ReadonlySet<Failure["kind"]> = new Set(["unauthorized", "not_invited", "account_refused"]);

/**
 * Returns the admin's log entry of a sign-in (contract 24.11). `token` is the token that signed in or was refused. It is absent
 * for the admin and for unknown people.
 */
export const signInEntry = (c: Context, result: Activity["result"], token?: Claims): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "CREATE", token ? actorOf(token) : null, result),
  ...(token && { actor: actorOf(token), origin: originOfToken(c, token) }),
});

/** Returns the entry of vaults that the admin has opened (contract 24.12). `token` is the id of the session's token or person. */
export const openedEntry = (c: Context, token: string, vaults: readonly string[]): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "UPDATE", token),
  items: vaults,
});

/**
 * Counts a refused sign-in for the address, and logs it. The entry has nothing from the request, which may contain most of a secret.
 * Returns the refusal, or `rate`.
 */
export async function refuseSignIn(c: Context, refusal: Refusal, token?: Claims): Promise<Refusal> {
  const counted = await countFailure(c.env, addressOf(c), refusal);
  if (LOGGED.has(counted.failure.kind)) c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", token)));
  return counted;
}

/** Makes a one-time code (contract 24). Like the admin's code, it grants the permissions with which its request was authenticated. */
export async function createSignInCode(call: Call): ReplyTo<"createSignInCode"> {
  const { c, store, claims } = call;
  // The request has already counted as one.
  const limited = await limitToken(c.env, rootOf(claims), store.now, LIMITS.signInCost - 1);
  if (limited) return limited;
  const inUse = await loadForToken<[]>(store, call.claims);
  return inUse.ok ? answerCode(call, { token: call.claims }) : inUse;
}

export async function createAdminSignInCode(call: Call): ReplyTo<"createAdminSignInCode"> {
  return answerCode(call, { admin: await adminFingerprint(call.c) });
}

async function answerCode({ store }: Call, grants: Grants): ReplyTo<"createSignInCode"> {
  const made = await insertCode(store, grants);
  if (!made.ok) return made;
  const { text, expiresAt } = made.value;
  return ok({ json: { code: text, expiresAt: presentTime(expiresAt) } });
}
