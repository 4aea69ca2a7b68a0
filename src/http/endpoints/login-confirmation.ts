import type * as z from "zod/mini";
import type { AnswerBody } from "../../api/answer.ts";
import { newAuthorization, newLoginCode } from "../../api/bodies.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { refuseMore } from "../../model/delegation.ts";
import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { sendEntry } from "../../requests/entries.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import type { ConfirmedLogin } from "../../store/tokens/session-rows.ts";
import { insertCode } from "../../store/tokens/sessions.ts";
import { parseBody } from "../body.ts";
import { requireConsole, requireSession } from "../console-session.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import type { Content } from "../route.ts";
import { signInEntry } from "./sign-in.ts";

/** What a person confirms in the console: a login in a browser, and one by a code that they paste (contract 28.3, 28.5). */

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
  const { store, person } = confirming.value;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const input = body.ok ? parseValue(schema, body.value.json, "the login") : body;
  if (!input.ok) return input;
  const login = { id: crypto.randomUUID(), ...loginOf(input.value) };
  const refused = refuseLogin(person, login);
  // The entry of a refused login is that of a refused sign-in of the person.
  if (refused) c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", person)));
  if (refused) return refused;
  const made = await insertCode(store, { token: person, login }, kind);
  return made.ok ? ok({ json: { id: login.id, code: made.value.text, expiresAt: presentTime(made.value.expiresAt) } }) : made;
}

/** Refuses a login that asks for more than the person has. */
const refuseLogin = (person: VerifiedClaims, { vaults = {}, admin }: ConfirmedLogin) =>
  admin && !person.admin ? fail("out_of_scope", "act as an administrator") : refuseMore(person, { vaults }, 1);

/**
 * Returns the person of the session: their own claims, without what the admin has opened to it (contract 24.12). A session of a token or of the
 * admin alone confirms nothing: a token holder would get a token that outlives theirs. The request counts as a sign-in does. Fails with
 * `cross_site`, `misconfigured`, `out_of_scope`, `rate`, and as `requireSession`.
 */
async function requirePerson(c: Context): Promise<Result<{ readonly store: Store; readonly person: VerifiedClaims }>> {
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
