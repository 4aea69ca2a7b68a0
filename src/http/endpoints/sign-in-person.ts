import type { AnswerBody } from "../../api/answer.ts";
import { isForClient, isOfPerson, type Identity, parseIdentity } from "../../crypto/identity.ts";
import { type JwtFault, parseJwt, type VerifiedJwt, verifyJwt } from "../../crypto/jwt.ts";
import { nameIndex } from "../../crypto/name-index.ts";
import { createPendingSignIn, parsePendingSignIn } from "../../crypto/pending-sign-in.ts";
import { type Claims, isCurrent } from "../../crypto/token.ts";
import { logFailure, logRefusal } from "../../log.ts";
import type { Action, Activity } from "../../model/activity.ts";
import { LIMITS } from "../../model/limits.ts";
import { defect, fail, ok, type Refusal, type Result } from "../../model/result.ts";
import { SECOND } from "../../model/time.ts";
import { createRequestId } from "../../request-id.ts";
import { type AuthorizationAnswer, authorizationUrl, redeemAuthorization } from "../../requests/identity-provider.ts";
import { type KeysSource, loadIssuerKeys } from "../../requests/issuer-keys.ts";
import { limitAddress, limitToken } from "../../requests/rate-limit.ts";
import type { Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { requireRoom } from "../../store/health/room.ts";
import { endToken } from "../../store/tokens/ended-tokens.ts";
import type { OpenedRow } from "../../store/tokens/issuers-and-rules.ts";
import { explainUnknown, insertNamed } from "../../store/tokens/named-rows.ts";
import { bindAccount, replacePerson, type FoundPerson, loadPersonByEmail } from "../../store/tokens/people.ts";
import type { Grants } from "../../store/tokens/session-rows.ts";
import { recordRefused } from "../../store/workloads/exchanges.ts";
import { areInUse, type LoadedIssuer, loadIssuerByUrl, matchingRules } from "../../store/workloads/issuers.ts";
import { adminEntry } from "../audit.ts";
import { cookieOf, openForConsole, PENDING_COOKIE, setCookie } from "../console-session.ts";
import { addressOf, type Context, traceOf } from "../context.ts";
import type { Content } from "../route.ts";
import { sameText } from "../secret.ts";

/**
 * The sign-in of people (contract 25): by an identity provider with OpenID Connect, or by Cloudflare Access. After the token of either is verified,
 * both are the same.
 */

export interface Granted extends Grants {
  /** Expiry of the credential, in Unix milliseconds. The session does not outlive it. */
  readonly until?: number;
}

const redirectUriOf = (c: Context): string => new URL("/console/sign-in", c.req.url).href;

/** Begins a sign-in at the identity provider (contract 25.12). Fails with `cross_site`, `misconfigured`, `rate`, `unauthorized`, `issuer_unavailable`. */
export async function beginSignIn(c: Context): Promise<Result<Content<AnswerBody<"beginSignIn">>>> {
  const store = await openForConsole(c);
  if (!store.ok) return store;
  const limited = await limitAddress(c.env, addressOf(c));
  if (limited) return limited;
  const { oidc, allowedOrigins } = store.value.settings;
  if (!oidc) return fail("unauthorized");
  const pending = await createPendingSignIn(store.value.keyring, store.value.now);
  const url = await authorizationUrl({ oidc, allowedOrigins, now: store.value.now }, pending, redirectUriOf(c));
  if (!url.ok) return url;
  setCookie(c, pending.text, LIMITS.pendingSignIn, PENDING_COOKIE);
  return ok({ json: { url: url.value } });
}

/** The answer of the identity provider, as the page of the console has got it. */
export interface ProviderAnswer extends AuthorizationAnswer {
  readonly state: string;
}

/** Signs in by the answer of the identity provider (contract 25.12). Fails with `unauthorized`, `rate`, `issuer_unavailable`, and as `admit`. */
export async function signInByProvider(c: Context, store: Store, answer: ProviderAnswer): Promise<Result<Granted>> {
  const limited = await limitAddress(c.env, addressOf(c));
  if (limited) return limited;
  const { oidc, allowedOrigins } = store.settings;
  const cookie = cookieOf(c, PENDING_COOKIE) ?? "";
  const pending = await parsePendingSignIn(store.keyring, cookie, answer.state, store.now);
  if (!oidc || !pending || !(await sameText(pending.state, answer.state))) return fail("unauthorized");
  const redeemed = await redeemAuthorization({ oidc, allowedOrigins, now: store.now }, answer, pending, redirectUriOf(c));
  if (!redeemed.ok) return redeemed;
  if (redeemed.value === undefined) return fail("unauthorized");
  const expected = { issuer: oidc.issuer, audience: oidc.clientId, allowedOrigins };
  const verified = await verify(c, store, expected, redeemed.value, (fault) =>
    logFailure("An ID token that the identity provider has given", defect(fault), traceOf(c)),
  );
  if (!verified.ok) return verified;
  const { payload } = verified.value;
  if (payload["nonce"] !== pending.nonce || !isForClient(payload, oidc.clientId)) return fail("unauthorized");
  const identity = parseIdentity(verified.value);
  return identity.ok ? admit(c, store, identity.value) : identity;
}

/** Cloudflare Access sets it on each request to its application. The cookie with the same token is not read: it needs no such request. */
const HEADER = "Cf-Access-Jwt-Assertion";

/**
 * Signs in the person authenticated by Cloudflare Access (contract 25.6). Returns undefined without an Access application or its
 * token. Fails with `unauthorized` for every fault of the token, with `issuer_unavailable`, and as `admit` does.
 */
export async function signInByAccess(c: Context, store: Store): Promise<Result<Granted> | undefined> {
  const { access } = store.settings;
  const token = c.req.header(HEADER);
  if (!access || !token) return undefined;
  const keysAt = `${access.issuer}/cdn-cgi/access/certs`;
  const verified = await verify(c, store, { ...access, keysAt, allowedOrigins: [access.issuer] }, token);
  if (!verified.ok) return verified;
  const identity = isOfPerson(verified.value.payload) ? parseIdentity(verified.value) : fail("unauthorized");
  const granted = identity.ok ? await admit(c, store, identity.value) : identity;
  if (!granted.ok) return granted;
  const { until = Infinity, ...grants } = granted.value;
  return ok({ ...grants, until: Math.min(until, verified.value.expiresAt * SECOND) });
}

/** Verifies a token of an issuer of people. Fails with `unauthorized` for every fault, which `report` gets, and with `issuer_unavailable`. */
async function verify(
  c: Context,
  { now }: Store,
  expected: KeysSource & { readonly audience: string },
  text: string,
  report?: (fault: JwtFault) => void,
): Promise<Result<VerifiedJwt>> {
  const token = parseJwt(text);
  const keys = token.ok ? await loadIssuerKeys(expected, token.value.keyId, now, c.executionCtx) : ok([]);
  if (!keys.ok) return keys;
  const bounds = { ...expected, notBefore: 0, lifetimeMax: Infinity };
  const verified = token.ok ? await verifyJwt(token.value, keys.value, bounds, now) : token;
  if (!verified.ok) report?.(verified.fault);
  return verified.ok ? ok(verified.value) : fail("unauthorized");
}

/** Tries of a sign-in. It is retried if it has written a row, or if the row has changed since it was read. */
const TRIES_MAX = 3;

/**
 * Admits a person whom an issuer has authenticated: added by the admin, or admitted by a rule (contract 25.13). Fails with
 * `rate`; `schema`, `not_invited`, `account_refused`, `misconfigured`, `unavailable`, `busy`; and as writing a row does.
 */
async function admit(c: Context, store: Store, identity: Identity): Promise<Result<Granted>> {
  const { email, issuer, subject } = identity;
  // Before the lookup, because an issuer also authenticates people whom nobody has invited.
  const limited = await limitToken(c.env, await nameIndex(store.keyring.active, "person", email), store.now, LIMITS.signInCost);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = await loadPersonByEmail(store, email);
    if (!found.ok) return found;
    const person = found.value;
    const account = person?.claims.accounts?.[issuer];
    if (account !== undefined && account !== subject) return fail("account_refused", OTHER_ACCOUNT);
    const isAdded = person !== undefined && person.claims.descent === undefined;
    const admitted = isAdded ? admitAdded(store, person) : await admitByRule(c, store, identity, person);
    if (!admitted.ok) return admitted;
    if (!admitted.value || !person) continue;
    const bound = account === undefined ? await bindAccount(store, person.row, person.claims, identity) : ok(true);
    if (!bound.ok) return bound;
    if (bound.value) return ok(admitted.value);
  }
  return fail("busy");
}

const OTHER_ACCOUNT =
  "Another account of the identity provider has signed in here with your email address: ask an administrator to remove and to add you";

const admitAdded = ({ now, settings }: Store, { claims }: FoundPerson): Result<Granted> =>
  isCurrent(claims, now, settings.tokensNotBefore) ? ok({ token: claims }) : fail("not_invited");

/**
 * Admits a person by the first rule that matches. Returns undefined if a row was written or has changed; the row must then be read again. A
 * person whom no rule matches any more is removed. Fails with `not_invited`, `misconfigured`, `unavailable`, and as writing a row does.
 */
async function admitByRule(
  c: Context,
  store: Store,
  identity: Identity,
  person: FoundPerson | undefined,
): Promise<Result<Granted | undefined>> {
  const loaded = await loadIssuerByUrl(store, identity.issuer);
  if (!loaded.ok) return loaded;
  const rule = loaded.value && (await chooseRule(store, loaded.value, identity));
  if (!rule) return refuseWithoutRule(c, store, identity, loaded.value, person);
  if (person && isGranted(store, person.claims, rule))
    return ok({ token: person.claims, until: store.now + rule.claims.rule!.lifetime * SECOND });
  // A row under a root key that is missing is not found, and would be there twice.
  const unknown = person ? undefined : await explainUnknown(store, "person");
  if (unknown) return unknown;
  const room = await requireRoom(store);
  if (!room.ok) return room;
  const claims = claimsByRule(store, identity, rule, person?.claims);
  const entry = entryOf(c, store, person ? "UPDATE" : "CREATE", claims.id, rule.row.id);
  const written = await (person ? replacePerson(store, person.row, claims, entry) : insertNamed(store, claims, entry));
  return written.ok || written.failure.kind === "person_exists" ? ok(undefined) : written;
}

/** Returns the oldest valid rule that matches. The permissions of several rules are never united. */
async function chooseRule(store: Store, loaded: LoadedIssuer, { claims }: Identity): Promise<OpenedRow | undefined> {
  for (const rule of await matchingRules(store, loaded, "people", claims))
    if (await areInUse(store, loaded.issuer, rule)) return rule;
  return undefined;
}

/** Returns true if a person already has the rule's grant for long enough. */
const isGranted = ({ now, settings }: Store, person: Claims, { row }: OpenedRow): boolean =>
  person.descent!.ancestors.at(-1) === row.id &&
  isCurrent(person, now, settings.tokensNotBefore) &&
  person.expiresAt * SECOND > now + (LIMITS.rulePerson * SECOND) / 2;

function claimsByRule(
  { now }: Store,
  { email, issuer, subject }: Identity,
  { row, claims: rule }: OpenedRow,
  person: Claims | undefined,
) {
  const issuedAt = Math.floor(now / SECOND);
  return {
    id: crypto.randomUUID(),
    issuedAt,
    ...person,
    name: email,
    dialect: "uuid",
    kind: "person",
    vaults: rule.vaults,
    admin: rule.admin,
    expiresAt: issuedAt + LIMITS.rulePerson,
    descent: { ancestors: [...rule.descent!.ancestors, row.id], issuedAt: rule.issuedAt },
    accounts: { ...person?.accounts, [issuer]: subject },
  } as const satisfies Claims;
}

/** Refuses a person without a rule. The claims of the token are kept for the test of rules. */
async function refuseWithoutRule(
  c: Context,
  store: Store,
  { jti, claims, issuer: url }: Identity,
  loaded: LoadedIssuer | undefined,
  person: FoundPerson | undefined,
): Promise<Refusal> {
  const recorded = loaded && recordRefused(store, { issuer: loaded.issuer.row.id, url, jti, payload: claims });
  if (recorded) c.executionCtx.waitUntil(recorded.then((done) => done.ok || logRefusal(done, traceOf(c))));
  if (!person) return (await explainUnknown(store, "person")) ?? fail("not_invited");
  const { id } = person.row;
  const [of, rule] = person.claims.descent!.ancestors;
  // An email claim of another issuer ends nothing.
  if (of !== loaded?.issuer.row.id) return fail("not_invited");
  const ended = await endToken(store, id, entryOf(c, store, "DELETE", id, rule!));
  return ended.ok ? fail("not_invited") : ended;
}

/** Returns the entry of a person whom a rule adds, changes or removes. The rule is the actor. */
const entryOf = (c: Context, { now }: Store, action: Action, id: string, rule: string): Activity => ({
  ...adminEntry({ resource: "PERSON" }, c, action, id),
  id: createRequestId(now),
  actor: rule,
});
