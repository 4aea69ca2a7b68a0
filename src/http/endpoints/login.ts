import type * as z from "zod/mini";
import type { AnswerBody } from "../../api/answer.ts";
import { loginRequest, newAuthorization, newLoginCode } from "../../api/bodies.ts";
import { parseConsoleSecret } from "../../crypto/console-secret.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { refuseMore } from "../../model/permission.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { countFailure, limitAddress, limitToken } from "../../requests/rate-limit.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { requireRoom } from "../../store/health/room.ts";
import { explainFailure } from "../../store/keys/root-keys.ts";
import { type ConfirmedLogin, USES } from "../../store/tokens/session-rows.ts";
import { claimsOfLogin, issueLogin, takeCode, insertCode } from "../../store/tokens/sessions.ts";
import { adminEntry, originOf } from "../audit.ts";
import { parseBody } from "../body.ts";
import { openForConsole, requireSession } from "../console-session.ts";
import { addressOf, type Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import { presentIssuedToken } from "../present/tokens.ts";
import type { Content } from "../route.ts";
import { digestOf, sameText } from "../secret.ts";
import { signInEntry } from "./sign-in.ts";

/** /v1/login/token: how a terminal gets the token of a person (contract 28). The request needs no credential, so its address is counted first. */

type LoginInput = z.output<typeof loginRequest>;

export async function redeemLogin(c: Context): Promise<Result<Content<AnswerBody<"redeemLogin">>>> {
  const store = await openStore(c.env, Date.now());
  if (!store.ok) return store;
  const limited = await limitAddress(c.env, addressOf(c));
  if (limited) return limited;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const input = body.ok ? parseValue(loginRequest, body.value.json, "the login") : body;
  if (!input.ok) return input;
  const confirmed = await redeemCode(store.value, input.value);
  if (!confirmed.ok) return countFailure(c.env, addressOf(c), confirmed);
  const { person, login } = confirmed.value;
  const claims = claimsOfLogin(person, login, originOf(c), store.value.now);
  const entry = { ...adminEntry({ resource: "TOKEN" }, c, "CREATE", login.id), actor: person.id };
  const issued = await issueLogin(store.value, person, claims, entry);
  if (!issued.ok) return countFailure(c.env, addressOf(c), issued);
  return ok({ json: presentIssuedToken(claims, issued.value.token, "uuid") });
}

interface Confirmed {
  readonly person: VerifiedClaims;
  readonly login: ConfirmedLogin;
}

/**
 * Redeems a code. With a verifier, it must be the code of a login in a browser; without one, a pasted code. A wrong verifier
 * consumes the code. Fails with `unauthorized` for every fault, and as `requireSpace` does.
 */
async function redeemCode(store: Store, input: LoginInput): Promise<Result<Confirmed>> {
  const kind = input.code_verifier === undefined ? "loginCode" : "authorizationCode";
  const id = await parseConsoleSecret(store.keyring, USES[kind], input.code);
  if (id === undefined) return explainFailure(store);
  const space = await requireSpace(store);
  if (!space.ok) return space;
  const taken = await takeCode(store, id, undefined, kind);
  if (!taken.ok) return taken;
  const { token: person, login } = taken.value;
  return person && login && (await isProven(login, input)) ? ok({ person, login }) : fail("unauthorized");
}

/** Returns true if a request proves that the program which began the login sent it. A pasted code has no such proof. */
async function isProven({ challenge, redirectUri }: ConfirmedLogin, sent: LoginInput): Promise<boolean> {
  const { code_verifier: verifier, redirect_uri = redirectUri } = sent;
  if (verifier === undefined || challenge === undefined) return verifier === challenge;
  const digest = new Uint8Array(await digestOf(verifier)).toBase64({ alphabet: "base64url", omitPadding: true });
  return (await sameText(digest, challenge)) && redirect_uri === redirectUri;
}

/** Before the database is so full that nothing else can be written. Fails with `schema`, `unavailable`, `database_full`. */
async function requireSpace(store: Store): Promise<Result<undefined>> {
  const schema = await checkSchema(store.db);
  return schema.ok ? requireRoom(store, "warning") : schema;
}

/** Confirmations by a person in the console: a login in a browser, and a login by a pasted code (contract 28.3, 28.5). */

export const createAuthorization = (c: Context): Promise<CodeAnswer> =>
  confirmLogin(
    c,
    "authorizationCode",
    newAuthorization,
    ({ redirect_uri: redirectUri, code_challenge: challenge, ...asked }) => ({
      ...asked,
      challenge,
      redirectUri,
    }),
  );

export const createLoginCode = (c: Context): Promise<CodeAnswer> =>
  confirmLogin(c, "loginCode", newLoginCode, ({ vaults, expiresIn = LIMITS.loginCodeLifetime }) => ({ vaults, expiresIn }));

type CodeAnswer = Result<Content<AnswerBody<"createAuthorization" | "createLoginCode">>>;

/** Makes the code of a login that the person of the session confirms. Fails as `requirePerson`; 400, 413, 415; with `out_of_scope`, which is logged. */
async function confirmLogin<S extends z.ZodMiniType>(
  c: Context,
  kind: "authorizationCode" | "loginCode",
  schema: S,
  loginOf: (input: z.output<S>) => Omit<ConfirmedLogin, "id">,
): Promise<CodeAnswer> {
  const confirming = await requirePerson(c);
  if (!confirming.ok) return confirming;
  const { store, person, until } = confirming.value;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const input = body.ok ? parseValue(schema, body.value.json, "the login") : body;
  if (!input.ok) return input;
  const login = { id: crypto.randomUUID(), ...loginOf(input.value), until };
  const refused = refuseLogin(person, login);
  // The entry of a refused login is the entry of the person's refused sign-in.
  if (refused) c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", person)));
  if (refused) return refused;
  const made = await insertCode(store, { token: person, login }, kind);
  return made.ok ? ok({ json: { id: login.id, code: made.value.text, expiresAt: presentTime(made.value.expiresAt) } }) : made;
}

/** Refuses a login that asks for more than the person has. */
const refuseLogin = (person: VerifiedClaims, { vaults = {}, admin }: ConfirmedLogin) =>
  admin && !person.admin ? fail("out_of_scope", "act as an administrator") : refuseMore(person, { vaults }, 1);

interface Confirming {
  readonly store: Store;
  readonly person: VerifiedClaims;
  /** Latest expiry of the token, in Unix milliseconds. For a person by a rule, nothing outlives the session. */
  readonly until: number | undefined;
}

/**
 * Returns the person of the session with their own claims, without vaults that the admin has opened to it (contract 24.12). A
 * session of only a token or the admin cannot confirm a login, because its token holder would get a longer-lived token. The
 * request counts as a sign-in. Fails with `cross_site`, `misconfigured`, `out_of_scope`, `rate`, and as `requireSession` does.
 */
async function requirePerson(c: Context): Promise<Result<Confirming>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  const session = await requireSession(c, store.value);
  if (!session.ok) return session;
  const { token, expiresAt } = session.value;
  if (token?.kind !== "person") return fail("out_of_scope", "confirm a login: sign in as a person");
  const limited = await limitToken(c.env, token.id, store.value.now, LIMITS.signInCost);
  return limited ?? ok({ store: store.value, person: token, until: token.descent && expiresAt });
}
