import type { AnswerBody } from "../../api/answer.ts";
import { parseJwt, type VerifiedJwt, type JwtFault, verifyJwt } from "../../crypto/jwt.ts";
import type { Claims } from "../../crypto/token.ts";
import { logRefusal } from "../../log.ts";
import { closeShare, openShare } from "../../memory-budget.ts";
import type { Activity } from "../../model/activity.ts";
import { type ExchangeForm, parseExchangeForm } from "../../model/exchange-form.ts";
import { LIMITS } from "../../model/limits.ts";
import { ADMIN } from "../../model/operation.ts";
import { fail, map, ok, type Refusal, type Result } from "../../model/result.ts";
import type { JsonObject } from "../../model/strict-json.ts";
import { DAY, SECOND } from "../../model/time.ts";
import { loadIssuerKeys } from "../../requests/issuer-keys.ts";
import { limitAddress, limitToken } from "../../requests/rate-limit.ts";
import { sendEntry } from "../../requests/read-entries.ts";
import { openStore, type Store } from "../../store/d1/database.ts";
import { checkSchema } from "../../store/d1/schema.ts";
import { requireRoom } from "../../store/health/room.ts";
import type { OpenedRow } from "../../store/tokens/issuers-and-rules.ts";
import { explainUnknown } from "../../store/tokens/named-rows.ts";
import { type ExchangeFault, insertExchange, type Presented, recordRefused } from "../../store/workloads/exchanges.ts";
import { areInUse, type LoadedIssuer, loadIssuerByUrl, matchingRules } from "../../store/workloads/issuers.ts";
import { adminEntry } from "../audit.ts";
import { isEncoded, readBytes } from "../body.ts";
import { addressOf, type Context, traceOf } from "../context.ts";
import type { Content } from "../route.ts";

/**
 * POST /v1/token-exchange (RFC 8693): exchanges the token of a workload for a token of this service (contract 27.6 to 27.9). For the client
 * every refusal is the same 401; the admin's log has the reason.
 */

/** Why a token was refused, for the log. */
type Reason = JwtFault | ExchangeFault | "unknown_issuer" | "no_rule" | "several_rules" | "old_rule";

/** The actor in the log: the rule or the issuer, if known. */
interface Known {
  readonly actor?: string;
  readonly reason: Reason;
}

/** Seconds that a workload token may be valid. */
const LIFETIME_MAX = DAY / SECOND;

type Answer = AnswerBody<"exchangeToken">;

export const exchangeToken = async (c: Context): Promise<Result<Content<Answer>>> =>
  map(await exchangeBy(c, readForm), (json) => ({ json }));

async function readForm({ req }: Context): Promise<Result<ExchangeForm>> {
  if (isEncoded(req.raw)) return fail("encoding");
  const bytes = await readBytes(req.raw, LIMITS.exchange);
  return bytes.ok ? parseExchangeForm(bytes.value) : bytes;
}

/** Exchanges the workload token of a request. `read` reads its body, which is not read above the limit of the address. */
export async function exchangeBy(c: Context, read: (c: Context) => Promise<Result<ExchangeForm>>): Promise<Result<Answer>> {
  const limited = await limitAddress(c.env, addressOf(c), "exchange");
  if (limited) return limited;
  const form = await read(c);
  if (!form.ok) return form;
  const opened = await openStore(c.env, Date.now());
  if (!opened.ok) return opened;
  const share = openShare(opened.value.now);
  return exchange(c, { ...opened.value, share }, form.value).finally(() => closeShare(share));
}

async function exchange(c: Context, store: Store, form: ExchangeForm): Promise<Result<Answer>> {
  const token = parseJwt(form.token);
  if (!token.ok) return refuse(c, { reason: token.fault });
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  const loaded = await loadIssuerByUrl(store, token.value.issuer);
  if (!loaded.ok) return loaded;
  if (!loaded.value) return (await explainUnknown(store, "issuer")) ?? refuse(c, { reason: "unknown_issuer" });
  const { issuer } = loaded.value;
  const { issuer: url, keyId } = token.value;
  const { allowedOrigins } = store.settings;
  const given = issuer.claims.issuer!.keys;
  const keys = given
    ? ok(given)
    : await loadIssuerKeys({ id: issuer.row.id, issuer: url, allowedOrigins }, keyId, store.now, c.executionCtx);
  if (!keys.ok) return keys;
  const audience = store.settings.workloadAudience ?? new URL(c.req.url).origin;
  const expected = { issuer: url, audience, notBefore: store.settings.tokensNotBefore, lifetimeMax: LIFETIME_MAX };
  const verified = await verifyJwt(token.value, keys.value, expected, store.now);
  if (!verified.ok) return refuse(c, { actor: issuer.row.id, reason: verified.fault });
  const { jti, payload } = verified.value;
  const presented = { issuer: issuer.row.id, url, jti, payload };
  const chosen = await chooseRule(store, loaded.value, form, payload);
  if (chosen.ok) {
    const issued = await issue(c, store, presented, { issuer, rule: chosen.rule }, verified.value);
    return map(issued, (answer) => ({ ...answer, issued_token_type: form.type }));
  }
  const recorded = recordRefused(store, presented).then((done) => done.ok || logRefusal(done, traceOf(c)));
  c.executionCtx.waitUntil(recorded);
  return refuse(c, { actor: issuer.row.id, reason: chosen.reason });
}

type Chosen = { readonly ok: true; readonly rule: OpenedRow } | { readonly ok: false; readonly reason: Reason };

/** Returns the only rule that matches, or the form's rule. The permissions of several rules are never united. */
async function chooseRule(
  store: Store,
  loaded: LoadedIssuer,
  { rule: id, ruleName: name }: ExchangeForm,
  payload: JsonObject,
): Promise<Chosen> {
  const rules = await matchingRules(store, loaded, "workloads", payload);
  const isAny = id === undefined && name === undefined;
  const [rule, another] = rules.filter(({ row, claims }) => isAny || row.id === id || claims.name === name);
  if (!rule) return { ok: false, reason: "no_rule" };
  if (another) return { ok: false, reason: "several_rules" };
  return (await areInUse(store, loaded.issuer, rule)) ? { ok: true, rule } : { ok: false, reason: "old_rule" };
}

/** Issues the token of a rule. Fails with `rate`, `database_full`, `unauthorized`, and as `insertExchange` does. */
async function issue(
  c: Context,
  store: Store,
  presented: Presented,
  { issuer, rule }: { readonly issuer: OpenedRow; readonly rule: OpenedRow },
  subject: VerifiedJwt,
): Promise<Result<Omit<Answer, "issued_token_type">>> {
  // A job may have any number of tokens of its platform.
  const limited = await limitToken(c.env, rule.row.id, store.now, LIMITS.tokenCost);
  if (limited) return limited;
  const room = await requireRoom(store);
  if (!room.ok) return room;
  const claims = claimsOf(store, issuer.claims, rule.claims, subject);
  const done = await insertExchange(store, presented, { issuer, rule }, claims);
  if (!done.ok) return done;
  const { token, fault, count } = done.value;
  if (token === undefined) return refuse(c, { actor: rule.row.id, reason: fault! });
  log(c, "SUCCESS", rule.row.id, claims.id, count > 1 ? "repeated" : undefined);
  const expiresIn = claims.expiresAt - claims.issuedAt;
  return ok({ access_token: token, token_type: "Bearer", expires_in: expiresIn });
}

/** Returns the claims of the token. If the workload token can be exchanged several times, no issued token outlives it. */
function claimsOf(
  { now }: Store,
  issuer: Claims,
  { id, name, dialect, vaults, rule, descent, issuedAt: ruleIssuedAt }: Claims,
  subject: VerifiedJwt,
): Claims {
  const issuedAt = Math.floor(now / SECOND);
  const end = issuedAt + rule!.lifetime;
  return {
    id: crypto.randomUUID(),
    name,
    dialect,
    vaults,
    issuedAt,
    expiresAt: issuer.issuer!.once ? end : Math.min(end, subject.expiresAt),
    kind: "workload",
    descent: { ancestors: [...descent!.ancestors, id], issuedAt: ruleIssuedAt },
  };
}

function refuse(c: Context, { actor = ADMIN, reason }: Known): Refusal {
  log(c, "DENY", actor, null, reason);
  return fail("unauthorized");
}

/** Nothing of the workload's token is in an entry. */
function log(c: Context, result: Activity["result"], actor: string, token: string | null, reason?: string): void {
  const entry = { ...adminEntry({ resource: "EXCHANGE" }, c, "CREATE", token, result), actor, reason };
  c.executionCtx.waitUntil(sendEntry(c.env, entry));
}
