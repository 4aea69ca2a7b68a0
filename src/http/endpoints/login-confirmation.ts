import type * as z from "zod/mini";
import type { AnswerBody } from "../../../contract/answer.ts";
import { newAuthorization, newLoginCode } from "../../../contract/bodies.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { refuseMore } from "../../model/delegation.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { sendEntry } from "../../requests/entries.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import type { ConfirmedLogin, LoginRequest } from "../../store/tokens/session-rows.ts";
import { insertCode, type Made } from "../../store/tokens/sessions.ts";
import { parseBody } from "../body.ts";
import { requireConsole, requireSession } from "../console-session.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import type { Content } from "../route.ts";
import { signInEntry } from "./sign-in.ts";

/** What a person confirms in the console: a login in a browser, and one by a code that they paste (contract 28.3, 28.5). */

export async function createAuthorization(c: Context): Promise<Result<Content<AnswerBody<"createAuthorization">>>> {
  const login = await confirmLogin(c, newAuthorization, ({ redirect_uri: redirectUri, code_challenge: challenge, ...asked }) => ({
    ...asked,
    challenge,
    redirectUri,
  }));
  return login.ok ? answerCode(login.value, "authorizationCode") : login;
}

export async function createLoginCode(c: Context): Promise<Result<Content<AnswerBody<"createLoginCode">>>> {
  const login = await confirmLogin(c, newLoginCode, ({ vaults, expiresIn = LIMITS.loginCodeLifetime }) => ({
    vaults,
    expiresIn,
  }));
  return login.ok ? answerCode(login.value, "loginCode") : login;
}

/** A login, and who confirms it. The claims are those of the person alone, without what the admin has opened to the session (contract 24.12). */
interface Confirming {
  readonly store: Store;
  readonly person: VerifiedClaims;
}

interface Confirmation extends Confirming {
  readonly login: Omit<ConfirmedLogin, "id">;
}

/** Returns the login that the person of the session confirms. Fails as `requirePerson`; 400, 413, 415; with `out_of_scope`, which is logged. */
async function confirmLogin<S extends z.ZodMiniType>(
  c: Context,
  schema: S,
  loginOf: (input: z.output<S>) => Confirmation["login"],
): Promise<Result<Confirmation>> {
  const confirming = await requirePerson(c);
  if (!confirming.ok) return confirming;
  const { person } = confirming.value;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const input = body.ok ? parseValue(schema, body.value.json, "the login") : body;
  if (!input.ok) return input;
  const login = loginOf(input.value);
  const refused = refuseLogin(person, login);
  // The entry of a refused login is that of a refused sign-in of the person.
  if (refused) c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", person)));
  return refused ?? ok({ ...confirming.value, login });
}

/** Refuses a login that asks for more than the person has. */
const refuseLogin = (person: VerifiedClaims, { vaults = {}, admin }: LoginRequest) =>
  admin && !person.admin ? fail("out_of_scope", "act as an administrator") : refuseMore(person, { vaults }, 1);

/**
 * Returns the person of the session. A session of a token or of the admin alone confirms nothing: a token holder would get a token that
 * outlives theirs. The request counts as a sign-in does. Fails with `cross_site`, `misconfigured`, `out_of_scope`, `rate`, and as
 * `requireSession`.
 */
async function requirePerson(c: Context): Promise<Result<Confirming>> {
  const allowed = requireConsole(c);
  if (!allowed.ok) return allowed;
  const store = await openStore(c.env, Date.now());
  if (!store.ok) return store;
  const session = await requireSession(c, store.value);
  if (!session.ok) return session;
  const { token } = session.value;
  if (token?.kind !== "person") return fail("out_of_scope", "confirm a login: sign in as a person");
  const limited = await limitToken(c.env, token.id, store.value.now, LIMITS.signInCost);
  return limited ?? ok({ store: store.value, person: token });
}

async function answerCode(
  { store, person, login }: Confirmation,
  kind: "authorizationCode" | "loginCode",
): Promise<Result<Content<Record<"id" | "code" | "expiresAt", string>>>> {
  const id = crypto.randomUUID();
  const made = await insertCode(store, { token: person, login: { id, ...login } }, kind);
  return made.ok ? ok({ json: presentCode(id, made.value) }) : made;
}

const presentCode = (id: string, { text, expiresAt }: Made) => ({ id, code: text, expiresAt: presentTime(expiresAt) });
