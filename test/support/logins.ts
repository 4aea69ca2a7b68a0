import { serveTeam, addPerson } from "./access.ts";
import { browser, cookieOf } from "./console.ts";
import { type Client, type Permission, type Reply, type Request_, send } from "./service.ts";

/** Logins of people from a terminal (contract 28). */

export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly cookie: string;
  /** Sends requests as the console of the person. */
  readonly call: Client;
}

export interface People {
  (vaults?: Record<string, Permission>): Promise<SignedIn>;
  /** Somebody who was added before signs in. */
  readonly again: (email: string) => Promise<SignedIn>;
}

/** For the tests of a file: adds a person with these vaults, who signs in with Access. */
export function servePeople(): People {
  const signInAs = serveTeam();
  const again = async (email: string): Promise<SignedIn> => {
    const reply = await signInAs(email);
    const cookie = cookieOf(reply);
    return { id: reply.body.person.id, email, cookie, call: browser(cookie) };
  };
  const add = async (vaults: Record<string, Permission> = {}) => again((await addPerson(vaults)).email);
  return Object.assign(add, { again });
}

export const REDIRECT = "http://127.0.0.1:49152/";

/** The challenge of a verifier (RFC 7636 section 4.2). */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return new Uint8Array(digest).toBase64({ alphabet: "base64url", omitPadding: true });
}

export const newVerifier = (): string =>
  crypto.getRandomValues(new Uint8Array(32)).toBase64({ alphabet: "base64url", omitPadding: true });

/** The person confirms a login in a browser. */
export async function authorize(call: Client, verifier: string, attributes: object = {}): Promise<Reply> {
  const body = { redirect_uri: REDIRECT, code_challenge: await challengeOf(verifier), ...attributes };
  return call("POST", "/console/authorizations", { body });
}

/** A login in a browser that the person has confirmed: what redeems it. */
export async function authorized({ call }: Pick<SignedIn, "call">, attributes: object = {}): Promise<object> {
  const code_verifier = newVerifier();
  const { body } = await authorize(call, code_verifier, attributes);
  return { code: body.code, code_verifier };
}

export const redeem = (body: object, options: Request_ = {}): Promise<Reply> =>
  send("POST", "/v1/login/token", { ...options, body });

/** The person makes a code to paste into a terminal. */
export const makeLoginCode = (call: Client, attributes: object = {}): Promise<Reply> =>
  call("POST", "/console/login-codes", { body: { vaults: {}, ...attributes } });

/** The text of such a code. */
export const loginCode = async (call: Client, attributes: object = {}): Promise<string> =>
  (await makeLoginCode(call, attributes)).body.code;

/** A login by such a code: what redeems it. */
export const pasted = async ({ call }: Pick<SignedIn, "call">, attributes: object = {}): Promise<object> => ({
  code: await loginCode(call, attributes),
});
