import { type Call, type Client, createClient, ItemVaultError, type Send, type Session } from "@item-vault/client";
import { endSession, isSameUser, session, sessionState, setSession } from "./session.ts";

/** Requests of the console. They carry the cookie of the session, which no script can read (contract 24). */

export const CONSOLE = { host: location.origin, headers: { "Item-Vault-Console": "1" }, attempts: 3 } as const;

const client = createClient(CONSOLE);

/** Requests about the session itself. Their 401 means that there is no session. */
export const callUnchecked: Call = client.call;

/** Returns the session of the cookie. Throws an ItemVaultError, of status 401 without a session. */
export const readSession = async (): Promise<Session> => (await callUnchecked("GET /console/session")).data;

/**
 * Sends a request that needs the session. A 401 is checked. If a sign-in has since replaced the cookie, the request is sent again, unless
 * another user signed in. Otherwise the session, or the required grant, has ended: the page continues with the remaining grant, if the view
 * needs no other. After it has ended nothing is sent, because the cookie may be somebody else's. Throws an ItemVaultError.
 */
export async function withSession<T>(request: () => Promise<T>): Promise<T> {
  if (sessionState.peek() === "ended") throw new ItemVaultError("The session has ended", { kind: "unauthorized", status: 401 });
  const used = session.peek();
  try {
    return await request();
  } catch (error) {
    if (!isRefused(error)) throw error;
    const found = await readSession().catch(() => undefined);
    if (found && isSameUser(found)) return request().catch((refused: unknown) => endRefused(refused, found));
    // Otherwise the answer may predate a sign-in.
    if (session.peek() === used) endSession(found);
    throw error;
  }
}

const isRefused = (error: unknown): boolean => error instanceof ItemVaultError && error.status === 401;

function endRefused(error: unknown, found: Session): never {
  const { token, admin } = session.peek() ?? found;
  const hasFewer = (token !== undefined && !found.token) || (admin && !found.admin);
  if (isRefused(error)) {
    if (hasFewer) setSession(found);
    else endSession();
  }
  throw error;
}

/** Sends a typed request. Throws an ItemVaultError; without a session, the page asks to sign in again. */
export const call: Call = (operation, ...options) => withSession(() => client.call(operation, ...options));

export const send: Send = (method, path, options) => withSession(() => client.send(method, path, options));

/** The same as an object, for the modules that the console shares with the command line. */
export const sessionClient: Client = { ...client, call, send };

/** Returns a parameter of the link to the next page; undefined after the last page. */
export function nextPage(headers: Headers, parameter: string): string | undefined {
  const [, link] = /<([^>]*)>;\s*rel="next"/.exec(headers.get("Link") ?? "") ?? [];
  return link === undefined ? undefined : (new URL(link, location.origin).searchParams.get(parameter) ?? undefined);
}
