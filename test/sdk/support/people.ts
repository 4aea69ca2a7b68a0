import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { inject } from "vitest";
import type { Permission } from "../../../src/model/permission.ts";
import { startWorker } from "./worker.ts";

/** A service of its own with a team of Cloudflare Access, over HTTP: people can sign in there. */

export interface PeopleService {
  /** With a slash at the end. */
  readonly url: string;
  /** Sends a request of the admin. Out: the body. */
  readonly admin: (method: string, path: string, body?: object) => Promise<any>;
  /** What Access adds to each request of somebody. */
  readonly assertionOf: (email: string) => Promise<string>;
  readonly addPerson: (vaults?: Record<string, Permission>, attributes?: object) => Promise<{ id: string; email: string }>;
  /** Signs in by Access. Out: sends requests as the console of the person. */
  readonly signIn: (email: string) => Promise<(method: string, path: string, body?: object) => Promise<Response>>;
  readonly close: () => Promise<void>;
}

const CONSOLE = { "Sec-Fetch-Site": "same-origin", "Item-Vault-Console": "1" };

export async function startPeopleService(): Promise<PeopleService> {
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "team", alg: "RS256", use: "sig" };
  const team = createServer((_, answer) => answer.end(JSON.stringify({ keys: [jwk] })));
  team.listen(0, "127.0.0.1");
  await once(team, "listening");
  const issuer = `http://127.0.0.1:${(team.address() as AddressInfo).port}`;
  const audience = "a".repeat(64);
  const { url, close } = await startWorker(inject("secrets"), { ACCESS_TEAM: issuer, ACCESS_AUD: audience });
  const ask = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });

  const admin: PeopleService["admin"] = async (method, path, body) => {
    const response = await ask(method, `v1/admin/${path}`, { Authorization: `Bearer ${inject("secrets").ADMIN_TOKEN}` }, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  };
  const assertionOf = (email: string) =>
    new SignJWT({ email, type: "app" })
      .setProtectedHeader({ alg: "RS256", kid: "team", typ: "JWT" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(email)
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
  const signIn: PeopleService["signIn"] = async (email) => {
    const headers = { ...CONSOLE, "Cf-Access-Jwt-Assertion": await assertionOf(email) };
    const response = await ask("POST", "console/session", headers, {});
    const [cookie = ""] = response.headers.getSetCookie();
    if (!response.ok) throw new Error(`No session: ${response.status}`);
    return (method, path, body) => ask(method, path, { ...CONSOLE, Cookie: cookie.split(";", 1)[0]! }, body);
  };
  return {
    url,
    admin,
    assertionOf,
    signIn,
    addPerson: (vaults = {}, attributes = {}) =>
      admin("POST", "people", { email: `${crypto.randomUUID()}@example.com`, vaults, ...attributes }),
    async close() {
      await close();
      team.close();
    },
  };
}
