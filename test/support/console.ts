import { expect } from "vitest";
import { type Client, type Reply, type Request_, send } from "./service.ts";

/** Requests of the console, with the cookie of a session. */

/** What the console sends, and what its browser adds. */
export const CONSOLE = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };

/** The name of the cookie at the origin of the tests. */
export const COOKIE = "__Host-item-vault-session";

/** Sends requests as the console with this cookie. In: its value. */
export const browser =
  (session: string | undefined, name = COOKIE): Client =>
  (method, path, { headers, ...rest } = {}) => {
    const cookie: Record<string, string> = session === undefined ? {} : { Cookie: `${name}=${session}` };
    return send(method, path, { ...rest, headers: { ...CONSOLE, ...cookie, ...(headers as Record<string, string>) } });
  };

/** The value of the cookie that an answer sets; empty when it removes the cookie. */
export const cookieOf = ({ headers }: Reply): string => /session=([\w-]*);/.exec(headers.get("Set-Cookie") ?? "")![1]!;

/** Signs in. In: what signs in, and the session of the request. Out: the cookie. */
export async function signIn(body: object, session?: string, options: Request_ = {}): Promise<string> {
  const reply = await browser(session)("POST", "/console/session", { ...options, body });
  expect([reply.status, reply.text]).toEqual([200, expect.anything()]);
  return cookieOf(reply);
}
