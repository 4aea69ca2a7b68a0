import { parseConsoleSecret } from "../crypto/console-secret.ts";
import { fail, ok, type Result } from "../model/result.ts";
import type { Store } from "../store/database.ts";
import { checkSchema } from "../store/schema.ts";
import { explainFailure } from "../store/root-keys.ts";
import { type ConsoleSession, findSession, loadSession } from "../store/sessions.ts";
import { limitToken } from "../requests/rate-limit.ts";
import type { Context } from "./context.ts";
import { digestOf } from "./secret.ts";

/** The cookie of the console: which requests may use it, and the session that it names (contract 24). */

const LOCAL = new Set(["127.0.0.1", "[::1]", "localhost"]);
const COOKIE = "item-vault-session";

/**
 * The name and attributes of the cookie at the origin of the request: RFC 6265bis section 4.1.3.2 for the prefix. Out: `undefined` for an
 * origin that has none, because its requests can be read on their way: http, unless the host is this machine.
 */
function cookieAt(c: Context): { readonly name: string; readonly attributes: string } | undefined {
  const { protocol, hostname } = new URL(c.req.url);
  const attributes = "Path=/; HttpOnly; SameSite=Strict";
  if (protocol === "https:") return { name: `__Host-${COOKIE}`, attributes: `${attributes}; Secure` };
  return LOCAL.has(hostname) ? { name: COOKIE, attributes } : undefined;
}

/**
 * Whether the request was made by the console of this origin. A browser sets `Sec-Fetch-Site` itself (W3C Fetch Metadata), and sends
 * the other header to another origin only after a preflight, which this service does not answer. Errors: `cross_site`.
 */
export const requireConsole = (c: Context): Result<undefined> =>
  cookieAt(c) && c.req.header("Sec-Fetch-Site") === "same-origin" && c.req.header("Item-Vault-Console") === "1"
    ? ok(undefined)
    : fail("cross_site");

const namesCookie = (c: Context): boolean => {
  const name = cookieAt(c)?.name;
  const names = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.split("=", 1)[0]!.trim());
  return names.some((sent) => (name === undefined ? sent.endsWith(COOKIE) : sent === name));
};

/** The value of the cookie; `undefined` without one, and for a second one of the name: somebody else has set one of them. */
function cookieOf(c: Context): string | undefined {
  const prefix = `${cookieAt(c)?.name}=`;
  const pairs = (c.req.header("Cookie") ?? "").split(";").map((pair) => pair.trim());
  const [value, ...others] = pairs.filter((pair) => pair.startsWith(prefix));
  return others.length === 0 ? value?.slice(prefix.length) : undefined;
}

/** Sets the cookie. In: its value, and for how many seconds. */
export function setCookie(c: Context, value: string, seconds: number): void {
  const { name, attributes } = cookieAt(c)!;
  c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
}

/** The id of the session that the cookie names. Out: `undefined` for a text that this service did not make. */
export async function sessionIdOf(c: Context, { keyring }: Store): Promise<string | undefined> {
  const value = cookieOf(c);
  return value === undefined ? undefined : parseConsoleSecret(keyring, "session", value);
}

/** What ends the grants of the admin when it changes. */
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
 * As `sessionOf`, for a request that needs a session and was made by the console. A refusal counts as no failed authentication of the
 * address: nobody guesses a cookie, and a browser sends one that has ended by itself. Behind a shared address the console has to learn
 * that, whatever others send. So that a cookie that has ended causes no load, requests are counted by session.
 */
export async function requireSession(c: Context, store: Store, known = false): Promise<Result<ConsoleSession>> {
  const id = await sessionIdOf(c, store);
  if (id === undefined) return explainFailure(store);
  const limited = await limitToken(c.env, id, store.now);
  if (limited) return limited;
  const schema = await checkSchema(store.db);
  if (!schema.ok) return schema;
  return (known ? findSession : loadSession)(store, id, await adminFingerprint(c));
}
