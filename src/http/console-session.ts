import { parseConsoleSecret } from "../crypto/console-secret.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { countEndedSession, countFailure, isFlooding, limitToken } from "../requests/rate-limit.ts";
import { isKnownRefused, rememberRefusal } from "../requests/refused.ts";
import { openStore, type Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";
import { explainFailure } from "../store/keys/root-keys.ts";
import { type ConsoleSession, findSession, loadSession, wasAlive } from "../store/tokens/sessions.ts";
import { addressOf, type Context, isLocal } from "./context.ts";
import { digestOf } from "./secret.ts";

/** The cookies of the console: the requests that may use them, and the session that a cookie names (contract 24). */

const COOKIE = "item-vault-session";
/** The cookie of a sign-in that waits for the identity provider (contract 25.12). */
export const PENDING_COOKIE = "item-vault-sign-in";

/**
 * Returns the name and attributes of a cookie at the origin of the request (RFC 6265bis section 4.1.3.2 for the prefix). Returns
 * undefined for http, unless the host is this machine, because others could read the cookie in transit.
 */
function cookieAt(c: Context, cookie = COOKIE): { readonly name: string; readonly attributes: string } | undefined {
  const attributes = "Path=/; HttpOnly; SameSite=Strict";
  if (new URL(c.req.url).protocol === "https:") return { name: `__Host-${cookie}`, attributes: `${attributes}; Secure` };
  return isLocal(c) ? { name: cookie, attributes } : undefined;
}

/**
 * Requires that the console of this origin made the request. A browser sets `Sec-Fetch-Site` itself (W3C Fetch Metadata). It
 * sends the other header to another origin only after a preflight, which this service does not answer. Fails with `cross_site`.
 */
const requireConsole = (c: Context): Result<undefined> =>
  cookieAt(c) && c.req.header("Sec-Fetch-Site") === "same-origin" && c.req.header("Item-Vault-Console") === "1"
    ? ok(undefined)
    : fail("cross_site");

/** Opens the store for a request of the console. Fails with `cross_site` or `misconfigured`. */
export async function openForConsole(c: Context): Promise<Result<Store>> {
  const allowed = requireConsole(c);
  return allowed.ok ? openStore(c.env, Date.now()) : allowed;
}

/** Returns true if a page of another origin made the request in a browser, according to the browser (W3C Fetch Metadata). */
export const isFromOtherOrigin = (c: Context): boolean =>
  ["cross-site", "same-site"].includes(c.req.header("Sec-Fetch-Site") ?? "");

const namesCookie = (c: Context): boolean => {
  const name = cookieAt(c)?.name;
  const names = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.split("=", 1)[0]!.trim());
  return names.some((sent) => (name === undefined ? sent.endsWith(COOKIE) : sent === name));
};

/**
 * Returns the value of a cookie. Returns undefined without a cookie, and with two of this name, because another origin has set one of them.
 */
export function cookieOf(c: Context, cookie = COOKIE): string | undefined {
  const prefix = `${cookieAt(c, cookie)?.name}=`;
  const pairs = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.trim());
  const [value, ...others] = pairs.filter((pair) => pair.startsWith(prefix));
  return others.length === 0 ? value?.slice(prefix.length) : undefined;
}

export function setCookie(c: Context, value: string, seconds: number, cookie = COOKIE): void {
  const { name, attributes } = cookieAt(c, cookie)!;
  c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
}

/** Returns the id of the session that the cookie names. Returns undefined for a text that this service did not make. */
export async function sessionIdOf(c: Context, { keyring }: Store): Promise<string | undefined> {
  const value = cookieOf(c);
  return value === undefined ? undefined : parseConsoleSecret(keyring, "session", value);
}

/** Returns the fingerprint of ADMIN_TOKEN. The admin's grants end when it changes. */
export const adminFingerprint = async ({ env }: Context): Promise<string | undefined> =>
  env.ADMIN_TOKEN ? new Uint8Array(await digestOf(env.ADMIN_TOKEN)).toHex() : undefined;

/**
 * Returns the session of a request. With `known`, a session in the isolate's cache suffices. Returns undefined without a cookie, or with
 * `Authorization`, which then takes precedence. Fails with `cross_site`; `unauthorized`, `rate`; `misconfigured`, `schema`, `unavailable`.
 */
export async function sessionOf(c: Context, store: Store, known: boolean): Promise<Result<ConsoleSession> | undefined> {
  if (c.req.header("Authorization") !== undefined || !namesCookie(c)) return undefined;
  const allowed = requireConsole(c);
  return allowed.ok ? requireSession(c, store, known) : allowed;
}

/**
 * Returns the session of a request, as `sessionOf` does. The request must be made by the console and have a session. An ended
 * session does not count as a failed authentication of the address. A browser sends its cookie unasked, and behind a shared
 * address the console has to learn that its session ended. To limit the load, requests are counted by session, D1 is asked once a
 * minute, and SESSION_RATE counts them by address. A cookie that this service did not make counts as a failed authentication.
 */
export async function requireSession(c: Context, store: Store, known = false): Promise<Result<ConsoleSession>> {
  const id = await sessionIdOf(c, store);
  if (id === undefined) {
    const refusal = await explainFailure(store);
    return namesCookie(c) ? countFailure(c.env, addressOf(c), refusal) : refusal;
  }
  const limited = await limitToken(c.env, id, store.now);
  if (limited) return limited;
  if (await isLimited(c, store, id)) return fail("rate");
  const schema = await checkSchema(store.db);
  return schema.ok ? sessionOfId(c, store, id, known) : schema;
}

/**
 * Returns true if D1 is not asked about a session. Its address floods this isolate with cookies of ended sessions, and the
 * isolate has seen this session neither in use nor refused.
 */
export const isLimited = async (c: Context, store: Store, id: string): Promise<boolean> =>
  isFlooding(addressOf(c), store.now) && !wasAlive(store, id) && !isKnownRefused(store, { id, admin: await adminFingerprint(c) });

/** Remembers that a session has ended, and counts its cookie for the address. */
export async function refuseEnded(c: Context, store: Store, id: string): Promise<void> {
  rememberRefusal(store, { id, admin: await adminFingerprint(c) });
  await countEndedSession(c.env, addressOf(c), store.now);
}

/**
 * Returns the session with an id. With `known`, a session in the isolate's cache suffices. Fails with `unauthorized`, without a
 * D1 call if D1 refused the session in the last minute, and with `unavailable`.
 */
export async function sessionOfId(c: Context, store: Store, id: string, known = false): Promise<Result<ConsoleSession>> {
  const admin = await adminFingerprint(c);
  if (isKnownRefused(store, { id, admin })) return fail("unauthorized");
  const session = await (known ? findSession : loadSession)(store, id, admin);
  if (!session.ok && session.failure.kind === "unauthorized") await refuseEnded(c, store, id);
  return session;
}
