import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  addPerson,
  claimsOf,
  encodeText,
  headerOf,
  type Json,
  type Key,
  newKey,
  newTeam,
  now,
  serveTeams,
  sign,
  signInByAccess,
  type Team,
} from "../support/access.ts";
import { browser } from "../support/console.ts";
import { send } from "../support/service.ts";

/**
 * Forged tokens of Cloudflare Access (contract 25.7): each differs in one thing from a token that is accepted. The catalogue of
 * test/pure/jwt.test.ts has all changes of a text, a header, a signature and the registered claims; here is one of each kind, and every
 * change of what only a sign-in by Access reads.
 */

serveTeams();

interface Target {
  readonly team: Team;
  readonly key: Key;
  /** Of nobody's key set. */
  readonly other: Key;
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
  target = { team, key, other, email, claims, token: await sign(headerOf(key), claims, key) };
});

type Forge = (target: Target) => string | Promise<string>;

const withClaims =
  (change: Json | ((target: Target) => Json)): Forge =>
  (given) =>
    sign(headerOf(given.key), { ...given.claims, ...(typeof change === "function" ? change(given) : change) }, given.key);

const FORGED: Record<string, Forge> = {
  "is a word": () => "token",
  "is cut off": ({ token }) => token.slice(0, -20),
  "has the scheme before it": ({ token }) => `Bearer ${token}`,
  "is there twice, joined by a comma": ({ token }) => `${token}, ${token}`,
  "is longer than 16 KiB": withClaims({ country: "x".repeat(20_000) }),
  "has alg none and no signature": async ({ key, claims }) =>
    (await sign({ ...headerOf(key), alg: "none" }, claims, key)).replace(/[^.]*$/, ""),
  "is signed with another key under the team's key id": ({ key, other, claims }) => sign(headerOf(key), claims, other),
  "is signed with another key under its own key id": ({ other, claims }) => sign(headerOf(other), claims, other),
  "is signed with another key, which it brings along": ({ key, other, claims }) =>
    sign({ ...headerOf(key), jwk: { ...other.jwk, kid: key.kid } }, claims, other),
  "has claims that were changed after they were signed": ({ token, claims }) => {
    const [header, , signature] = token.split(".");
    return `${header}.${encodeText(JSON.stringify({ ...claims, exp: now() + 9999 }))}.${signature}`;
  },
  "has the iss of another team": withClaims({ iss: "https://attacker.cloudflareaccess.com" }),
  "has the aud of another application": withClaims({ aud: ["0".repeat(64)] }),
  "expires now": withClaims(() => ({ exp: now() })),
  "was issued in the future": withClaims(() => ({ iat: now() + 600 })),
  "is not valid yet": withClaims(() => ({ nbf: now() + 600 })),
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
  for (const accepted of [token, await sign({ alg: "RS256", kid: key.kid }, least, key)])
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
