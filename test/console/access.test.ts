import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parseSettings } from "../../src/settings.ts";
import {
  addPerson,
  claimsOf,
  keySet,
  newKey,
  newTeam,
  now,
  serveTeams,
  signInByAccess,
  type Team,
  tokenOf,
} from "../support/access.ts";
import { browser, CONSOLE, cookieOf, signIn } from "../support/console.ts";
import { admin, outcome, type Reply, send } from "../support/service.ts";
import { headerOf, type Json, type SigningKey, signToken } from "../support/workload-tokens.ts";

/** Signing in with Cloudflare Access (contract 25.6, 25.7): the settings, the keys of the team, and the session. */

serveTeams();

const AUD = "0123456789abcdef".repeat(4);

let keys: readonly SigningKey[];
let knownEmail: string;

beforeAll(async () => {
  keys = [await newKey(), await newKey()];
  knownEmail = (await addPerson()).email;
});

const signInWith = async (team: Team, key: SigningKey): Promise<Reply> =>
  signInByAccess(team, await tokenOf(team, key, knownEmail));

describe("ACCESS_TEAM", () => {
  it.each([
    ["acme", "https://acme.cloudflareaccess.com"],
    ["acme-2", "https://acme-2.cloudflareaccess.com"],
    ["acme.cloudflareaccess.com", "https://acme.cloudflareaccess.com"],
    ["https://acme.cloudflareaccess.com", "https://acme.cloudflareaccess.com"],
    ["https://acme.cloudflareaccess.com/", "https://acme.cloudflareaccess.com"],
    ["http://127.0.0.1:9000", "http://127.0.0.1:9000"],
  ])("%s is the issuer %s", (team, issuer) => {
    const settings = parseSettings({ ...env, ACCESS_TEAM: team, ACCESS_AUD: AUD });
    expect(settings).toMatchObject({ ok: true, value: { access: { issuer, audience: AUD } } });
  });

  it.each([
    [undefined, undefined],
    ["", ""],
  ])("%j and ACCESS_AUD %j are no Access: its token signs nobody in, and the service serves", async (team, audience) => {
    const bindings = { ACCESS_TEAM: team, ACCESS_AUD: audience } as Partial<Env>;
    const own = newTeam(keys[0]!);
    expect(outcome(await signInByAccess({ env: bindings }, await tokenOf(own, keys[0]!, knownEmail)))).toEqual([
      401,
      "unauthorized",
    ]);
    expect((await admin("GET", "/v1/admin/people", { env: bindings })).status).toBe(200);
    expect(own.fetches).toBe(0);
  });

  it("may be a server of this machine, whose key set is fetched over http", async () => {
    const origin = (env as unknown as { WEBHOOK_TEST_ORIGIN: string }).WEBHOOK_TEST_ORIGIN;
    const [key] = keys as [SigningKey];
    await fetch(`${origin}/control/cdn-cgi/access/certs`, {
      method: "PUT",
      body: JSON.stringify([{ json: { keys: [key.jwk] } }]),
    });
    const team: Team = { ...newTeam(), issuer: origin, audience: AUD, env: { ACCESS_TEAM: origin, ACCESS_AUD: AUD } };
    expect((await signInWith(team, key)).status).toBe(200);
  });
});

describe("the keys of the team", () => {
  it("are never those of the token: a set of another kind of key signs nobody in", async () => {
    const [key] = keys as [SigningKey];
    for (const jwk of [
      { kty: "oct", kid: key.kid, k: "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", alg: "HS256" },
      { ...key.jwk, use: "enc" },
      { ...key.jwk, alg: "RS512" },
    ]) {
      const team = newTeam();
      team.answer = keySet({ ...key, jwk });
      expect((await signInWith(team, key)).status).toBe(401);
    }
  });

  it("that cannot be fetched are a 503, not a 401, and the log has nothing of the token", async () => {
    const logged = vi.spyOn(console, "warn").mockClear();
    const team = newTeam(keys[0]!);
    team.answer = () => new Response("", { status: 500 });
    const token = await tokenOf(team, keys[0]!, knownEmail);
    const reply = await signInByAccess(team, token);
    expect([...outcome(reply), reply.headers.get("Set-Cookie")]).toEqual([503, "issuer_unavailable", null]);
    const lines = JSON.stringify(logged.mock.calls);
    expect(lines).toContain("The fetch of the keys of an issuer");
    for (const part of [...token.split("."), knownEmail]) expect(lines).not.toContain(part);
  });
});

const sessionOf = async (changes: object): Promise<Reply> => {
  const team = newTeam(keys[0]!);
  return signInByAccess(team, await tokenOf(team, keys[0]!, knownEmail, { ...changes }));
};
const secondsOf = ({ body }: Reply) => Math.round((Date.parse(body.expiresAt) - Date.now()) / 1000);

describe("the session", () => {
  it("ends with the token of Access, or after 12 hours", async () => {
    const short = await sessionOf({ exp: now() + 600 });
    const long = await sessionOf({ exp: now() + 7 * 24 * 3600 });
    expect([Math.abs(secondsOf(short) - 600) < 5, Math.abs(secondsOf(long) - 12 * 3600) < 5]).toEqual([true, true]);
    expect(short.headers.get("Set-Cookie")).toMatch(/Max-Age=(59\d|600);/);
  });

  it("does not last longer after a later sign-in of the admin", async () => {
    const first = await sessionOf({ exp: now() + 600 });
    const cookie = await signIn({ token: env.ADMIN_TOKEN }, cookieOf(first));
    const { body } = await browser(cookie)("GET", "/console/session");
    expect([body.admin, body.person.email, body.expiresAt]).toEqual([true, knownEmail, first.body.expiresAt]);
  });

  it("shows the person, and the token as /v1/token does", async () => {
    const { body } = await sessionOf({ email: knownEmail.toUpperCase() });
    expect(body).toEqual({
      expiresAt: expect.any(String),
      admin: false,
      token: expect.objectContaining({ name: knownEmail, person: true, vaults: {} }),
      person: { id: body.token.id, email: knownEmail },
      settings: expect.objectContaining({ people: true }),
    });
  });

  it("is made only for the console of this origin", async () => {
    const team = newTeam(keys[0]!);
    const headers = {
      ...CONSOLE,
      "Sec-Fetch-Site": "cross-site",
      "Cf-Access-Jwt-Assertion": await tokenOf(team, keys[0]!, knownEmail),
    };
    const reply = await send("POST", "/console/session", { body: {}, headers, env: team.env });
    expect(outcome(reply)).toEqual([403, "cross_site"]);
  });
});

describe("a token that is refused", () => {
  it("counts as a failed authentication of its address", async () => {
    const team = newTeam(keys[0]!);
    const headers = { "CF-Connecting-IP": "203.0.113.7", "Cf-Access-Jwt-Assertion": "a.b.c" };
    const counted: string[] = [];
    // The limit of the log has other keys.
    const limit = async ({ key }: { key: string }) => ({ success: key !== "203.0.113.7" || counted.push(key) < 2 });
    const bindings = { ...team.env, FAILURE_RATE: { limit } };
    const request = () => browser(undefined)("POST", "/console/session", { body: {}, headers, env: bindings });
    expect([(await request()).status, (await request()).status]).toEqual([401, 429]);
    expect(counted).toEqual(["203.0.113.7", "203.0.113.7"]);
  });
});

/**
 * Forged tokens of Cloudflare Access (contract 25.7): each differs in one thing from a token that is accepted. The catalogue of
 * test/pure/jwt.test.ts has all changes of a text, a header, a signature and the registered claims; here is
 * every change of what a sign-in by Access expects and of what it alone reads.
 */

interface Target {
  readonly team: Team;
  readonly key: SigningKey;
  /** Of nobody's key set. */
  readonly other: SigningKey;
  readonly email: string;
  readonly claims: Json;
  readonly token: string;
}

let target: Target;

beforeAll(async () => {
  const [key, other] = [await newKey(), await newKey()];
  const team = newTeam(key);
  const { email } = await addPerson();
  const claims = claimsOf(team, email);
  target = { team, key, other, email, claims, token: await signToken(headerOf(key), claims, key) };
});

type Forge = (target: Target) => string | Promise<string>;

const withClaims =
  (change: Json | ((target: Target) => Json)): Forge =>
  (given) =>
    signToken(headerOf(given.key), { ...given.claims, ...(typeof change === "function" ? change(given) : change) }, given.key);

const FORGED: Record<string, Forge> = {
  "is signed with another key under the team's key id": ({ key, other, claims }) => signToken(headerOf(key), claims, other),
  "has the iss of another team": withClaims({ iss: "https://attacker.cloudflareaccess.com" }),
  "has the aud of another application": withClaims({ aud: ["0".repeat(64)] }),
  "expires now": withClaims(() => ({ exp: now() })),
  ...Object.fromEntries(
    [undefined, null, true, {}, ""].map((email) => [`has the email ${JSON.stringify(email)}`, withClaims({ email })]),
  ),
  "has a list with the right email": withClaims(({ email }) => ({ email: [email] })),
  "has two emails in one text": withClaims(({ email }) => ({ email: `${email},${email}` })),
  "has white space around the email": withClaims(({ email }) => ({ email: ` ${email}` })),
  "has a line break in the email": withClaims(({ email }) => ({ email: `${email}\n` })),
  "is of the type for the whole team": withClaims({ type: "org" }),
  "is of a service: common_name and no email": withClaims({ email: undefined, sub: "", common_name: "e367826f.access" }),
  "is of a service, and also has an email": withClaims({ common_name: "e367826f.access" }),
};

const sessions = async () => (await env.DB.prepare("SELECT count(*) AS n FROM sessions").first<number>("n"))!;

it("a token without a fault is accepted, also with aud as a text and without nbf, type, typ and country", async () => {
  const { team, key, claims, token } = target;
  const least = { ...claims, aud: team.audience, nbf: undefined, type: undefined, country: undefined };
  for (const accepted of [token, await signToken({ alg: "RS256", kid: key.kid }, least, key)])
    expect((await signInByAccess(team, accepted)).status).toBe(200);
});

it.each(Object.entries(FORGED))("a token is refused that %s", async (_, forge) => {
  const logged = vi.spyOn(console, "warn").mockClear();
  const forged = await forge(target);
  const before = await sessions();
  const { status, text, headers } = await signInByAccess(target.team, forged);
  expect([status, text, headers.get("Set-Cookie")]).toEqual([401, '{"status":401,"message":"Invalid token signature"}', null]);
  expect(await sessions()).toBe(before);
  expect(logged.mock.calls).toEqual([]);
});

describe("a token that Access did not set", () => {
  it.each([
    ["the cookie CF_Authorization", (token: string) => ({ Cookie: `CF_Authorization=${token}` })],
    ["Authorization", (token: string) => ({ Authorization: `Bearer ${token}` })],
    ["Cf-Access-Token", (token: string) => ({ "Cf-Access-Token": token })],
  ])("is not read: %s", async (_, headers) => {
    const { team, token } = target;
    const reply = await browser(undefined)("POST", "/console/session", { body: {}, headers: headers(token), env: team.env });
    expect(reply.status).toBe(401);
  });

  it("opens no route of /v1, neither as Authorization nor in the header of Access", async () => {
    const { team, token } = target;
    const headers: Record<string, string>[] = [{ Authorization: `Bearer ${token}` }, { "Cf-Access-Jwt-Assertion": token }];
    for (const sent of headers) expect((await send("GET", "/v1/vaults", { headers: sent, env: team.env })).status).toBe(401);
  });
});
