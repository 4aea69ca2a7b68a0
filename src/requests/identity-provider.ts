import { createCache } from "../crypto/cache.ts";
import { hashOf, type PendingSignIn } from "../crypto/pending-sign-in.ts";
import { publicUrlFault } from "../model/public-url.ts";
import type { Result } from "../model/result.ts";
import type { SignInIssuer } from "../model/sign-in-issuer.ts";
import type { JsonObject } from "../model/strict-json.ts";
import { MINUTE } from "../model/time.ts";
import { type Fetched, fetchDescription, fetchDocument, refuse, withDeadline } from "./issuer-documents.ts";

/** The identity provider with which people sign in: the authorization code flow (OpenID Connect Core 1.0 section 3.1) with PKCE (RFC 7636). */

interface Provider {
  readonly oidc: SignInIssuer;
  /** Origins that need not be public. */
  readonly allowedOrigins: readonly string[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** Descriptions by issuer. */
const descriptions = createCache<JsonObject>(8, 10 * MINUTE);

async function describe({ oidc: { issuer }, allowedOrigins, now }: Provider, signal: AbortSignal): Promise<Fetched<JsonObject>> {
  const known = descriptions.get(issuer, now);
  if (known) return { ok: true, value: known };
  const fetched = await fetchDescription(issuer, allowedOrigins, signal);
  if (fetched.ok) descriptions.set(issuer, fetched.value, now);
  return fetched;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function endpointOf(description: JsonObject, name: string, { allowedOrigins }: Provider): Fetched<string> {
  const url = description[name];
  return typeof url === "string" && publicUrlFault(url, allowedOrigins) === undefined
    ? { ok: true, value: url }
    : refuse("endpoint");
}

/** The scopes that are asked for where the provider has them: of names, and of the groups of a person. */
const OPTIONAL_SCOPES = ["profile", "groups"];

/** Returns the address at which a person signs in. Fails with `issuer_unavailable`. */
export const authorizationUrl = (
  provider: Provider,
  { state, nonce, verifier }: PendingSignIn,
  redirectUri: string,
): Promise<Result<string>> =>
  withDeadline("The fetch of the identity provider's description", async (signal) => {
    const description = await describe(provider, signal);
    if (!description.ok) return description;
    const endpoint = endpointOf(description.value, "authorization_endpoint", provider);
    if (!endpoint.ok) return endpoint;
    const scopes = listOf(description.value["scopes_supported"]);
    const url = new URL(endpoint.value);
    const parameters = {
      response_type: "code",
      client_id: provider.oidc.clientId,
      redirect_uri: redirectUri,
      scope: ["openid", "email", ...OPTIONAL_SCOPES.filter((scope) => scopes.includes(scope))].join(" "),
      state,
      nonce,
      code_challenge: await hashOf(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { ok: true, value: url.href };
  });

/** The parameters that the browser brings back. */
export interface AuthorizationAnswer {
  readonly code: string;
  /** The issuer that has answered (RFC 9207). */
  readonly iss?: string | undefined;
}

/**
 * Exchanges a code for an ID token. Returns `undefined` for an answer that is refused: of another issuer (RFC 9207 section 2.4), or with a code
 * that the provider does not accept. Fails with `issuer_unavailable`.
 */
export const redeemAuthorization = (
  provider: Provider,
  { code, iss }: AuthorizationAnswer,
  { verifier }: PendingSignIn,
  redirectUri: string,
): Promise<Result<string | undefined>> =>
  withDeadline("The exchange of a code at the identity provider", async (signal) => {
    const description = await describe(provider, signal);
    if (!description.ok) return description;
    const isNamed = description.value["authorization_response_iss_parameter_supported"] === true;
    if (iss === undefined ? isNamed : iss !== provider.oidc.issuer) return { ok: true, value: undefined };
    const endpoint = endpointOf(description.value, "token_endpoint", provider);
    if (!endpoint.ok) return endpoint;
    const methods = listOf(description.value["token_endpoint_auth_methods_supported"]);
    const form = { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
    const answer = await fetchDocument(endpoint.value, signal, {
      method: "POST",
      statuses: [200, 400, 401],
      ...authenticated(provider.oidc, form, methods.includes("client_secret_post") && !methods.includes("client_secret_basic")),
    });
    if (!answer.ok) return answer;
    const { id_token: idToken, error } = answer.value.body;
    if (answer.value.status !== 200) return error === "invalid_grant" ? { ok: true, value: undefined } : refuse("client");
    return typeof idToken === "string" ? { ok: true, value: idToken } : refuse("content");
  });

/** Adds the client id and its secret to a request (RFC 6749 section 2.3.1). */
function authenticated({ clientId, clientSecret }: SignInIssuer, form: Readonly<Record<string, string>>, inBody: boolean) {
  if (inBody) return { body: new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret }) };
  const [id, secret] = [clientId, clientSecret].map((text) => new URLSearchParams({ "": text }).toString().slice(1));
  return { body: new URLSearchParams(form), headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` } };
}
