import type * as z from "zod/mini";
import type { AnswerBody } from "../../../contract/answer.ts";
import { loginRequest, newDevice } from "../../../contract/bodies.ts";
import { parseConsoleSecret } from "../../crypto/console-secret.ts";
import type { VerifiedClaims } from "../../crypto/token.ts";
import { LIMITS } from "../../model/limits.ts";
import { createUserCode, formatUserCode } from "../../model/login.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { parseValue } from "../../model/text.ts";
import { countFailure, limitAddress } from "../../requests/rate-limit.ts";
import { confirmLevel } from "../../store/health/room.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { explainFailure } from "../../store/keys/root-keys.ts";
import { insertDevice, takeDevice } from "../../store/tokens/device-codes.ts";
import { claimsOfLogin, issueLogin, type LoginRequest } from "../../store/tokens/logins.ts";
import { takeCode } from "../../store/tokens/sessions.ts";
import { adminEntry, originOf } from "../audit.ts";
import { parseBody } from "../body.ts";
import { addressOf, type Context } from "../context.ts";
import { presentIssuedToken } from "../present/tokens.ts";
import type { Content } from "../route.ts";
import { digestOf, sameText } from "../secret.ts";

/** /v1/login: how a terminal gets the token of a person (contract 28). Nobody is authenticated here, so each address is counted first. */

/**
 * Opens the store for a request that needs no credential, and parses its body. Errors: `rate`; 400, 413, 415; `misconfigured`; `schema`,
 * `unavailable`; `database_full`, because what the requests store stays.
 */
async function openForLogin<S extends z.ZodMiniType>(
  c: Context,
  schema: S,
): Promise<Result<{ readonly store: Store; readonly input: z.output<S> }>> {
  const store = await openStore(c.env, Date.now());
  if (!store.ok) return store;
  const limited = await limitAddress(c.env, addressOf(c));
  if (limited) return limited;
  const body = await parseBody(c.req.raw, LIMITS.signIn);
  const input = body.ok ? parseValue(schema, body.value.json, "the login") : body;
  return input.ok ? ok({ store: store.value, input: input.value }) : input;
}

/** Before the database is so full that nothing else can be written. */
async function requireSpace(store: Store): Promise<Result<undefined>> {
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const isFull = await confirmLevel(store, "warning");
  if (!isFull.ok) return isFull;
  return isFull.value ? fail("database_full") : ok(undefined);
}

export async function createDeviceCode(c: Context): Promise<Result<Content<AnswerBody<"createDeviceCode">>>> {
  const opened = await openForLogin(c, newDevice);
  if (!opened.ok) return opened;
  const { store, input } = opened.value;
  const space = await requireSpace(store);
  if (!space.ok) return space;
  const { userAgent: program, requestIp: address } = originOf(c);
  const userCode = createUserCode((size) => crypto.getRandomValues(new Uint8Array(size)));
  const deviceCode = await insertDevice(store, { ...input, program, address }, userCode);
  if (!deviceCode.ok) return deviceCode;
  return ok({
    json: {
      device_code: deviceCode.value,
      user_code: formatUserCode(userCode),
      verification_uri: `${new URL(c.req.url).origin}/console/#/device`,
      expires_in: LIMITS.deviceCode,
      interval: LIMITS.devicePoll,
    },
  });
}

export async function redeemLogin(c: Context): Promise<Result<Content<AnswerBody<"redeemLogin">>>> {
  const opened = await openForLogin(c, loginRequest);
  if (!opened.ok) return opened;
  const { store, input } = opened.value;
  const confirmed = await (input.device_code === undefined ? redeemCode(store, input) : redeemDevice(store, input.device_code));
  if (!confirmed.ok) return countFailure(c.env, addressOf(c), confirmed);
  const { person, request } = confirmed.value;
  const id = crypto.randomUUID();
  const claims = claimsOfLogin(person, request, id, store.now);
  const entry = { ...adminEntry({ resource: "TOKEN" }, c, "CREATE", id), actor: person.id };
  const issued = await issueLogin(store, person, claims, entry);
  if (!issued.ok) return countFailure(c.env, addressOf(c), issued);
  return ok({ json: presentIssuedToken(claims, issued.value.token, "uuid") });
}

interface Confirmed {
  readonly person: VerifiedClaims;
  readonly request: LoginRequest;
}

/**
 * Redeems the code of a login in a browser. A wrong verifier uses it up, so nobody tries a second one. Errors: `unauthorized`, whatever the
 * fault; those of `requireSpace`.
 */
async function redeemCode(store: Store, input: z.output<typeof loginRequest>): Promise<Result<Confirmed>> {
  const id = await parseConsoleSecret(store.keyring, "authorization-code", input.code!);
  if (id === undefined) return explainFailure(store);
  const space = await requireSpace(store);
  if (!space.ok) return space;
  const taken = await takeCode(store, id, undefined, "authorizationCode");
  if (!taken.ok) return taken;
  const { token: person, login } = taken.value;
  if (!person || !login) return fail("unauthorized");
  const { challenge, redirectUri, ...request } = login;
  const sent = new Uint8Array(await digestOf(input.code_verifier!)).toBase64({ alphabet: "base64url", omitPadding: true });
  const isSame = (await sameText(sent, challenge)) && (input.redirect_uri ?? redirectUri) === redirectUri;
  return isSame ? ok({ person, request }) : fail("unauthorized");
}

/** Errors: `unauthorized`, for a text that is no device code of this service; those of `takeDevice` and `requireSpace`. */
async function redeemDevice(store: Store, deviceCode: string): Promise<Result<Confirmed>> {
  const id = await parseConsoleSecret(store.keyring, "device-code", deviceCode);
  if (id === undefined) return explainFailure(store);
  const space = await requireSpace(store);
  if (!space.ok) return space;
  const taken = await takeDevice(store, id);
  return taken.ok ? ok({ person: taken.value.person, request: taken.value }) : taken;
}
