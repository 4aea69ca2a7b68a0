import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { makeToken, type Reply, send, shareVault } from "../support/service.ts";

/** A valid token that is spelled or sent otherwise than issued (contract 8.1 and 8.3; RFC 6750 section 2.1). */

interface Target {
  readonly token: string;
  readonly items: string;
}

const sharedVault = shareVault();

async function makeTarget(): Promise<Target> {
  const { vault } = await sharedVault();
  const { token } = await makeToken({ [vault]: "rw" });
  return { token, items: `/v1/vaults/${vault}/items` };
}

const edited = (edit: (token: string) => string) => (target: Target) => edit(target.token);
const editedParts = (edit: (parts: string[]) => string[]) => edited((token) => edit(token.split(".")).join("."));
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

const summaryOf = ({ status, text, headers }: Reply) => [status, text, headers.get("WWW-Authenticate")];
const REFUSED = [401, '{"status":401,"message":"Invalid token signature"}', "Bearer"];

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

describe("a token as it was issued", () => {
  it.each(["Bearer", "bearer", "BEARER"])("is accepted after the scheme %s, in any case", async (scheme) => {
    const { token, items } = await makeTarget();
    expect((await send("GET", items, { headers: { Authorization: `${scheme} ${token}` } })).status).toBe(200);
  });

  it.each(["Authorization: Bearer", "authorization: bearer"])(
    "is accepted after the doubled name of the header, which a module for Puppet sends: Authorization: %s",
    async (prefix) => {
      const { token, items } = await makeTarget();
      expect((await send("GET", items, { headers: { Authorization: `${prefix} ${token}` } })).status).toBe(200);
    },
  );

  it("is accepted with whitespace around the header's value, which is not part of the value in HTTP", async () => {
    const { token, items } = await makeTarget();
    expect((await send("GET", items, { headers: { Authorization: ` \tBearer ${token} \t` } })).status).toBe(200);
  });
});

describe("a token is refused for its spelling", () => {
  it.each(Object.entries(SPELLINGS))("%s", async (_name, forge) => {
    const target = await makeTarget();
    expect(summaryOf(await send("GET", target.items, bearer(forge(target))))).toEqual(REFUSED);
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

describe("a token is refused outside of the header `Authorization: Bearer`", () => {
  it.each([
    ["the scheme Basic", ({ token }: Target) => ({ Authorization: `Basic ${btoa(`x:${token}`)}` })],
    ["the scheme Basic with the bare token", ({ token }: Target) => ({ Authorization: `Basic ${token}` })],
    ["the scheme Token", ({ token }: Target) => ({ Authorization: `Token ${token}` })],
    ["no scheme", ({ token }: Target) => ({ Authorization: token })],
    ["no space after the scheme", ({ token }: Target) => ({ Authorization: `Bearer${token}` })],
    ["a colon after the scheme", ({ token }: Target) => ({ Authorization: `Bearer: ${token}` })],
    ["the scheme twice", ({ token }: Target) => ({ Authorization: `Bearer Bearer ${token}` })],
    [
      "the name of the header three times",
      ({ token }: Target) => ({ Authorization: `Authorization: Authorization: Bearer ${token}` }),
    ],
    ["the name of the header without a colon", ({ token }: Target) => ({ Authorization: `Authorization Bearer ${token}` })],
    ["the name of the header without a scheme", ({ token }: Target) => ({ Authorization: `Authorization: ${token}` })],
    ["the scheme alone", () => ({ Authorization: "Bearer" })],
    ["an empty header", () => ({ Authorization: "" })],
    ["no header", () => ({})],
    ["a cookie", ({ token }: Target) => ({ Cookie: `Authorization=Bearer ${token}; token=${token}` })],
    [
      "another header",
      ({ token }: Target) => ({ "X-Authorization": `Bearer ${token}`, "Proxy-Authorization": `Bearer ${token}` }),
    ],
    ["the admin token", () => ({ Authorization: `Bearer ${env.ADMIN_TOKEN}` })],
  ])("%s", async (_, headersOf) => {
    const target = await makeTarget();
    expect(summaryOf(await send("GET", target.items, { headers: headersOf(target) as Record<string, string> }))).toEqual(REFUSED);
  });

  it("two Authorization headers", async () => {
    const { items, token } = await makeTarget();
    const headers = new Headers();
    headers.append("Authorization", `Bearer ${token}`);
    headers.append("Authorization", `Bearer ${token}`);
    expect(summaryOf(await send("GET", items, { headers }))).toEqual(REFUSED);
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
