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
  signText,
  type Team,
} from "../support/access.ts";
import { browser } from "../support/console.ts";
import { send } from "../support/service.ts";

/** Forged tokens of Cloudflare Access (contract 25.7): each differs in one thing from a token that is accepted. */

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

const encoder = new TextEncoder();
const withHeader =
  (change: Json): Forge =>
  ({ key, claims }) =>
    sign({ ...headerOf(key), ...change }, claims, key);
const withClaims =
  (change: Json | ((target: Target) => Json)): Forge =>
  (given) =>
    sign(headerOf(given.key), { ...given.claims, ...(typeof change === "function" ? change(given) : change) }, given.key);
const editedParts =
  (edit: (parts: string[]) => string[]): Forge =>
  ({ token }) =>
    edit(token.split(".")).join(".");

/** HS256 with something that everybody knows as the secret. */
async function hmac({ key, claims }: Target, secret: Uint8Array): Promise<string> {
  const signed = `${encodeText(JSON.stringify({ ...headerOf(key), alg: "HS256" }))}.${encodeText(JSON.stringify(claims))}`;
  const imported = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoder.encode(signed)));
  return `${signed}.${signature.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

const spki = async ({ key }: Target) =>
  new Uint8Array((await crypto.subtle.exportKey("spki", key.pair.publicKey)) as ArrayBuffer);
const pem = (der: Uint8Array) => encoder.encode(`-----BEGIN PUBLIC KEY-----\n${der.toBase64()}\n-----END PUBLIC KEY-----\n`);

/** The same claims, signed with RS256 by another hash or padding. */
async function signedAs(alg: string, name: string, hash: string, given: Target): Promise<string> {
  const { key, claims } = given;
  const pkcs8 = (await crypto.subtle.exportKey("pkcs8", key.pair.privateKey)) as ArrayBuffer;
  const imported = await crypto.subtle.importKey("pkcs8", pkcs8, { name, hash }, false, ["sign"]);
  const signed = `${encodeText(JSON.stringify({ ...headerOf(key), alg }))}.${encodeText(JSON.stringify(claims))}`;
  const signature = await crypto.subtle.sign({ name, saltLength: 32 }, imported, encoder.encode(signed));
  return `${signed}.${new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

const SIGNATURES: Record<string, Forge> = {
  "alg none without a signature": async (given) => (await withHeader({ alg: "none" })(given)).replace(/[^.]*$/, ""),
  "alg none with a signature of the team's key": withHeader({ alg: "none" }),
  "alg None": withHeader({ alg: "None" }),
  "alg HS256 with the public key as secret": async (given) => hmac(given, await spki(given)),
  "alg HS256 with the public key as PEM as secret": async (given) => hmac(given, pem(await spki(given))),
  "alg HS256 with the modulus as secret": (given) => hmac(given, encoder.encode(String(given.key.jwk["n"]))),
  "alg HS256 with 32 zero bytes as secret": (given) => hmac(given, new Uint8Array(32)),
  "alg RS512 with the team's key": (given) => signedAs("RS512", "RSASSA-PKCS1-v1_5", "SHA-512", given),
  "alg PS256 with the team's key": (given) => signedAs("PS256", "RSA-PSS", "SHA-256", given),
  "a signature with another key under the team's key id": ({ key, other, claims }) => sign(headerOf(key), claims, other),
  "a signature with another key under its own key id": ({ other, claims }) => sign(headerOf(other), claims, other),
  "the signature of another token": async (given) =>
    given.token.replace(/[^.]*$/, (await withClaims({ country: "DE" })(given)).replace(/.*\./, "")),
  "a signature of zeros": editedParts(([header, claims]) => [header!, claims!, encodeText("\0".repeat(256))]),
  "a signature that is a byte too short": editedParts(([h, c, s]) => [h!, c!, s!.slice(0, -2)]),
  "no signature": editedParts(([header, claims]) => [header!, claims!, ""]),
  "claims that were changed after they were signed": (given) =>
    editedParts(([h, , s]) => [h!, encodeText(JSON.stringify({ ...given.claims, exp: now() + 9999 })), s!])(given),
};

const SPELLINGS: Record<string, Forge> = {
  "two parts": editedParts((parts) => parts.slice(0, 2)),
  "four parts": editedParts((parts) => [...parts, "e30"]),
  "five parts, as an encrypted token": editedParts((parts) => [...parts, "e30", "e30"]),
  "cut off": ({ token }) => token.slice(0, -20),
  "with padding": ({ token }) => `${token}=`,
  "with white space in it": ({ token }) => token.replace(".", ". "),
  "with the scheme before it": ({ token }) => `Bearer ${token}`,
  "twice, joined by a comma": ({ token }) => `${token}, ${token}`,
  "a word": () => "token",
  "17 KB": ({ token }) => token + "A".repeat(17_000),
};

const HEADERS: Record<string, Forge> = {
  "alg rs256": withHeader({ alg: "rs256" }),
  "alg ES256": withHeader({ alg: "ES256" }),
  "no alg": withHeader({ alg: undefined }),
  "no kid": withHeader({ kid: undefined }),
  "an empty kid": withHeader({ kid: "" }),
  "a kid that is a number": withHeader({ kid: 1 }),
  "a kid that is a list": ({ key, claims }) => sign({ ...headerOf(key), kid: [key.kid] }, claims, key),
  "another kid": withHeader({ kid: "other" }),
  "a kid that is the name of an inherited property": withHeader({ kid: "__proto__" }),
  crit: withHeader({ crit: ["exp"], exp: now() }),
  "b64 false": withHeader({ crit: ["b64"], b64: false }),
  "jku with the team's signature": withHeader({ jku: "https://attacker.test/keys" }),
  "jku that has the key of its signature": ({ other, claims }) =>
    sign({ ...headerOf(other), jku: "https://attacker.test/keys" }, claims, other),
  "x5u that has the key of its signature": ({ other, claims }) =>
    sign({ ...headerOf(other), x5u: "https://attacker.test/cert" }, claims, other),
  "jwk that is the key of its signature": ({ key, other, claims }) =>
    sign({ ...headerOf(key), jwk: { ...other.jwk, kid: key.kid } }, claims, other),
  zip: withHeader({ zip: "DEF" }),
  "a header that is not JSON": ({ key, claims }) => signText("{", JSON.stringify(claims), key),
  "a header that is a list": ({ key, claims }) => signText("[]", JSON.stringify(claims), key),
};

const CLAIMS: Record<string, Forge> = {
  ...Object.fromEntries(
    ["iss", "aud", "email", "iat", "exp"].flatMap((name) => [
      [`no ${name}`, withClaims({ [name]: undefined })],
      [`${name} null`, withClaims({ [name]: null })],
      [`${name} true`, withClaims({ [name]: true })],
      [`${name} an object`, withClaims({ [name]: {} })],
    ]),
  ),
  "the iss of another team": withClaims({ iss: "https://attacker.cloudflareaccess.com" }),
  "iss with a slash at the end": withClaims(({ team }) => ({ iss: `${team.issuer}/` })),
  "iss over http": withClaims(({ team }) => ({ iss: team.issuer.replace("https", "http") })),
  "an iss that is a list with the right one": withClaims(({ team }) => ({ iss: [team.issuer] })),
  "the aud of another application": withClaims({ aud: ["0".repeat(64)] }),
  "an empty list of aud": withClaims({ aud: [] }),
  "an aud that begins with the right one": withClaims(({ team }) => ({ aud: [`${team.audience}0`] })),
  "expired a second ago": withClaims(() => ({ exp: now() - 1 })),
  "expires now": withClaims(() => ({ exp: now() })),
  "exp as a string": withClaims({ exp: String(now() + 1000) }),
  "exp as a date": withClaims({ exp: "2099-01-01T00:00:00Z" }),
  "exp zero": withClaims({ exp: 0 }),
  "iat in the future": withClaims(() => ({ iat: now() + 600 })),
  "iat as a string": withClaims({ iat: String(now()) }),
  "nbf in the future": withClaims(() => ({ nbf: now() + 600 })),
  "nbf as a string": withClaims({ nbf: "0" }),
  "an empty email": withClaims({ email: "" }),
  "an email that is a list with the right one": withClaims(({ email }) => ({ email: [email] })),
  "two emails in one text": withClaims(({ email }) => ({ email: `${email},${email}` })),
  "white space around the email": withClaims(({ email }) => ({ email: ` ${email}` })),
  "a line break in the email": withClaims(({ email }) => ({ email: `${email}\n` })),
  "the type of a token for the whole team": withClaims({ type: "org" }),
  "a service token: common_name and no email": withClaims({
    email: undefined,
    sub: "",
    common_name: "e367826f93b8d71185e03fe518aff3b4.access",
  }),
  "a service token that also has an email": withClaims({ common_name: "e367826f93b8d71185e03fe518aff3b4.access" }),
  "claims that are an array": ({ key }) => signText(JSON.stringify(headerOf(key)), "[]", key),
  "claims that are not JSON": ({ key }) => signText(JSON.stringify(headerOf(key)), "{", key),
  "claims of 20 KB": withClaims({ country: "x".repeat(20_000) }),
};

const sessions = async () => (await env.DB.prepare("SELECT count(*) AS n FROM sessions").first<number>("n"))!;

describe("a token without a fault", () => {
  it("is accepted, also with aud as a text and without nbf, type, typ and country", async () => {
    const { team, key, claims, token } = target;
    const least = { ...claims, aud: team.audience, nbf: undefined, type: undefined, country: undefined };
    for (const accepted of [token, await sign({ alg: "RS256", kid: key.kid }, least, key)])
      expect((await signInByAccess(team, accepted)).status).toBe(200);
  });
});

describe.each([
  ["signature", SIGNATURES],
  ["spelling", SPELLINGS],
  ["header", HEADERS],
  ["claims, signed with the team's key", CLAIMS],
] as const)("a token is refused for its %s", (_, attacks) => {
  it.each(Object.entries(attacks))("%s", async (_name, forge) => {
    const logged = vi.spyOn(console, "warn").mockClear();
    const forged = await forge(target);
    const before = await sessions();
    const { status, text, headers } = await signInByAccess(target.team, forged);
    expect([status, text, headers.get("Set-Cookie")]).toEqual([401, '{"status":401,"message":"Invalid token signature"}', null]);
    expect(await sessions()).toBe(before);
    expect(logged.mock.calls).toEqual([]);
  });
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
