import { parseConsoleSecret } from "../crypto/console-secret.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Store } from "../store/d1/database.ts";
import { checkSchema } from "../store/d1/schema.ts";
import { explainFailure } from "../store/keys/root-keys.ts";
import { type ConsoleSession, findSession, loadSession, wasAlive } from "../store/tokens/sessions.ts";
import { countEndedSession, countFailure, isFlooding, limitToken } from "../requests/rate-limit.ts";
import { isKnownRefused, rememberRefusal } from "../requests/refused.ts";
import { addressOf, type Context, isLocal } from "./context.ts";
import { digestOf } from "./secret.ts";

/** The cookies of the console: which requests may use them, and the session that one of them names (contract 24). */

const COOKIE = "item-vault-session";
/** That of a sign-in which waits for the identity provider (contract 25.12). */
export const PENDING_COOKIE = "item-vault-sign-in";

/**
 * The name and attributes of a cookie at the origin of the request: RFC 6265bis section 4.1.3.2 for the prefix. Out: `undefined` for an
 * origin that has none, because its requests can be read on their way: http, unless the host is this machine.
 */
function cookieAt(c: Context, cookie = COOKIE): { readonly name: string; readonly attributes: string } | undefined {
  const attributes = "Path=/; HttpOnly; SameSite=Strict";
  if (new URL(c.req.url).protocol === "https:") return { name: `__Host-${cookie}`, attributes: `${attributes}; Secure` };
  return isLocal(c) ? { name: cookie, attributes } : undefined;
}

/**
 * Whether the request was made by the console of this origin. A browser sets `Sec-Fetch-Site` itself (W3C Fetch Metadata), and sends
 * the other header to another origin only after a preflight, which this service does not answer. Errors: `cross_site`.
 */
export const requireConsole = (c: Context): Result<undefined> =>
  cookieAt(c) && c.req.header("Sec-Fetch-Site") === "same-origin" && c.req.header("Item-Vault-Console") === "1"
    ? ok(undefined)
    : fail("cross_site");

/** Whether a page of another origin made the request in a browser, which says so itself (W3C Fetch Metadata). */
export const isFromOtherOrigin = (c: Context): boolean =>
  ["cross-site", "same-site"].includes(c.req.header("Sec-Fetch-Site") ?? "");

const namesCookie = (c: Context): boolean => {
  const name = cookieAt(c)?.name;
  const names = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.split("=", 1)[0]!.trim());
  return names.some((sent) => (name === undefined ? sent.endsWith(COOKIE) : sent === name));
};

/** The value of a cookie; `undefined` without a cookie, and with two of this name, because another origin has set one of them. */
export function cookieOf(c: Context, cookie = COOKIE): string | undefined {
  const prefix = `${cookieAt(c, cookie)?.name}=`;
  const pairs = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.trim());
  const [value, ...others] = pairs.filter((pair) => pair.startsWith(prefix));
  return others.length === 0 ? value?.slice(prefix.length) : undefined;
}

/** Sets a cookie for so many seconds. */
export function setCookie(c: Context, value: string, seconds: number, cookie = COOKIE): void {
  const { name, attributes } = cookieAt(c, cookie)!;
  c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
}

/** The id of the session that the cookie names. Out: `undefined` for a text that this service did not make. */
export async function sessionIdOf(c: Context, { keyring }: Store): Promise<string | undefined> {
  const value = cookieOf(c);
  return value === undefined ? undefined : parseConsoleSecret(keyring, "session", value);
}

/** The fingerprint of ADMIN_TOKEN. The grants of the admin end when it changes. */
export const adminFingerprint = async ({ env }: Context): Promise<string | undefined> =>
  env.ADMIN_TOKEN ? new Uint8Array(await digestOf(env.ADMIN_TOKEN)).toHex() : undefined;

/**
 * The session of a request. In: whether one that the isolate knows will do. Out: `undefined` for a request that has no cookie, or has
 * `Authorization`, which alone counts then. Errors: `cross_site`; `unauthorized`, `rate`; `misconfigured`, `schema`, `unavailable`.
 */
export async function sessionOf(c: Context, store: Store, known: boolean): Promise<Result<ConsoleSession> | undefined> {
  if (c.req.header("Authorization") !== undefined || !namesCookie(c)) return undefined;
  const allowed = requireConsole(c);
  return allowed.ok ? requireSession(c, store, known) : allowed;
}

/**
 * As `sessionOf`, for a request that needs a session and was made by the console. A session that has ended is no failed authentication of
 * the address: a browser sends its cookie by itself, and behind a shared address the console has to learn that it ended, whatever others
 * send. So that such a cookie causes no load, requests are counted by session, D1 is asked once a minute, and SESSION_RATE counts them for the
 * address. A cookie that this service did not make counts as a failed authentication.
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
 * Whether D1 is not asked about a session: its address floods this isolate with cookies of ended sessions, and the isolate has seen this one
 * neither in use nor refused.
 */
export const isLimited = async (c: Context, store: Store, id: string): Promise<boolean> =>
  isFlooding(addressOf(c), store.now) && !wasAlive(store, id) && !isKnownRefused(store, { id, admin: await adminFingerprint(c) });

/** Remembers that a session has ended, and counts its cookie for the address. */
export async function refuseEnded(c: Context, store: Store, id: string): Promise<void> {
  rememberRefusal(store, { id, admin: await adminFingerprint(c) });
  await countEndedSession(c.env, addressOf(c), store.now);
}

/**
 * The session of an id. In: whether one that the isolate knows will do. Errors: `unauthorized`, for one that D1 has refused in the last
 * minute without a D1 call; `unavailable`.
 */
export async function sessionOfId(c: Context, store: Store, id: string, known = false): Promise<Result<ConsoleSession>> {
  const admin = await adminFingerprint(c);
  if (isKnownRefused(store, { id, admin })) return fail("unauthorized");
  const session = await (known ? findSession : loadSession)(store, id, admin);
  if (!session.ok && session.failure.kind === "unauthorized") await refuseEnded(c, store, id);
  return session;
}
