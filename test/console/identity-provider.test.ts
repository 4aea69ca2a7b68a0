import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parseSettings } from "../../src/settings.ts";
import { addPerson } from "../support/access.ts";
import { browser, CONSOLE, cookieOf } from "../support/console.ts";
import {
  begin,
  begun,
  type Begun,
  claimsOf,
  CLIENT,
  finish,
  give,
  type Provider,
  signInBy,
  startProvider,
} from "../support/identity-provider.ts";
import { challengeOf } from "../support/logins.ts";
import { admin, freshVault, outcome, type Reply } from "../support/service.ts";
import { type Json, newSigningKey } from "../support/workload-tokens.ts";

/** Signing in by an identity provider with OpenID Connect (contract 25.12, 25.14): the settings, the flow and the session. */

describe("a configuration of an identity provider", () => {
  it("is not a secret that was stored before the variables", () => {
    expect(parseSettings({ ...env, OIDC_CLIENT_SECRET: "a secret" })).toMatchObject({ ok: true, value: { oidc: undefined } });
  });
});

/** What the console asks at its start. */
const startConsole = (bindings: Partial<Env>) => browser(undefined)("POST", "/console/session", { body: {}, env: bindings });
const limitAddresses = async ({ key }: { key: string }) => ({ success: !key.startsWith("open ") });
const otherAccount = (email: string) => ({ sub: `another account of ${email}` });

const signInTwice = async (provider: Provider, email: string) => [
  outcome(await signInBy(provider, email)),
  outcome(await signInBy(provider, email, otherAccount(email))),
];

describe("without an identity provider", () => {
  it("no sign-in begins, and an answer of one signs nobody in", async () => {
    expect(outcome(await begin({ env: {} }))).toEqual([401, "unauthorized"]);
    const body = { code: "c", state: "9999999999.x" };
    expect(outcome(await browser(undefined)("POST", "/console/session", { body }))).toEqual([401, "unauthorized"]);
  });
});

describe("the beginning of a sign-in", () => {
  it("is told to a console without a session, and only where there is an identity provider", async () => {
    const provider = await startProvider();
    expect(outcome(await startConsole(provider.env))).toEqual([401, "sign_in_needed"]);
    expect(outcome(await startConsole({}))).toEqual([401, "unauthorized"]);
  });

  it("sends the browser to the authorization endpoint with code, PKCE, state, nonce and the exact redirect URI", async () => {
    const provider = await startProvider({ scopes_supported: ["openid", "email", "groups", "offline_access"] });
    const { url, state, nonce } = await begun(provider);
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.server.url}/authorize`);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      prompt: "login",
      response_type: "code",
      client_id: CLIENT.id,
      redirect_uri: "https://vault.test/console/sign-in",
      scope: "openid email groups",
      state,
      nonce,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect([state, nonce]).toEqual([expect.stringMatching(/^\d{10}\.[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
  });

  it("sets a cookie for ten minutes that no script reads and no other site sends", async () => {
    const { headers } = await begin(await startProvider());
    expect(headers.get("Set-Cookie")).toMatch(
      /^__Host-item-vault-sign-in=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it("is only for the console of this origin", async () => {
    const provider = await startProvider();
    for (const headers of [undefined, { ...CONSOLE, "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-origin" }])
      expect(outcome(await begin(provider, { headers }))).toEqual([403, "cross_site"]);
    expect(await provider.server.requests()).toEqual([0, 0]);
  });

  it("is limited by address before anything is fetched, as its end is", async () => {
    const provider = await startProvider();
    const limited = { ...provider.env, FAILURE_RATE: { limit: limitAddresses } };
    const headers = { ...CONSOLE, "CF-Connecting-IP": "203.0.113.8" };
    expect(outcome(await begin({ env: limited }, { headers }))).toEqual([429, "rate"]);
    expect(await provider.server.requests()).toEqual([0, 0]);
    expect(outcome(await finish(await begun(provider), {}, { headers, env: limited }))).toEqual([429, "rate"]);
    expect(await provider.exchanges()).toEqual([]);
  });

  it.each([
    ["a description that is not there", { issuer: "https://other.example.com" }],
    ["an authorization endpoint in a private network", { authorization_endpoint: "https://10.0.0.1/authorize" }],
    ["an authorization endpoint that is a script", { authorization_endpoint: "javascript:alert(1)" }],
    ["no authorization endpoint", { authorization_endpoint: null }],
  ])("is a 503 for %s", async (_, description) => {
    expect(outcome(await begin(await startProvider(description)))).toEqual([503, "issuer_unavailable"]);
  });
});

describe("the end of a sign-in", () => {
  it("makes a session of 12 hours of the person, who has the vaults that they were given", async () => {
    const provider = await startProvider();
    const { vault } = await freshVault();
    const { id, email } = await addPerson({ [vault]: "rw" });
    const reply = await signInBy(provider, email.toUpperCase());
    expect([reply.status, reply.body.person, reply.body.settings.people]).toEqual([200, { id, email }, true]);
    expect(Math.abs(Date.parse(reply.body.expiresAt) - Date.now() - 12 * 3_600_000)).toBeLessThan(10_000);
    expect((await browser(cookieOf(reply))("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it("exchanges the code with the verifier of the challenge and the secret in the header (RFC 6749 section 2.3.1)", async () => {
    const provider = await startProvider();
    const pending = await begun(provider);
    await give(pending, claimsOf(pending, (await addPerson()).email));
    expect((await finish(pending, { code: "a code&more" })).status).toBe(200);
    const [{ headers, body } = { headers: {}, body: "" }, ...others] = await provider.exchanges();
    const form = new URLSearchParams(body);
    const { code_verifier: verifier, ...rest } = Object.fromEntries(form);
    expect([others, rest]).toEqual([
      [],
      { grant_type: "authorization_code", code: "a code&more", redirect_uri: "https://vault.test/console/sign-in" },
    ]);
    expect(await challengeOf(verifier!)).toBe(pending.url.searchParams.get("code_challenge"));
    expect(headers["authorization"]).toBe(`Basic ${btoa("item+vault%3A1:the+secret+%2B%2F+of+the+client")}`);
  });

  it("sends the secret in the body to a provider that takes it nowhere else", async () => {
    const provider = await startProvider({ token_endpoint_auth_methods_supported: ["client_secret_post", "private_key_jwt"] });
    expect((await signInBy(provider, (await addPerson()).email)).status).toBe(200);
    const [{ headers, body } = { headers: {}, body: "" }] = await provider.exchanges();
    const form = new URLSearchParams(body);
    expect([form.get("client_id"), form.get("client_secret"), headers["authorization"]]).toEqual([
      CLIENT.id,
      CLIENT.secret,
      undefined,
    ]);
  });

  it("is not a 401 but a 403 for somebody whom nobody has added", async () => {
    const reply = await signInBy(await startProvider(), "stranger@example.com");
    expect(outcome(reply)).toEqual([403, "not_invited"]);
  });

  it.each([
    ["no answer", "die" as const],
    ["an answer that never ends", "endless" as const],
    ["a redirect", 302],
    ["a failure", 500],
    ["no JSON", { text: "<html>" }],
    ["no ID token", { json: { access_token: "x" } }],
    ["64 KiB", { json: { id_token: "x".repeat(65_536) } }],
  ])("is a 503 for a token endpoint with %s, and the log has neither code nor secret", async (_, behaviour) => {
    const logged = vi.spyOn(console, "warn").mockClear();
    const provider = await startProvider();
    const pending = await begun(provider);
    await provider.answer(behaviour);
    expect(outcome(await finish(pending, { code: "canary-code" }))).toEqual([503, "issuer_unavailable"]);
    const lines = JSON.stringify(logged.mock.calls);
    expect(lines).toContain("The exchange of a code at the identity provider");
    for (const secret of ["canary-code", CLIENT.secret, pending.state, pending.cookie]) expect(lines).not.toContain(secret);
  });

  it("tells the operator of a secret that the provider refuses", async () => {
    const logged = vi.spyOn(console, "warn").mockClear();
    const provider = await startProvider();
    const pending = await begun(provider);
    await provider.answer({ json: { error: "invalid_client", error_description: "canary" }, status: 401 });
    expect(outcome(await finish(pending))).toEqual([503, "issuer_unavailable"]);
    const [line] = logged.mock.calls.map(([text]) => JSON.parse(String(text)));
    expect(line).toMatchObject({ what: "The exchange of a code at the identity provider", message: "client" });
    expect(JSON.stringify(logged.mock.calls)).not.toContain("canary");
  });
});

describe("an account", () => {
  it("is bound to a person at the first sign-in: another one with the same email is refused, in words", async () => {
    const provider = await startProvider();
    const { id, email } = await addPerson();
    expect(await signInTwice(provider, email)).toEqual([
      [200, null],
      [403, "account_refused"],
    ]);
    const refused = await signInBy(provider, email, otherAccount(email));
    expect(refused.body.message).toContain("Another account of the identity provider has signed in here with your email address");
    expect((await signInBy(provider, email)).status).toBe(200);
    await admin("PATCH", `/v1/admin/people/${id}`, { body: { vaults: {} } });
    expect(outcome(await signInBy(provider, email, otherAccount(email)))).toEqual([403, "account_refused"]);
  });

  it("of another issuer is bound beside it, as when the provider is replaced", async () => {
    const [one, two] = [await startProvider(), await startProvider()];
    const { email } = await addPerson();
    expect(await signInTwice(one, email)).toEqual([
      [200, null],
      [403, "account_refused"],
    ]);
    expect(await signInTwice(two, email)).toEqual([
      [200, null],
      [403, "account_refused"],
    ]);
    expect((await signInBy(one, email)).status).toBe(200);
  });

  it("is free again after the person was removed and added", async () => {
    const provider = await startProvider();
    const { id, email } = await addPerson();
    await signInBy(provider, email);
    await admin("DELETE", `/v1/admin/people/${id}`);
    await admin("POST", "/v1/admin/people", { body: { email, vaults: {} } });
    expect((await signInBy(provider, email, otherAccount(email))).status).toBe(200);
  });

  it.each([
    ["false", false],
    ['"false"', "false"],
    ["null", null],
    ["0", 0],
  ])("with an email that is not verified is refused, in words: email_verified %s", async (_, verified) => {
    const { email } = await addPerson();
    const reply = await signInBy(await startProvider(), email, { email_verified: verified });
    expect([outcome(reply), reply.body.message]).toEqual([
      [403, "account_refused"],
      "Your email address is not verified: verify it at the identity provider, then sign in again",
    ]);
  });

  it("without an email is refused, in words", async () => {
    const reply = await signInBy(await startProvider(), "x@example.com", { email: undefined });
    expect([outcome(reply), reply.body.message]).toEqual([
      [403, "account_refused"],
      expect.stringContaining("has not given your email"),
    ]);
  });
});

describe("a sign-in that has begun", () => {
  it("expires after ten minutes", async () => {
    const provider = await startProvider();
    const pending = await begun(provider);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    onTestFinished(() => void vi.useRealTimers());
    await give(pending, claimsOf(pending, (await addPerson()).email));
    expect(outcome(await finish(pending))).toEqual([401, "unauthorized"]);
    expect(await provider.exchanges()).toEqual([]);
  });
});

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
  return reply.headers.get("Set-Cookie") === null ? outcome(reply) : reply.status;
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
    expect(outcome(await attack(other))).toEqual(REFUSED);
    expect(await attempts()).toBe(before);
  });

  it("without its issuer is refused where the provider says that it names it", async () => {
    const naming = await startProvider({ authorization_response_iss_parameter_supported: true });
    const one = await begun(naming);
    await give(one, claimsOf(one, email));
    expect(outcome(await finish(one))).toEqual(REFUSED);
    expect((await finish(one, { iss: naming.server.url })).status).toBe(200);
  });

  it("with a code that the provider does not accept is refused", async () => {
    const one = await startProvider();
    const waiting = await begun(one);
    await one.answer({ json: { error: "invalid_grant", error_description: "canary" }, status: 400 });
    expect(outcome(await finish(waiting))).toEqual(REFUSED);
  });

  it("is refused without its state as every code that this service did not make", async () => {
    const reply = await browser(undefined)("POST", "/console/session", { body: { code: "the code" }, env: provider.env });
    expect(outcome(reply)).toEqual(REFUSED);
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
