import { signIn } from "../../api/bodies.ts";
import { parseConsoleSecret } from "../../crypto/console-secret.ts";
import { actorOf, type Claims, rootOf, verifyToken } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { type Cause, fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { countFailure, limitToken } from "../../requests/rate-limit.ts";
import { askUnlessRefused, requireInUse } from "../../requests/refused.ts";
import { loadForToken } from "../../store/vaults/authorized.ts";
import type { Store } from "../../store/d1/database.ts";
import { explainFailure } from "../../store/keys/root-keys.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { insertCode, takeCode } from "../../store/tokens/sessions.ts";
import { parseBody } from "../body.ts";
import { adminFingerprint } from "../console-session.ts";
import { addressOf, type Context } from "../context.ts";
import { sameText } from "../secret.ts";
import type { Activity } from "../../model/activity.ts";
import type { Failure } from "../../model/failure.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { adminEntry, originOfToken } from "../audit.ts";
import { verifyAccessToken } from "../../crypto/access-token.ts";
import { nameIndex } from "../../crypto/name-index.ts";
import { causeOf } from "../../log.ts";
import { SECOND } from "../../model/time.ts";
import type { Grants } from "../../store/tokens/session-rows.ts";
import { loadPersonByEmail } from "../../store/tokens/sign-in-person.ts";
import { presentTime } from "../present/time.ts";
import type { Call, ReplyTo } from "../route.ts";

/**
 * What signs in to the console (contract 24): a one-time code, a token, ADMIN_TOKEN, or else Cloudflare Access. With vaults, nobody signs
 * in: the session of the request opens them (contract 24.12).
 */

/**
 * Out: what the request signs in as. Errors, in this order: 400, 413, 415; `misconfigured`, `unauthorized`, `rate`; `schema`,
 * `unavailable`; those of `signInWithAccess`.
 */
export async function authenticateSignIn(c: Context, store: Store): Promise<Result<Granted>> {
  const parsed = await parseBody(c.req.raw, LIMITS.signIn);
  if (!parsed.ok) return parsed;
  const input = parseValue(signIn, parsed.value.json, "the body");
  if (!input.ok) return input;
  const { code, token, vaults } = input.value;
  if (vaults !== undefined) return ok({ opened: vaults });
  if (code === undefined && token === undefined) return signInWithAccess(c, store);
  return code === undefined ? redeemToken(c, store, token!) : redeemCode(c, store, code);
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
    const schema = await checkSchema(store.db);
    return schema.ok ? ok({ admin }) : schema;
  }
  const claims = await verifyToken(store.keyring, token, store.now, store.settings.tokensNotBefore);
  if (!claims.ok) return refuseSignIn(c, await explainFailure(store));
  const inUse = await requireInUse(c.env, store, claims.value, LIMITS.signInCost);
  return inUse.ok ? ok({ token: claims.value, until: claims.value.expiresAt * SECOND }) : refuseSignIn(c, inUse, claims.value);
}

/** The refusals of somebody who may not sign in; all others are of a request or of the service. */
const LOGGED: ReadonlySet<Failure["kind"]> = new Set(["unauthorized", "not_invited"]);

/** The entry of a sign-in in the log of the admin (contract 24.11). In: the token that has signed in, or was refused; absent for the admin, and for somebody who is not known. */
export const signInEntry = (c: Context, result: Activity["result"], token?: Claims): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "CREATE", token ? actorOf(token) : null, result),
  ...(token && { actor: actorOf(token), origin: originOfToken(c, token) }),
});

/** The entry of vaults that the admin has opened (contract 24.12). In: the id of the session's token or person, and those of the vaults. */
export const openedEntry = (c: Context, token: string, vaults: readonly string[]): Activity => ({
  ...adminEntry({ resource: "SESSION" }, c, "UPDATE", token),
  items: vaults,
});

/**
 * Counts a refused sign-in for the address, and logs it. The entry has nothing of what was sent: that may be most of a secret. Out: the
 * refusal, or `rate`.
 */
export async function refuseSignIn(c: Context, refusal: Refusal, token?: Claims): Promise<Refusal> {
  const counted = await countFailure(c.env, addressOf(c), refusal);
  if (LOGGED.has(counted.failure.kind)) c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", token)));
  return counted;
}

/** What a request signs in as. */
export interface Granted extends Grants {
  /** When what has signed in ends, in Unix milliseconds: the session lasts no longer. */
  readonly until?: number;
}

/** Cloudflare Access sets it on each request to its application. The cookie with the same token is not read: it needs no such request. */
const HEADER = "Cf-Access-Jwt-Assertion";

/**
 * Signs in the person whom Cloudflare Access has authenticated (contract 25.6). Errors: `unauthorized`, without an Access application or
 * its token, and for every fault of the token; `access_unavailable`; `rate`; `schema`, `not_invited`, `misconfigured`, `unavailable`.
 */
async function signInWithAccess(c: Context, store: Store): Promise<Result<Granted>> {
  const { access } = store.settings;
  const token = c.req.header(HEADER);
  // No failed authentication: the console asks so at its start, also where there is no Access.
  if (!access || !token) return fail("unauthorized");
  let cause: Cause | undefined;
  const identity = await verifyAccessToken(access, token, store.now, (error) => {
    cause = causeOf("The fetch of the keys of Cloudflare Access", error);
  });
  if (!identity.ok) return refuseSignIn(c, cause ? { ...identity, cause } : identity);
  const { email, expiresAt } = identity.value;
  // Before the look-up, because Access also lets people through whom nobody has invited.
  const limited = await limitToken(c.env, await nameIndex(store.keyring.active, "person", email), store.now, LIMITS.signInCost);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const person = await loadPersonByEmail(store, email);
  return person.ok ? ok({ token: person.value, until: expiresAt * SECOND }) : refuseSignIn(c, person);
}

/** Makes a one-time code (contract 24). Like that of the admin, it grants what the request that makes it was authenticated with. */
export async function createSignInCode(call: Call): ReplyTo<"createSignInCode"> {
  const { c, store, claims } = call;
  // The request has counted as one already.
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
