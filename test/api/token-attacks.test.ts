import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { hashToken } from "../../src/crypto/token.ts";
import { freshFile } from "../support/files.ts";
import {
  admin,
  type Client,
  client,
  freshVault,
  LOGIN,
  makeToken,
  makeVault,
  type Reply,
  send,
  shareVault,
} from "../support/service.ts";

/**
 * Forged tokens, and tokens that are spelled or sent otherwise than issued (contract 8.1 to 8.3; RFC 6750 section 2.1): each differs in one
 * thing from a token that is accepted.
 */

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

/** A token with this header and these claims, both JSON texts, signed with the service's key. */
async function signToken(header: string, claims: string): Promise<string> {
  const signed = `${encodeText(header)}.${encodeText(claims)}`;
  return `${signed}.${await sign(signed)}`;
}

interface Target {
  readonly token: string;
  readonly id: string;
  readonly items: string;
  /** The claims of the token, from which the tests forge others. */
  readonly claims: Json;
}

const sharedVault = shareVault();

/** A token of its own, for the vault that the tests share or for another one. */
async function makeTarget(other?: string): Promise<Target> {
  const vault = other ?? (await sharedVault()).vault;
  const { id, token } = await makeToken({ [vault]: "rw" });
  return { token, id, items: `/v1/vaults/${vault}/items`, claims: claimsIn(token) };
}

const claimsIn = (token: string): Json =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(token.split(".")[1]!, { alphabet: "base64url" })));

const withHeader = (change: Json) => (target: Target) =>
  signToken(JSON.stringify({ ...HEADER, ...change }), JSON.stringify(target.claims));
const withClaims =
  (change: Json) =>
  ({ claims }: Pick<Target, "claims">) =>
    signToken(JSON.stringify(HEADER), JSON.stringify({ ...claims, ...change }));
const edited = (edit: (token: string) => string) => (target: Target) => edit(target.token);
const editedParts = (edit: (parts: string[]) => string[]) => edited((token) => edit(token.split(".")).join("."));

const summaryOf = ({ status, text, headers }: Reply) => [
  status,
  text,
  headers.get("WWW-Authenticate"),
  headers.get("Token-Expires"),
];
const REFUSED = [401, '{"status":401,"message":"Invalid token signature"}', "Bearer", null];

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const now = Math.floor(Date.now() / 1000);

describe("a token without a fault", () => {
  it("is accepted: the issued one, and one that the test signs with the service's key", async () => {
    const target = await makeTarget();
    for (const token of [target.token, await withHeader({})(target)]) {
      expect((await send("GET", target.items, bearer(token))).status).toBe(200);
    }
  });
});

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n; // L of RFC 8032 section 5.1

/** The same signature with S + L instead of S, which a lenient verifier accepts (RFC 8032 section 8.4). */
function addOrder(signature: string): string {
  const bytes = Uint8Array.fromBase64(signature, { alphabet: "base64url" });
  let s = ORDER + BigInt(`0x${bytes.slice(32).toReversed().toHex()}`);
  for (let i = 32; i < 64; i++, s >>= 8n) bytes[i] = Number(s & 255n);
  return encode(bytes);
}

async function hmac(key: Uint8Array, { claims }: Target): Promise<string> {
  const signed = `${encodeText(JSON.stringify({ ...HEADER, alg: "HS256" }))}.${encodeText(JSON.stringify(claims))}`;
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return `${signed}.${encode(new Uint8Array(await crypto.subtle.sign("HMAC", imported, encoder.encode(signed))))}`;
}

/** The public key, derived like src/crypto/keyring.ts does it. */
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

const SIGNATURES: Record<string, (target: Target) => string | Promise<string>> = {
  "alg none without a signature": async (target) => (await withHeader({ alg: "none" })(target)).replace(/[^.]*$/, ""),
  "alg none with a signature of the service's key": withHeader({ alg: "none" }),
  "alg None": withHeader({ alg: "None" }),
  "alg HS256 with the public key as secret": async (target) => hmac(await publicKey(), target),
  "alg HS256 with the public key as PEM as secret": async (target) => hmac(pem(await publicKey()), target),
  "alg HS256 with 32 zero bytes as secret": (target) => hmac(new Uint8Array(32), target),
  "a signature with the key of another root key": async ({ token }) => {
    const signed = token.replace(/\.[^.]*$/, "");
    return `${signed}.${await sign(signed, OTHER_ROOT)}`;
  },
  "the signature of another token": async ({ token }) => token.replace(/[^.]*$/, (await makeTarget()).token.replace(/.*\./, "")),
  "a signature of zeros": editedParts(([header, claims]) => [header!, claims!, encode(new Uint8Array(64))]),
  "a signature with S + L": editedParts(([header, claims, signature]) => [header!, claims!, addOrder(signature!)]),
  "a signature that is a byte too short": editedParts(([h, c, s]) => [
    h!,
    c!,
    encode(Uint8Array.fromBase64(s!, { alphabet: "base64url" }).slice(1)),
  ]),
  "claims that were changed after they were signed": editedParts(([header, claims, signature]) => [
    header!,
    encodeText(atob(claims!.replaceAll("-", "+").replaceAll("_", "/")).replace('"test"', '"best"')),
    signature!,
  ]),
};

const HEADERS: Record<string, (target: Target) => string | Promise<string>> = {
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
  "a kid that is the name of an inherited property": withHeader({ kid: "__proto__" }),
  crit: withHeader({ crit: ["exp"], exp: now }),
  "b64 false": withHeader({ crit: ["b64"], b64: false }),
  jku: withHeader({ jku: "https://attacker.test/keys" }),
  x5u: withHeader({ x5u: "https://attacker.test/cert" }),
  jwk: withHeader({ jwk: { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" } }),
  zip: withHeader({ zip: "DEF" }),
  cty: withHeader({ cty: "JWT" }),
  "its attributes in another order": (target) =>
    signToken(JSON.stringify({ kid: "k1", alg: "EdDSA", typ: "JWT" }), JSON.stringify(target.claims)),
  "whitespace in its JSON": (target) => signToken(JSON.stringify(HEADER, null, 1), JSON.stringify(target.claims)),
  "a key twice": (target) => signToken('{"alg":"none","alg":"EdDSA","typ":"JWT","kid":"k1"}', JSON.stringify(target.claims)),
};

/** Sets the lowest bit of the last character, which is a padding bit: the decoded bytes stay the same. */
function otherSpelling(part: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1)!) | 1];
}

const SPELLINGS: Record<string, (target: Target) => string> = {
  ...Object.fromEntries(
    ["=", "==", ".", ".x", ",", "%", "%0A", " x", "\tx"].map((tail) => [`"${tail}" after it`, edited((token) => token + tail)]),
  ),
  "= after each part": editedParts((parts) => parts.map((part) => part + "=".repeat((4 - (part.length % 4)) % 4))),
  "a dot before it": edited((token) => `.${token}`),
  "a second space before it": edited((token) => ` ${token}`),
  "a tab before it": edited((token) => `\t${token}`),
  "a space inside": edited((token) => token.replace(".", " .")),
  "quotes around it": edited((token) => `"${token}"`),
  "two parts": editedParts(([header, claims]) => [header!, claims!]),
  "one part": editedParts(([header]) => [header!]),
  "no header": editedParts(([, claims, signature]) => ["", claims!, signature!]),
  "no claims": editedParts(([header, , signature]) => [header!, "", signature!]),
  "no signature": editedParts(([header, claims]) => [header!, claims!, ""]),
  "five parts": editedParts((parts) => [...parts, "x", "x"]),
  "another spelling of the signature": editedParts(([h, c, s]) => [h!, c!, otherSpelling(s!)]),
  "another spelling of the header": editedParts(([h, c, s]) => [`${h}A`, c!, s!]),
  "the empty string": () => "",
};

const CLAIMS: Record<string, (target: Target) => Promise<string>> = {
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
  "exp as a string": withClaims({ exp: String(now + 1000) }),
  "exp as a date": withClaims({ exp: "2099-01-01T00:00:00Z" }),
  "exp zero": withClaims({ exp: 0 }),
  "iat in the future": withClaims({ iat: now + 600 }),
  "iat as a string": withClaims({ iat: String(now) }),
  "nbf in the future": withClaims({ nbf: now + 600 }),
  "another dialect": withClaims({ dialect: "other" }),
  "vaults as a string": withClaims({ vaults: "rw" }),
  "claims that are an array": () => signToken(JSON.stringify(HEADER), "[]"),
  "claims that are not JSON": () => signToken(JSON.stringify(HEADER), "{"),
  "claims of 20 KB": withClaims({ sub: "x".repeat(20_000) }),
};

describe.each([
  ["signature", SIGNATURES],
  ["header, signed with the service's key", HEADERS],
  ["claims, signed with the service's key", CLAIMS],
] as const)("a token is refused for its %s", (_, attacks) => {
  it.each(Object.entries(attacks))("%s", async (_name, forge) => {
    const target = await makeTarget();
    const forged = await forge(target);
    // So that the token is not refused only because another one was issued.
    await env.DB.prepare("UPDATE tokens SET claims = ?2 WHERE id = ?1")
      .bind(target.id, await hashToken(forged))
      .run();
    expect(summaryOf(await send("GET", target.items, bearer(forged)))).toEqual(REFUSED);
  });
});

describe("a token is refused for its spelling", () => {
  it.each(Object.entries(SPELLINGS))("%s", async (_name, spell) => {
    const target = await makeTarget();
    expect(summaryOf(await send("GET", target.items, bearer(spell(target))))).toEqual(REFUSED);
  });
});

describe("a token is refused when it is not in the allow-list", () => {
  it.each(["GET", "POST"])("by the next request after it was revoked: %s", async (method) => {
    const { id, token, items } = await makeTarget();
    const sendAgain = () =>
      send(method, items, { ...bearer(token), body: method === "POST" ? { category: "LOGIN" } : undefined });
    expect((await sendAgain()).status).toBe(200);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    expect(summaryOf(await sendAgain())).toEqual(REFUSED);
  });

  it("although it is signed with the service's key: a write, and the list of vaults", async () => {
    const target = await makeTarget(await makeVault());
    const forged = bearer(await withClaims({ jti: crypto.randomUUID() })(target));
    expect(summaryOf(await send("POST", target.items, { ...forged, body: { category: "LOGIN" } }))).toEqual(REFUSED);
    expect(summaryOf(await send("GET", "/v1/vaults", forged))).toEqual(REFUSED);
    expect((await send("GET", target.items, bearer(target.token))).body).toEqual([]);
  });
});

describe("a token as it was issued", () => {
  it.each([
    ["the scheme Bearer", "Bearer "],
    ["the scheme in any case", "bearer "],
    ["the scheme in capitals", "BEARER "],
    ["the doubled name of the header, which a module for Puppet sends", "Authorization: Bearer "],
    ["the doubled name in any case", "authorization: bearer "],
    ["whitespace, which is no part of the value in HTTP", " \tBearer "],
  ])("is accepted after %s", async (_, prefix) => {
    const { token, items } = await makeTarget();
    expect((await send("GET", items, { headers: { Authorization: `${prefix}${token} \t` } })).status).toBe(200);
  });
});

describe("a token is refused in base64 instead of base64url", () => {
  it("with + for - and / for _", async () => {
    for (;;) {
      const target = await makeTarget();
      const signature = target.token.split(".")[2]!;
      if (!/[-_]/.test(signature)) continue;
      const standard = signature.replaceAll("-", "+").replaceAll("_", "/");
      expect(summaryOf(await send("GET", target.items, bearer(target.token.replace(signature, standard))))).toEqual(REFUSED);
      return;
    }
  });
});

/** Where a token is no bearer token of the request. */
const PLACES: Readonly<Record<string, (token: string) => HeadersInit>> = {
  "the scheme Basic": (token) => ({ Authorization: `Basic ${btoa(`x:${token}`)}` }),
  "the scheme Basic with the bare token": (token) => ({ Authorization: `Basic ${token}` }),
  "the scheme Token": (token) => ({ Authorization: `Token ${token}` }),
  "no scheme": (token) => ({ Authorization: token }),
  "no space after the scheme": (token) => ({ Authorization: `Bearer${token}` }),
  "a colon after the scheme": (token) => ({ Authorization: `Bearer: ${token}` }),
  "the scheme twice": (token) => ({ Authorization: `Bearer Bearer ${token}` }),
  "the name of the header three times": (token) => ({ Authorization: `Authorization: Authorization: Bearer ${token}` }),
  "the name of the header without a colon": (token) => ({ Authorization: `Authorization Bearer ${token}` }),
  "the name of the header without a scheme": (token) => ({ Authorization: `Authorization: ${token}` }),
  "the scheme alone": () => ({ Authorization: "Bearer" }),
  "an empty header": () => ({ Authorization: "" }),
  "no header": () => ({}),
  "a cookie": (token) => ({ Cookie: `Authorization=Bearer ${token}; token=${token}` }),
  "another header": (token) => ({ "X-Authorization": `Bearer ${token}`, "Proxy-Authorization": `Bearer ${token}` }),
  "the admin token": () => ({ Authorization: `Bearer ${env.ADMIN_TOKEN}` }),
  "two headers": (token) => {
    const headers = new Headers({ Authorization: `Bearer ${token}` });
    headers.append("Authorization", `Bearer ${token}`);
    return headers;
  },
};

describe("a token is refused outside of the header `Authorization: Bearer`", () => {
  it.each(Object.entries(PLACES))("%s", async (_, headersOf) => {
    const { items, token } = await makeTarget();
    expect(summaryOf(await send("GET", items, { headers: headersOf(token) }))).toEqual(REFUSED);
  });

  it.each(["access_token", "token", "authorization"])("in the query: %s", async (name) => {
    const { items, token } = await makeTarget();
    expect(summaryOf(await send("GET", `${items}?${name}=${token}`))).toEqual(REFUSED);
  });

  it("on the admin routes", async () => {
    const { token } = await makeTarget();
    expect(summaryOf(await send("GET", "/v1/admin/tokens", bearer(token)))).toEqual(REFUSED);
  });
});

/** Requests to every kind of route, in a vault with an Item and a File. */
const REQUESTS: readonly (readonly [method: string, path: string, body?: unknown])[] = [
  ["GET", "/v1/token"],
  ["GET", "/v1/vaults"],
  ["GET", "/v1/activity"],
  ["GET", "<vault>"],
  ["GET", "<items>"],
  ["GET", "<item>"],
  ["GET", "<files>"],
  ["GET", "<file>"],
  ["GET", "<file>/content"],
  ["POST", "<items>", LOGIN],
  ["PUT", "<item>", { ...LOGIN, vault: {} }],
  ["PATCH", "<item>", []],
  ["PATCH", "<item>", [{ op: "replace", path: "/title", value: "Forged" }]],
  ["DELETE", "<item>"],
  ["POST", "<files>?name=f", "content"],
  ["PUT", "<file>/content", "content"],
  ["DELETE", "<file>"],
];

const FORGERIES: readonly (readonly [string, (own: string, other: string) => Json])[] = [
  ["a vault", (own, other) => ({ vaults: { [own]: "rw", [other]: "rw" } })],
  ["a permission", (own) => ({ vaults: { [own]: "rw" } })],
  ["the dialect", () => ({ dialect: "connect" })],
  ["a later expiry", () => ({ exp: now + 365 * 86_400 })],
  ["an earlier time of issue", () => ({ iat: 1 })],
  ["the name", () => ({ sub: "other" })],
  ["its id, which is that of the admin, who has no row,", () => ({ jti: "admin" })],
];

/** A client with a token that is signed with the service's key, and differs from an issued one in some claims. */
const forge = async ({ token }: { token: string }, change: Json): Promise<Client> =>
  client(await withClaims(change)({ claims: claimsIn(token) }));

describe("a token that is signed with the service's key under the id of an issued one (contract 8.3)", () => {
  let target: Awaited<ReturnType<typeof freshFile>>;
  let reader: { id: string; token: string };
  let writer: { id: string; token: string };
  let other: string;

  beforeAll(async () => {
    target = await freshFile();
    other = await makeVault();
    reader = await makeToken({ [target.vault]: "r" });
    writer = await makeToken({ [target.vault]: "rw" });
  });

  const sendAs = (call: Client, [method, path, body]: (typeof REQUESTS)[number]): Promise<Reply> => {
    const vault = `/v1/vaults/${target.vault}`;
    const names = { vault, items: `${vault}/items`, item: target.path, files: target.files, file: target.one };
    const named = method === "PUT" && typeof body === "object" ? { ...body, vault: { id: target.vault } } : body;
    return call(
      method,
      path.replace(/<(\w+)>/, (_, name: keyof typeof names) => names[name]),
      { body: named },
    );
  };

  it.each(FORGERIES)("and differs in %s is a 401 on every route", async (what, change) => {
    const forged = await forge(what === "a permission" ? reader : writer, change(target.vault, other));
    for (const request of REQUESTS)
      expect([request.join(" "), ...summaryOf(await sendAs(forged, request))]).toEqual([request.join(" "), ...REFUSED]);
    expect((await client(writer.token)("GET", target.path)).body).toMatchObject({ title: LOGIN.title, version: 2 });
  });

  it("is refused in a group with writes of the issued token, which take effect", async () => {
    const { items, vault, call } = await freshVault();
    const issued = await makeToken({ [vault]: "w" });
    const forged = await forge(issued, { vaults: { [vault]: "rw" } });
    const senders = [client(issued.token), forged, call, forged, client(issued.token)];
    for (let round = 0; round < 3; round++) {
      const replies = await Promise.all(senders.map((sender) => sender("POST", items, { body: LOGIN })));
      expect(replies.map(({ status }) => status)).toEqual([200, 401, 200, 401, 200]);
    }
    expect((await call("GET", items)).body).toHaveLength(9);
  });

  it("in a vault that it does not name is a 401 also for a write that it may not make", async () => {
    const forged = await forge(writer, { vaults: { [other]: "rw" } });
    expect(summaryOf(await forged("POST", `/v1/vaults/${other}/items`, { body: LOGIN }))).toEqual(REFUSED);
    expect(summaryOf(await forged("GET", `/v1/vaults/${other}/items`))).toEqual(REFUSED);
  });
});
