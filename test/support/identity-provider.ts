import { expect } from "vitest";
import type { Behaviour, Received } from "../../scripts/webhook-receiver-control.ts";
import { CONSOLE, cookieOf } from "./console.ts";
import { type Issuer, ISSUERS_ORIGIN, newIssuer } from "./issuers.ts";
import { type Reply, type Request_, send, withEachDenialLogged } from "./service.ts";
import { headerOf, type Json, newSigningKey, type SigningKey, signToken } from "./workload-tokens.ts";

/** An identity provider (OpenID Connect Core 1.0): a real HTTP server on this machine describes it and answers at its token endpoint. */

export const CLIENT = { id: "item vault:1", secret: "the secret +/ of the client" };
const PENDING = "__Host-item-vault-sign-in";

export interface Provider {
  readonly server: Issuer;
  readonly key: SigningKey;
  readonly env: Partial<Env>;
  readonly answer: (...behaviours: readonly Behaviour[]) => Promise<void>;
  /** The requests that the token endpoint got. */
  readonly exchanges: () => Promise<readonly Received[]>;
}

const control = (path: string) => `${ISSUERS_ORIGIN}/control${path}`;

/** In: attributes of its description that are others. */
export async function startProvider(description: Json = {}): Promise<Provider> {
  const key = await newSigningKey("ES256");
  const server = await newIssuer([key]);
  const { url, keysUrl } = server;
  const token = `${new URL(url).pathname}/token`;
  const endpoints = { authorization_endpoint: `${url}/authorize?prompt=login`, token_endpoint: ISSUERS_ORIGIN + token };
  await server.describe({ json: { issuer: url, jwks_uri: keysUrl, ...endpoints, ...description } });
  return {
    server,
    key,
    env: { OIDC_ISSUER: url, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret },
    answer: async (...behaviours) => {
      await (await fetch(control(token), { method: "PUT", body: JSON.stringify(behaviours) })).text();
    },
    exchanges: async () => (await fetch(control(token))).json<Received[]>(),
  };
}

export interface Begun {
  readonly provider: Provider;
  /** Of the address at which the person signs in. */
  readonly url: URL;
  readonly state: string;
  readonly nonce: string;
  /** The value of the cookie that binds the answer to the browser. */
  readonly cookie: string;
}

export const begin = (provider: Pick<Provider, "env">, request: Request_ = {}): Promise<Reply> =>
  send("POST", "/console/sign-ins", { env: provider.env, headers: CONSOLE, ...request });

/** The console begins a sign-in. */
export async function begun(provider: Provider): Promise<Begun> {
  const { status, body, headers } = await begin(provider);
  expect([status, body]).toEqual([200, { url: expect.any(String) }]);
  const url = new URL(body.url);
  const cookie = new RegExp(`${PENDING}=([\\w-]{43}); `).exec(headers.get("Set-Cookie") ?? "")![1]!;
  const [state, nonce] = ["state", "nonce"].map((name) => url.searchParams.get(name)!);
  return { provider, url, state: state!, nonce: nonce!, cookie };
}

/** The claims of an ID token of somebody. */
export function claimsOf({ provider: { server }, nonce }: Pick<Begun, "provider" | "nonce">, email: string): Json {
  const now = Math.floor(Date.now() / 1000);
  const sub = `the account of ${email}`;
  return { iss: server.url, aud: CLIENT.id, sub, iat: now, exp: now + 300, nonce, email, email_verified: true };
}

/** The provider gives an ID token for the next codes. In: its claims, and a header and key that are others. */
export async function give({ provider }: Begun, claims: Json, header: Json = {}, key = provider.key): Promise<void> {
  const idToken = await signToken({ ...headerOf(provider.key), ...header }, claims, key);
  await provider.answer({ json: { id_token: idToken, access_token: "unused", token_type: "Bearer" } });
}

/** The browser comes back from the provider. In: parameters of the answer, the cookies, and the rest of the request. */
export function finish(
  { provider, state, cookie }: Begun,
  answer: Json = {},
  { cookies = { [PENDING]: cookie }, ...request }: Request_ & { readonly cookies?: Readonly<Record<string, string>> } = {},
): Promise<Reply> {
  const Cookie = Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
  const headers = { ...CONSOLE, ...(Cookie && { Cookie }), ...(request.headers as Record<string, string>) };
  const body = { code: "the code", state, ...answer };
  return withEachDenialLogged(send)("POST", "/console/session", { env: provider.env, body, ...request, headers });
}

/** Somebody signs in. In: the email, and claims of the ID token that are others. */
export async function signInBy(provider: Provider, email: string, claims: Json = {}, request: Request_ = {}): Promise<Reply> {
  const pending = await begun(provider);
  await give(pending, { ...claimsOf(pending, email), ...claims });
  return finish(pending, {}, request);
}

export { cookieOf };
