import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parseSettings } from "../../src/settings.ts";
import {
  addPerson,
  type Key,
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
import { admin, freshVault, kindOf, type Reply, send } from "../support/service.ts";

/** Signing in with Cloudflare Access (contract 25.6, 25.7): the settings, the keys of the team, and the session. */

serveTeams();

const AUD = "0123456789abcdef".repeat(4);

let keys: readonly Key[];
let email: string;

beforeAll(async () => {
  keys = [await newKey(), await newKey()];
  email = (await addPerson()).email;
});

/** Lets time pass for the rest of a test. In: seconds. */
function pass(seconds: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
  onTestFinished(() => void vi.useRealTimers());
}

const signInWith = async (team: Team, key: Key): Promise<Reply> => signInByAccess(team, await tokenOf(team, key, email));

describe("half a configuration of Access", () => {
  const TEAM_RULE = "ACCESS_TEAM is not the name of a team, or its cloudflareaccess.com address";
  const AUD_RULE = "ACCESS_AUD is not 64 hexadecimal digits in lower case";
  it.each([
    ["canary", undefined, "ACCESS_TEAM is set without ACCESS_AUD"],
    ["canary", "", "ACCESS_TEAM is set without ACCESS_AUD"],
    [undefined, AUD, "ACCESS_AUD is set without ACCESS_TEAM"],
    ["", AUD, "ACCESS_AUD is set without ACCESS_TEAM"],
    ["Canary", AUD, TEAM_RULE],
    ["canary.example.com", AUD, TEAM_RULE],
    ["http://canary.cloudflareaccess.com", AUD, TEAM_RULE],
    ["https://canary.cloudflareaccess.com.attacker.test", AUD, TEAM_RULE],
    ["https://canary.cloudflareaccess.com/cdn-cgi", AUD, TEAM_RULE],
    ["https://attacker.test/.cloudflareaccess.com", AUD, TEAM_RULE],
    ["https://canary", AUD, TEAM_RULE],
    ["a.canary", AUD, TEAM_RULE],
    ["-canary", AUD, TEAM_RULE],
    [" canary", AUD, TEAM_RULE],
    ["http://canary:8080", AUD, TEAM_RULE],
    ["http://127.0.0.1", AUD, TEAM_RULE],
    ["https://127.0.0.1:8080", AUD, TEAM_RULE],
    ["http://10.0.0.1:8080", AUD, TEAM_RULE],
    ["canary", AUD.slice(1), AUD_RULE],
    ["canary", `${AUD}0`, AUD_RULE],
    ["canary", AUD.toUpperCase(), AUD_RULE],
    ["canary", ` ${AUD}`, AUD_RULE],
    ["canary", "canary", AUD_RULE],
  ])("refuses every data route: ACCESS_TEAM %j, ACCESS_AUD %j", async (team, audience, rule) => {
    const bindings = { ACCESS_TEAM: team, ACCESS_AUD: audience } as Partial<Env>;
    const { items, call } = await freshVault();
    const token = await tokenOf(newTeam(keys[0]!), keys[0]!, email);
    for (const reply of [
      await call("GET", items, { env: bindings }),
      await admin("GET", "/v1/admin/people", { env: bindings }),
      await signInByAccess({ env: bindings }, token),
    ])
      expect(kindOf(reply)).toEqual([503, "misconfigured"]);
    const { body } = await send("GET", "/health", { env: bindings });
    expect(body.dependencies).toContainEqual({ service: "settings", status: "ERROR", message: rule });
    expect(JSON.stringify(body)).not.toMatch(/canary|attacker|0123456789/i);
  });
});

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
    expect(kindOf(await signInByAccess({ env: bindings }, await tokenOf(own, keys[0]!, email)))).toEqual([401, "unauthorized"]);
    expect((await admin("GET", "/v1/admin/people", { env: bindings })).status).toBe(200);
    expect(own.fetches).toBe(0);
  });

  it("may be a server of this machine, whose key set is fetched over http", async () => {
    const origin = (env as unknown as { WEBHOOK_TEST_ORIGIN: string }).WEBHOOK_TEST_ORIGIN;
    const [key] = keys as [Key];
    await fetch(`${origin}/control/cdn-cgi/access/certs`, {
      method: "PUT",
      body: JSON.stringify([{ json: { keys: [key.jwk] } }]),
    });
    const team: Team = { ...newTeam(), issuer: origin, audience: AUD, env: { ACCESS_TEAM: origin, ACCESS_AUD: AUD } };
    expect((await signInWith(team, key)).status).toBe(200);
  });
});

const network = () => Promise.reject(new TypeError("Network connection lost."));

describe("the keys of the team", () => {
  it("are fetched once for many sign-ins", async () => {
    const team = newTeam(...keys);
    const replies = await Promise.all([0, 1].map((index) => signInWith(team, keys[index]!)));
    replies.push(await signInWith(team, keys[0]!));
    expect([replies.map(({ status }) => status), team.fetches <= 2]).toEqual([[200, 200, 200], true]);
    const fetches = team.fetches;
    expect((await signInWith(team, keys[1]!)).status).toBe(200);
    expect(team.fetches).toBe(fetches);
  });

  it("are fetched again for a key that is new, at most once a minute", async () => {
    const [old, next] = keys as [Key, Key];
    const team = newTeam(old);
    expect((await signInWith(team, old)).status).toBe(200);
    team.answer = keySet(old, next);
    for (let tries = 0; tries < 3; tries++) expect((await signInWith(team, next)).status).toBe(401);
    expect(team.fetches).toBe(1);
    pass(61);
    expect((await signInWith(team, next)).status).toBe(200);
    expect((await signInWith(team, old)).status).toBe(200);
    expect(team.fetches).toBe(2);
  });

  it("are fetched again after ten minutes: a key that is gone signs nobody in any more", async () => {
    const [old, next] = keys as [Key, Key];
    const team = newTeam(old);
    expect((await signInWith(team, old)).status).toBe(200);
    team.answer = keySet(next);
    pass(601);
    expect((await signInWith(team, old)).status).toBe(401);
    expect((await signInWith(team, next)).status).toBe(200);
  });

  it("are never those of the token: a set of another kind of key, or with a key too short, signs nobody in", async () => {
    const weak = await newKey("weak", 1024);
    const [key] = keys as [Key];
    for (const jwk of [
      { kty: "oct", kid: key.kid, k: "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", alg: "HS256" },
      { ...key.jwk, use: "enc" },
      { ...key.jwk, alg: "RS512" },
    ]) {
      const team = newTeam();
      team.answer = keySet({ ...key, jwk });
      expect((await signInWith(team, key)).status).toBe(401);
    }
    expect((await signInWith(newTeam(weak), weak)).status).toBe(401);
  });

  it.each([
    ["a 500", () => new Response("", { status: 500 })],
    ["a redirect", () => new Response("", { status: 302, headers: { Location: "https://attacker.test/" } })],
    ["no JSON", () => new Response("<html>")],
    ["JSON without keys", () => Response.json({ public_certs: [] })],
    ["keys that are no list", () => Response.json({ keys: {} })],
    ["no answer", network],
  ])("that cannot be fetched are a 503, not a 401: %s", async (_, answer) => {
    const logged = vi.spyOn(console, "warn").mockClear();
    const team = newTeam(keys[0]!);
    const working = team.answer;
    team.answer = answer;
    const token = await tokenOf(team, keys[0]!, email);
    const { status, body, headers } = await signInByAccess(team, token);
    expect([status, body, headers.get("Retry-After"), headers.get("Set-Cookie")]).toEqual([
      503,
      { status: 503, message: "The issuer does not answer as it must: try again" },
      "5",
      null,
    ]);
    expect(JSON.stringify(logged.mock.calls)).toContain("The fetch of the keys of an issuer");
    for (const part of [...token.split("."), email]) expect(JSON.stringify(logged.mock.calls)).not.toContain(part);
    await signInByAccess(team, token);
    expect(team.fetches).toBe(1);
    team.answer = working;
    pass(1.1);
    expect((await signInByAccess(team, token)).status).toBe(200);
  });

  it("that were fetched still serve while the next fetch, for a key that is not among them, fails", async () => {
    const [known, unknown] = keys as [Key, Key];
    const team = newTeam(known);
    expect((await signInWith(team, known)).status).toBe(200);
    team.answer = network;
    pass(61);
    expect(kindOf(await signInWith(team, unknown))).toEqual([503, "issuer_unavailable"]);
    expect((await signInWith(team, known)).status).toBe(200);
  });
});

const sessionOf = async (changes: object): Promise<Reply> => {
  const team = newTeam(keys[0]!);
  return signInByAccess(team, await tokenOf(team, keys[0]!, email, { ...changes }));
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
    expect([body.admin, body.person.email, body.expiresAt]).toEqual([true, email, first.body.expiresAt]);
  });

  it("shows the person, and the token as /v1/token does", async () => {
    const { body } = await sessionOf({ email: email.toUpperCase() });
    expect(body).toEqual({
      expiresAt: expect.any(String),
      admin: false,
      token: expect.objectContaining({ name: email, person: true, vaults: {} }),
      person: { id: body.token.id, email },
      settings: expect.objectContaining({ people: true }),
    });
  });

  it("is made only for the console of this origin", async () => {
    const team = newTeam(keys[0]!);
    const headers = {
      ...CONSOLE,
      "Sec-Fetch-Site": "cross-site",
      "Cf-Access-Jwt-Assertion": await tokenOf(team, keys[0]!, email),
    };
    const reply = await send("POST", "/console/session", { body: {}, headers, env: team.env });
    expect(kindOf(reply)).toEqual([403, "cross_site"]);
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
