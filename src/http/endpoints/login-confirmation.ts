import type { AnswerBody } from "../../../contract/answer.ts";
import { newAuthorization, typedDevice } from "../../../contract/bodies.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { refuseMore } from "../../model/delegation.ts";
import { LIMITS } from "../../model/limits.ts";
import { SECOND } from "../../model/time.ts";
import { fail, invalid, ok, type Refusal, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { sendEntry } from "../../requests/entries.ts";
import { limitToken } from "../../requests/rate-limit.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import { confirmDevice as confirmFound, type Device, findDevice, type Typing } from "../../store/tokens/device-codes.ts";
import type { LoginRequest } from "../../store/tokens/logins.ts";
import { insertCode } from "../../store/tokens/sessions.ts";
import { parseBody } from "../body.ts";
import { requireConsole, requireSession } from "../console-session.ts";
import type { Context } from "../context.ts";
import { presentTime } from "../present/time.ts";
import { presentScope } from "../present/tokens.ts";
import type { Content } from "../route.ts";
import { signInEntry } from "./sign-in.ts";

/** What a person confirms in the console: a login in a browser, and one of a device (contract 28.3, 28.6). */

/** Who confirms. The claims are those of the person alone, without what the admin has opened to the session (contract 24.12). */
interface Confirming extends Typing {
  readonly store: Store;
}

/**
 * The person of the session. A session of a token or of the admin alone confirms nothing: who has a token would get one that outlives it.
 * It counts as a sign-in does. Errors: `cross_site`, `misconfigured`; those of `requireSession`; `out_of_scope`, `rate`.
 */
async function requirePerson(c: Context): Promise<Result<Confirming>> {
  const allowed = requireConsole(c);
  if (!allowed.ok) return allowed;
  const store = await openStore(c.env, Date.now());
  if (!store.ok) return store;
  const session = await requireSession(c, store.value);
  if (!session.ok) return session;
  const { id, token } = session.value;
  if (token?.kind !== "person") return fail("out_of_scope", "confirm a login: sign in as a person");
  const limited = await limitToken(c.env, token.id, store.value.now, LIMITS.signInCost);
  return limited ?? ok({ store: store.value, person: token, session: id });
}

/** Refuses a login that asks for more than the person has, and logs it. Out: `out_of_scope`; undefined for a login that may be confirmed. */
function refuseLogin(c: Context, person: VerifiedClaims, { vaults = {}, admin }: LoginRequest): Refusal | undefined {
  const refused = admin && !person.admin ? fail("out_of_scope", "act as an administrator") : refuseMore(person, { vaults }, 1);
  if (refused) logDenied(c, person);
  return refused;
}

/** The entry of a refused login is that of a refused sign-in of the person. */
const logDenied = (c: Context, person: VerifiedClaims): void =>
  c.executionCtx.waitUntil(sendEntry(c.env, signInEntry(c, "DENY", person)));

export async function createAuthorization(c: Context): Promise<Result<Content<AnswerBody<"createAuthorization">>>> {
  const confirming = await requirePerson(c);
  if (!confirming.ok) return confirming;
  const { store, person } = confirming.value;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const parsed = body.ok ? parseValue(newAuthorization, body.value.json, "the login") : body;
  if (!parsed.ok) return parsed;
  const { redirect_uri: redirectUri, code_challenge: challenge, ...request } = parsed.value;
  const refused = refuseLogin(c, person, request);
  if (refused) return refused;
  const made = await insertCode(store, { token: person, login: { challenge, redirectUri, ...request } }, "authorizationCode");
  if (!made.ok) return made;
  return ok({ json: { code: made.value.text, expiresAt: presentTime(made.value.expiresAt) } });
}

export async function confirmDevice(c: Context): Promise<Result<Content<AnswerBody<"confirmDevice">>>> {
  const confirming = await requirePerson(c);
  if (!confirming.ok) return confirming;
  const { store, person } = confirming.value;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const parsed = body.ok ? parseValue(typedDevice, body.value.json, "the device") : body;
  if (!parsed.ok) return parsed;
  const { user_code: userCode, confirm = false } = parsed.value;
  const found = await findDevice(store, userCode, confirming.value);
  const unknown = found.ok ? found.value === undefined : found.failure.kind === "unauthorized";
  if (unknown) logDenied(c, person);
  if (!found.ok) return found;
  if (!found.value) return NOT_WAITING;
  const { device } = found.value;
  const refused = refuseLogin(c, person, device);
  if (refused) return refused;
  const confirmed = confirm ? await confirmFound(store, found.value, person) : ok(true);
  if (!confirmed.ok) return confirmed;
  return confirmed.value ? ok({ json: presentDevice(device, person, confirm || found.value.confirmed) }) : NOT_WAITING;
}

const NOT_WAITING = invalid("user_code: is not one that a device waits with");

function presentDevice(device: Device, person: VerifiedClaims, confirmed: boolean): AnswerBody<"confirmDevice"> {
  const { address, program, createdAt, expiresIn = LIMITS.loginLifetime, vaults } = device;
  return {
    address,
    program,
    vaults: presentScope({ ...person, vaults: vaults ?? person.vaults }, "uuid") as AnswerBody<"confirmDevice">["vaults"],
    expiresIn,
    createdAt: presentTime(createdAt),
    expiresAt: presentTime(createdAt + LIMITS.deviceCode * SECOND),
    confirmed,
  };
}
