import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault, type Reply, send } from "../support/service.ts";

/** A valid token that is not written as it was issued, or does not stand where it belongs (contract 2.5; RFC 6750 section 2.1). */

interface World {
  readonly token: string;
  readonly items: string;
}

async function makeWorld(): Promise<World> {
  const vault = await makeVault();
  const { token } = await makeToken({ [vault]: "rw" });
  return { token, items: `/v1/vaults/${vault}/items` };
}

const edited = (edit: (token: string) => string) => (world: World) => edit(world.token);
const editedParts = (edit: (parts: string[]) => string[]) => edited((token) => edit(token.split(".")).join("."));
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

const shown = ({ status, text, headers }: Reply) => [status, text, headers.get("WWW-Authenticate")];
const REFUSED = [401, '{"status":401,"message":"Invalid token signature"}', "Bearer"];

/** Sets the lowest bit of the last character: where it stands for no bit of the bytes, the bytes stay the same. */
function otherSpelling(part: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1)!) | 1];
}

const SPELLINGS: Record<string, (world: World) => string> = {
  ...Object.fromEntries(
    ["=", "==", ".", ".x", ",", "%", "%0A", " x", "\tx"].map((tail) => [`"${tail}" behind it`, edited((token) => token + tail)]),
  ),
  "= behind each part": editedParts((parts) => parts.map((part) => part + "=".repeat((4 - (part.length % 4)) % 4))),
  "a dot before it": edited((token) => `.${token}`),
  "a second blank before it": edited((token) => ` ${token}`),
  "a tab before it": edited((token) => `\t${token}`),
  "a blank inside": edited((token) => token.replace(".", " .")),
  "quotes around it": edited((token) => `"${token}"`),
  "two parts": editedParts(([header, claims]) => [header!, claims!]),
  "one part": editedParts(([header]) => [header!]),
  "no header": editedParts(([, claims, signature]) => ["", claims!, signature!]),
  "no claims": editedParts(([header, , signature]) => [header!, "", signature!]),
  "no signature": editedParts(([header, claims]) => [header!, claims!, ""]),
  "five parts": editedParts((parts) => [...parts, "x", "x"]),
  "another spelling of the signature": editedParts(([h, c, s]) => [h!, c!, otherSpelling(s!)]),
  "another spelling of the header": editedParts(([h, c, s]) => [`${h}A`, c!, s!]),
  "no text at all": () => "",
};

describe("a token as it was issued", () => {
  it.each(["Bearer", "bearer", "BEARER"])("is served behind the scheme %s, whose case does not matter", async (scheme) => {
    const { token, items } = await makeWorld();
    expect((await send("GET", items, { headers: { Authorization: `${scheme} ${token}` } })).status).toBe(200);
  });

  it("is served with blanks around the header's value, which belong to HTTP", async () => {
    const { token, items } = await makeWorld();
    expect((await send("GET", items, { headers: { Authorization: ` \tBearer ${token} \t` } })).status).toBe(200);
  });
});

describe("a token is refused for its spelling", () => {
  it.each(Object.entries(SPELLINGS))("%s", async (_name, forge) => {
    const world = await makeWorld();
    expect(shown(await send("GET", world.items, bearer(forge(world))))).toEqual(REFUSED);
  });
});

describe("a token is refused for the alphabet of base64 that is not that of URLs", () => {
  it("with + for - and / for _", async () => {
    for (;;) {
      const world = await makeWorld();
      const signature = world.token.split(".")[2]!;
      if (!/[-_]/.test(signature)) continue;
      const standard = signature.replaceAll("-", "+").replaceAll("_", "/");
      expect(shown(await send("GET", world.items, bearer(world.token.replace(signature, standard))))).toEqual(REFUSED);
      return;
    }
  });
});

describe("a token is refused where it does not belong", () => {
  it.each([
    ["the scheme Basic", ({ token }: World) => ({ Authorization: `Basic ${btoa(`x:${token}`)}` })],
    ["the scheme Basic with the bare token", ({ token }: World) => ({ Authorization: `Basic ${token}` })],
    ["the scheme Token", ({ token }: World) => ({ Authorization: `Token ${token}` })],
    ["no scheme", ({ token }: World) => ({ Authorization: token })],
    ["no blank behind the scheme", ({ token }: World) => ({ Authorization: `Bearer${token}` })],
    ["a colon behind the scheme", ({ token }: World) => ({ Authorization: `Bearer: ${token}` })],
    ["the scheme twice", ({ token }: World) => ({ Authorization: `Bearer Bearer ${token}` })],
    ["the scheme alone", () => ({ Authorization: "Bearer" })],
    ["an empty header", () => ({ Authorization: "" })],
    ["no header", () => ({})],
    ["a cookie", ({ token }: World) => ({ Cookie: `Authorization=Bearer ${token}; token=${token}` })],
    [
      "another header",
      ({ token }: World) => ({ "X-Authorization": `Bearer ${token}`, "Proxy-Authorization": `Bearer ${token}` }),
    ],
    ["the admin token", () => ({ Authorization: `Bearer ${env.ADMIN_TOKEN}` })],
  ])("%s", async (_, headersOf) => {
    const world = await makeWorld();
    expect(shown(await send("GET", world.items, { headers: headersOf(world) as Record<string, string> }))).toEqual(REFUSED);
  });

  it("two Authorization headers", async () => {
    const { items, token } = await makeWorld();
    const headers = new Headers();
    headers.append("Authorization", `Bearer ${token}`);
    headers.append("Authorization", `Bearer ${token}`);
    expect(shown(await send("GET", items, { headers }))).toEqual(REFUSED);
  });

  it.each(["access_token", "token", "authorization"])("the query: %s", async (name) => {
    const { items, token } = await makeWorld();
    expect(shown(await send("GET", `${items}?${name}=${token}`))).toEqual(REFUSED);
  });

  it("the admin routes", async () => {
    const { token } = await makeWorld();
    expect(shown(await send("GET", "/v1/admin/tokens", bearer(token)))).toEqual(REFUSED);
  });
});
