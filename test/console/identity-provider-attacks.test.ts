import { beforeAll, describe, expect, it } from "vitest";
import { addPerson } from "../support/access.ts";
import { browser } from "../support/console.ts";
import { type Begun, begun, claimsOf, CLIENT, finish, give, type Provider, startProvider } from "../support/identity-provider.ts";
import { kindOf, type Reply } from "../support/service.ts";
import { type Json, newSigningKey } from "../support/workload-tokens.ts";

/** Attacks on the sign-in by an identity provider (contract 25.12): each differs in one thing from a sign-in that is accepted. */

const REFUSED = [401, "unauthorized"];

let provider: Provider;
let email: string;
let pending: Begun;
beforeAll(async () => {
  provider = await startProvider();
  email = (await addPerson()).email;
  pending = await begun(provider);
});

const PENDING = "__Host-item-vault-sign-in";
const attempts = async () => (await provider.exchanges()).length;

const signInWith = async (claims: Json, ...by: [header?: Json, key?: Provider["key"]]): Promise<unknown> => {
  await give(pending, { ...claimsOf(pending, email), ...claims }, ...by);
  const reply = await finish(pending);
  return reply.headers.get("Set-Cookie") === null ? kindOf(reply) : reply.status;
};

describe("the answer of the provider", () => {
  beforeAll(async () => give(pending, claimsOf(pending, email)));

  it("is accepted in the browser that has begun the sign-in, with the issuer or without", async () => {
    for (const answer of [{}, { iss: provider.server.url }]) expect((await finish(pending, answer)).status).toBe(200);
  });

  it.each<readonly [string, (other: Begun) => Promise<Reply>]>([
    ["without the cookie (login CSRF)", () => finish(pending, {}, { cookies: {} })],
    ["with the cookie of another sign-in", (other) => finish(pending, {}, { cookies: { [PENDING]: other.cookie } })],
    ["with the state of another sign-in", (other) => finish(pending, { state: other.state })],
    [
      "with two cookies of the name",
      ({ cookie }) => finish(pending, {}, { headers: { Cookie: `${PENDING}=${pending.cookie}; ${PENDING}=${cookie}` } }),
    ],
    ["with the cookie over http", () => finish(pending, {}, { cookies: { "item-vault-sign-in": pending.cookie } })],
    [
      "with a state whose time was changed",
      () => finish(pending, { state: pending.state.replace(/^\d+/, (at) => String(Number(at) + 1)) }),
    ],
    ["with a state that never expires", () => finish(pending, { state: pending.state.replace(/^\d+/, "999999999999") })],
    ["with an empty state", () => finish(pending, { state: "" })],
    ["with a cookie that this service did not make", () => finish(pending, {}, { cookies: { [PENDING]: "A".repeat(43) } })],
    ["of another issuer (mix-up, RFC 9207)", () => finish(pending, { iss: "https://attacker.example.com" })],
    ["of an issuer with a slash more", () => finish(pending, { iss: `${provider.server.url}/` })],
  ])("is refused %s, and its code is not sent", async (_, attack) => {
    const other = await begun(provider);
    const before = await attempts();
    expect(kindOf(await attack(other))).toEqual(REFUSED);
    expect(await attempts()).toBe(before);
  });

  it("without its issuer is refused where the provider says that it names it", async () => {
    const naming = await startProvider({ authorization_response_iss_parameter_supported: true });
    const one = await begun(naming);
    await give(one, claimsOf(one, email));
    expect(kindOf(await finish(one))).toEqual(REFUSED);
    expect((await finish(one, { iss: naming.server.url })).status).toBe(200);
  });

  it("with a code that the provider does not accept is refused", async () => {
    const one = await startProvider();
    const waiting = await begun(one);
    await one.answer({ json: { error: "invalid_grant", error_description: "canary" }, status: 400 });
    expect(kindOf(await finish(waiting))).toEqual(REFUSED);
  });

  it("is refused without its state as every code that this service did not make", async () => {
    const reply = await browser(undefined)("POST", "/console/session", { body: { code: "the code" }, env: provider.env });
    expect(kindOf(reply)).toEqual(REFUSED);
  });

  it("never goes to an address that the request names: there is none", async () => {
    const body = { code: "the code", state: pending.state, redirect_uri: "https://attacker.example.com" };
    expect((await browser(undefined)("POST", "/console/session", { body, env: provider.env })).status).toBe(400);
  });
});

describe("an ID token", () => {
  const now = Math.floor(Date.now() / 1000);
  it("without a fault is accepted, also with several audiences of which azp names the client", async () => {
    expect(await signInWith({})).toBe(200);
    expect(await signInWith({ aud: [CLIENT.id, "other"], azp: CLIENT.id })).toBe(200);
    expect(await signInWith({ email_verified: undefined })).toBe(200);
  });

  it.each<readonly [string, Json | ((other: Begun) => Json)]>([
    ["the nonce of another sign-in (code injection)", ({ nonce }) => ({ nonce })],
    ["no nonce", { nonce: undefined }],
    ["another audience", { aud: "other" }],
    ["several audiences and no azp", { aud: [CLIENT.id, "other"] }],
    ["an azp that is another client", { azp: "other" }],
    ["the iss of another issuer", { iss: "https://attacker.example.com" }],
    ["no sub", { sub: undefined }],
    ["an empty sub", { sub: "" }],
    ["a sub that is a number", { sub: 1 }],
    ["a sub of 256 characters", { sub: "x".repeat(256) }],
    ["expired", { exp: now - 1 }],
  ])("is refused with %s", async (_, claims) => {
    expect(await signInWith(typeof claims === "function" ? claims(await begun(provider)) : claims)).toEqual(REFUSED);
  });

  it("is refused with another algorithm, or the signature of another key under the id of the provider's", async () => {
    expect(await signInWith({}, { alg: "none" })).toEqual(REFUSED);
    expect(await signInWith({}, {}, await newSigningKey("ES256"))).toEqual(REFUSED);
  });
});
