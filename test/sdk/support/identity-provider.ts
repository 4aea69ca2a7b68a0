import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** An identity provider (OpenID Connect Core 1.0) with pages of its own, over HTTP. */

export interface IdentityProvider {
  readonly url: string;
  /** Who signs in next, with these claims. `undefined`: the person cancels. */
  next: Readonly<Record<string, unknown>> | undefined;
  readonly close: () => void;
}

export const CLIENT = { id: "item-vault", secret: "the secret of the client" };

const pageOf = (address: string): string =>
  `<!doctype html><html lang="en"><title>Provider</title><a href="${address}">Continue</a></html>`;

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "provider", alg: "ES256", use: "sig" };
  const codes = new Map<string, URLSearchParams>();
  const provider: IdentityProvider = { url: "", next: undefined, close: () => void server.close() };

  const idToken = (nonce: string) =>
    new SignJWT({ ...provider.next, nonce })
      .setProtectedHeader({ alg: "ES256", kid: "provider" })
      .setIssuer(provider.url)
      .setAudience(CLIENT.id)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);

  /** The address to which the page of the provider leads. */
  function addressOf(asked: URLSearchParams): string {
    const target = new URL(asked.get("redirect_uri")!);
    target.searchParams.set("state", asked.get("state")!);
    target.searchParams.set("iss", provider.url);
    if (provider.next === undefined) target.searchParams.set("error", "access_denied");
    else {
      const code = crypto.randomUUID();
      codes.set(code, asked);
      target.searchParams.set("code", code);
    }
    return target.href.replaceAll("&", "&amp;");
  }

  async function exchange(form: URLSearchParams): Promise<object> {
    const asked = codes.get(form.get("code")!);
    codes.delete(form.get("code")!);
    const challenge = createHash("sha256").update(form.get("code_verifier")!).digest("base64url");
    const isRight = asked?.get("code_challenge") === challenge && asked.get("redirect_uri") === form.get("redirect_uri");
    return isRight ? { id_token: await idToken(asked.get("nonce")!) } : { error: "invalid_grant" };
  }

  const server = createServer(async (request, answer) => {
    const { pathname, searchParams } = new URL(request.url!, provider.url);
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const answers: Readonly<Record<string, () => object | string | Promise<object>>> = {
      "/authorize": () => pageOf(addressOf(searchParams)),
      "/.well-known/openid-configuration": () => ({
        issuer: provider.url,
        authorization_endpoint: `${provider.url}/authorize`,
        token_endpoint: `${provider.url}/token`,
        jwks_uri: `${provider.url}/keys`,
        authorization_response_iss_parameter_supported: true,
      }),
      "/keys": () => ({ keys: [jwk] }),
      "/token": () => exchange(new URLSearchParams(body)),
    };
    const content = await answers[pathname]?.();
    if (typeof content === "string") answer.setHeader("Content-Type", "text/html").end(content);
    else answer.end(JSON.stringify(content));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(provider, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
