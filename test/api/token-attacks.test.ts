import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { admin, makeToken, makeVault, type Reply, send } from "../support/service.ts";

/** Tokens that must not be let in (contract 2.5): each differs in one thing from a token that is. */

type Json = Record<string, unknown>;

const HEADER = { alg: "EdDSA", typ: "JWT", kid: "k1" };
const encoder = new TextEncoder();
const encode = (bytes: Uint8Array) => bytes.toBase64({ alphabet: "base64url", omitPadding: true });
const encodeText = (text: string) => encode(encoder.encode(text));

async function signingKey(secret: string): Promise<CryptoKey> {
  const keyring = await openKeyring(secret);
  if (!keyring.ok) throw new Error("no keyring");
  return keyring.value.active.signing;
}

const sign = async (text: string, secret = env.ROOT_KEYS) =>
  encode(new Uint8Array(await crypto.subtle.sign("Ed25519", await signingKey(secret), encoder.encode(text))));

/** A token of this header and these claims, as texts, signed with the right key. */
async function compact(header: string, claims: string): Promise<string> {
  const signed = `${encodeText(header)}.${encodeText(claims)}`;
  return `${signed}.${await sign(signed)}`;
}

interface World {
  readonly token: string;
  readonly id: string;
  readonly items: string;
  /** The claims of the token, to be forged. */
  readonly claims: Json;
}

async function makeWorld(): Promise<World> {
  const vault = await makeVault();
  const { id, token } = await makeToken({ [vault]: "rw" });
  const claims = JSON.parse(atob(token.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")));
  return { token, id, items: `/v1/vaults/${vault}/items`, claims };
}

const withHeader = (change: Json) => (world: World) =>
  compact(JSON.stringify({ ...HEADER, ...change }), JSON.stringify(world.claims));
const withClaims = (change: Json) => (world: World) =>
  compact(JSON.stringify(HEADER), JSON.stringify({ ...world.claims, ...change }));
const edited = (edit: (token: string) => string) => (world: World) => edit(world.token);
const editedParts = (edit: (parts: string[]) => string[]) => edited((token) => edit(token.split(".")).join("."));

const shown = ({ status, text, headers }: Reply) => [status, text, headers.get("WWW-Authenticate")];
const REFUSED = [401, '{"status":401,"message":"Invalid token signature"}', "Bearer"];

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const now = Math.floor(Date.now() / 1000);

describe("what the attacks start from", () => {
  it("is served: the issued token, and one forged from its parts with the right key", async () => {
    const world = await makeWorld();
    for (const token of [world.token, await withHeader({})(world), await withClaims({ sub: "other" })(world)]) {
      expect((await send("GET", world.items, bearer(token))).status).toBe(200);
    }
  });
});

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n; // L of RFC 8032 section 5.1

/** The other S of the same signature: S + L (RFC 8032 section 8.4). */
function addOrder(signature: string): string {
  const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
  let s = ORDER + BigInt(`0x${bytes.slice(32).toReversed().toHex()}`);
  for (let i = 32; i < 64; i++, s >>= 8n) bytes[i] = Number(s & 255n);
  return encode(bytes);
}

async function hmac(key: Uint8Array, { claims }: World): Promise<string> {
  const signed = `${encodeText(JSON.stringify({ ...HEADER, alg: "HS256" }))}.${encodeText(JSON.stringify(claims))}`;
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return `${signed}.${encode(new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoder.encode(signed))))}`;
}

/** The public key, derived as src/crypto/keyring.ts does. */
async function publicKey(): Promise<Uint8Array> {
  const root = Uint8Array.fromBase64(JSON.parse(env.ROOT_KEYS).keys.k1);
  const base = await crypto.subtle.importKey("raw", root, "HKDF", false, ["deriveBits"]);
  const info = encoder.encode("item-vault/v1/token-signing");
  const seed = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info }, base, 256);
  const pkcs8 = new Uint8Array([...Uint8Array.fromHex("302e020100300506032b657004220420"), ...new Uint8Array(seed)]);
  const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", true, ["sign"]);
  const { x } = (await crypto.subtle.exportKey("jwk", key)) as JsonWebKey;
  return Uint8Array.fromBase64(x!, { alphabet: "base64url" });
}

const SPKI = Uint8Array.fromHex("302a300506032b6570032100");
const pem = (key: Uint8Array) =>
  encoder.encode(`-----BEGIN PUBLIC KEY-----\n${new Uint8Array([...SPKI, ...key]).toBase64()}\n-----END PUBLIC KEY-----\n`);

const OTHER_ROOT = JSON.stringify({ active: "k1", keys: { k1: btoa("fedcba9876543210fedcba9876543210") } });

const SIGNATURES: Record<string, (world: World) => string | Promise<string>> = {
  "alg none without a signature": async (world) => (await withHeader({ alg: "none" })(world)).replace(/[^.]*$/, ""),
  "alg none with the signature of the right key": withHeader({ alg: "none" }),
  "alg None": withHeader({ alg: "None" }),
  "alg HS256 over the public key": async (world) => hmac(await publicKey(), world),
  "alg HS256 over the public key as PEM": async (world) => hmac(pem(await publicKey()), world),
  "alg HS256 over an empty-ish key": (world) => hmac(new Uint8Array(32), world),
  "a signature by another root key": async ({ token }) => {
    const signed = token.replace(/\.[^.]*$/, "");
    return `${signed}.${await sign(signed, OTHER_ROOT)}`;
  },
  "the signature of another token": async ({ token }) => token.replace(/[^.]*$/, (await makeWorld()).token.replace(/.*\./, "")),
  "a signature of zeros": editedParts(([header, claims]) => [header!, claims!, encode(new Uint8Array(64))]),
  "a signature with S + L": editedParts(([header, claims, signature]) => [header!, claims!, addOrder(signature!)]),
  "a signature that is a byte short": editedParts(([h, c, s]) => [
    h!,
    c!,
    encode(Uint8Array.fromBase64(s!, { alphabet: "base64url" }).slice(1)),
  ]),
  "claims that were changed under their signature": editedParts(([header, claims, signature]) => [
    header!,
    encodeText(atob(claims!.replaceAll("-", "+").replaceAll("_", "/")).replace('"test"', '"best"')),
    signature!,
  ]),
};

const HEADERS: Record<string, (world: World) => string | Promise<string>> = {
  "alg Ed25519": withHeader({ alg: "Ed25519" }),
  "alg eddsa": withHeader({ alg: "eddsa" }),
  "alg ES256": withHeader({ alg: "ES256" }),
  "no alg": withHeader({ alg: undefined }),
  "no typ": withHeader({ typ: undefined }),
  "typ jwt": withHeader({ typ: "jwt" }),
  "typ at+jwt": withHeader({ typ: "at+jwt" }),
  "no kid": withHeader({ kid: undefined }),
  "another kid": withHeader({ kid: "k2" }),
  "a kid that is a path": withHeader({ kid: "../k1" }),
  "a kid that is an inherited name": withHeader({ kid: "__proto__" }),
  crit: withHeader({ crit: ["exp"], exp: now }),
  "b64 false": withHeader({ crit: ["b64"], b64: false }),
  jku: withHeader({ jku: "https://attacker.test/keys" }),
  x5u: withHeader({ x5u: "https://attacker.test/cert" }),
  jwk: withHeader({ jwk: { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" } }),
  zip: withHeader({ zip: "DEF" }),
  cty: withHeader({ cty: "JWT" }),
  "another order": (world) => compact(JSON.stringify({ kid: "k1", alg: "EdDSA", typ: "JWT" }), JSON.stringify(world.claims)),
  "blanks in it": (world) => compact(JSON.stringify(HEADER, null, 1), JSON.stringify(world.claims)),
  "a key twice": (world) => compact('{"alg":"none","alg":"EdDSA","typ":"JWT","kid":"k1"}', JSON.stringify(world.claims)),
};

const CLAIMS: Record<string, (world: World) => Promise<string>> = {
  ...Object.fromEntries(
    ["iss", "aud", "sub", "jti", "iat", "exp", "dialect", "vaults"].flatMap((name) => [
      [`no ${name}`, withClaims({ [name]: undefined })],
      [`${name} null`, withClaims({ [name]: null })],
      [`${name} true`, withClaims({ [name]: true })],
    ]),
  ),
  "another iss": withClaims({ iss: "item-vault.test" }),
  "an empty iss": withClaims({ iss: "" }),
  "another aud": withClaims({ aud: "other" }),
  "another list of aud": withClaims({ aud: ["other"] }),
  "a sub that is a number": withClaims({ sub: 7 }),
  "a jti without a row": withClaims({ jti: crypto.randomUUID() }),
  "an empty jti": withClaims({ jti: "" }),
  "expired a second ago": withClaims({ exp: now - 1 }),
  "exp as a text": withClaims({ exp: String(now + 1000) }),
  "exp as a date": withClaims({ exp: "2099-01-01T00:00:00Z" }),
  "exp zero": withClaims({ exp: 0 }),
  "iat in the future": withClaims({ iat: now + 600 }),
  "iat as a text": withClaims({ iat: String(now) }),
  "nbf in the future": withClaims({ nbf: now + 600 }),
  "another dialect": withClaims({ dialect: "other" }),
  "vaults as a text": withClaims({ vaults: "rw" }),
  "claims that are an array": () => compact(JSON.stringify(HEADER), "[]"),
  "claims that are no JSON": () => compact(JSON.stringify(HEADER), "{"),
  "claims of 20 KB": withClaims({ sub: "x".repeat(20_000) }),
};

describe.each([
  ["signature", SIGNATURES],
  ["header, signed with the right key", HEADERS],
  ["claims, signed with the right key", CLAIMS],
] as const)("a token is refused for its %s", (_, attacks) => {
  it.each(Object.entries(attacks))("%s", async (_name, forge) => {
    const world = await makeWorld();
    expect(shown(await send("GET", world.items, bearer(await forge(world))))).toEqual(REFUSED);
  });
});

describe("a token is refused when it has no row", () => {
  it.each(["GET", "POST"])("by the very next request after it was revoked: %s", async (method) => {
    const { id, token, items } = await makeWorld();
    const ask = () => send(method, items, { ...bearer(token), body: method === "POST" ? { category: "LOGIN" } : undefined });
    expect((await ask()).status).toBe(200);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    expect(shown(await ask())).toEqual(REFUSED);
  });

  it("though the right key signed it: a write, and the list of vaults", async () => {
    const world = await makeWorld();
    const forged = bearer(await withClaims({ jti: crypto.randomUUID() })(world));
    expect(shown(await send("POST", world.items, { ...forged, body: { category: "LOGIN" } }))).toEqual(REFUSED);
    expect(shown(await send("GET", "/v1/vaults", forged))).toEqual(REFUSED);
    expect((await send("GET", world.items, bearer(world.token))).body).toEqual([]);
  });
});
