import { beforeAll, describe, expect, it } from "vitest";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Bodies that are no JSON, or JSON that no client should send: a 400 that says so, and nothing is stored. */

const CANARY = "canary-7f3a";
const NOT_JSON = { status: 400, message: "the body is not valid JSON" };

interface World {
  readonly vault: string;
  readonly items: string;
  readonly item: string;
  readonly call: Client;
  /** How often the vault was written to. */
  readonly written: () => Promise<number>;
}

/** A vault with one Item: a field `f`, a section `s`, a tag and a Url. */
async function makeWorld(): Promise<World> {
  const { vault, items, call } = await freshVault();
  const whole = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: whole })).body;
  const written = async () => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;
  return { vault, items, item: `${items}/${id}`, call, written };
}

/** For requests that are refused: none of them changes it. */
let unchanged: World;

beforeAll(async () => {
  unchanged = await makeWorld();
});

/** The same body to all that take one. */
const everywhere = ({ items, item, call }: World, body: string | Uint8Array, headers = {}): Promise<Reply[]> =>
  Promise.all([
    call("POST", items, { body, headers }),
    call("PUT", item, { body, headers }),
    call("PATCH", item, { body, headers }),
  ]);

const bytes = (...parts: (string | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? Array.from(new TextEncoder().encode(part)) : part)));

describe("a body that is not JSON", () => {
  it.each([
    "",
    " ",
    "{",
    "}",
    "[",
    "{]",
    '{"title":}',
    '{"title" "x"}',
    `{'title':'${CANARY}'}`,
    `{title:"${CANARY}"}`,
    `{"title":"${CANARY}",}`,
    `["${CANARY}",]`,
    `{} // ${CANARY}`,
    "/**/{}",
    "{}{}",
    `{} ${CANARY}`,
    "NaN",
    "Infinity",
    "undefined",
    "tru",
    "01",
    "+1",
    "1.",
    ".5",
    "0x1",
    "1e",
    `"${CANARY}`,
    '"a\nb"',
    '"\t"',
    String.raw`"\x41"`,
    String.raw`"\u12"`,
    '"\\',
    "{}\0",
    "\u00a0{}",
    "\f{}",
    `title=${CANARY}&category=LOGIN`,
    `<item>${CANARY}</item>`,
    '{"a":"\ufeff"}\ufeff',
  ])("is a 400 that does not quote it: %j", async (text) => {
    const world = unchanged;
    for (const { body } of await everywhere(world, text)) expect(body).toEqual(NOT_JSON);
    expect(await world.written()).toBe(1);
  });

  it.each([
    ["a byte that UTF-8 does not have", [0xff]],
    ["a character written too long", [0xc0, 0x80]],
    ["half of a surrogate pair", [0xed, 0xa0, 0x80]],
    ["a character that was cut", [0xe2, 0x82]],
    ["a character beyond Unicode", [0xf5, 0x80, 0x80, 0x80]],
    ["a byte of Latin-1", [0xe9]],
  ])("is a 400 when it is not UTF-8: %s", async (_, wrong) => {
    const world = unchanged;
    const text = bytes('{"category":"LOGIN","title":"', wrong, '"}');
    for (const { body } of await everywhere(world, text)) expect(body).toEqual(NOT_JSON);
    expect(await world.written()).toBe(1);
  });

  it("is a 400 when it is UTF-16", async () => {
    const text = '{"category":"LOGIN"}';
    const world = unchanged;
    const utf16 = Uint8Array.from([...text].flatMap((character) => [character.charCodeAt(0), 0]));
    for (const { body } of await everywhere(world, utf16)) expect(body).toEqual(NOT_JSON);
  });

  it("is a 400 when there is none at all", async () => {
    const { items, item, call } = unchanged;
    for (const [method, path] of [
      ["POST", items],
      ["PUT", item],
      ["PATCH", item],
    ] as const) {
      expect((await call(method, path)).body).toEqual(NOT_JSON);
    }
  });
});

describe("JSON that is no Item and no patch", () => {
  it.each(["null", "true", "0", `"${CANARY}"`, "[]", `["${CANARY}"]`, `[{"category":"LOGIN"}]`])(
    "is a 400 that says so: an Item that is %s",
    async (body) => {
      const { items, item, call, written } = unchanged;
      for (const reply of [await call("POST", items, { body }), await call("PUT", item, { body })]) {
        expect(reply.body).toEqual({ status: 400, message: "the Item is not a JSON object" });
      }
      expect(await written()).toBe(1);
    },
  );

  it.each(["null", "true", "0", `"${CANARY}"`, "{}", `{"op":"replace","path":"/title","value":"${CANARY}"}`])(
    "is a 400 that says so: a patch that is %s",
    async (body) => {
      const { item, call } = unchanged;
      const reply = await call("PATCH", item, { body });
      expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("the patch") });
      expect(reply.text).not.toContain(CANARY);
    },
  );

  it.each(["null", "true", "0", `"${CANARY}"`, "[]", "{}"])("is a 400 that names the operation: %s", async (operation) => {
    const { item, call } = unchanged;
    const body = `[{"op":"replace","path":"/title","value":"x"},${operation}]`;
    const reply = await call("PATCH", item, { body });
    expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("operation 1") });
    expect(reply.text).not.toContain(CANARY);
  });
});

describe("very deep JSON", () => {
  it.each([
    ["100,000 brackets", "[".repeat(100_000)],
    ["100,000 brackets and their ends", "[".repeat(100_000) + "]".repeat(100_000)],
    ["100,000 objects", '{"a":'.repeat(100_000)],
    ["an unknown attribute", `{"category":"LOGIN","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("is a 400 that names the limit: %s", async (_, text) => {
    const world = unchanged;
    for (const { body } of await everywhere(world, text)) {
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/nested .*\b32\b/) });
    }
  });
});

describe("a body that is encoded", () => {
  it.each(["gzip", "GZIP", "br", "deflate", "gzip, identity", "identity, gzip", "x"])("is a 415: %s", async (encoding) => {
    const world = unchanged;
    for (const { body } of await everywhere(world, "{}", { "Content-Encoding": encoding })) {
      expect(body).toEqual({ status: 415, message: expect.stringContaining("Content-Encoding") });
    }
  });

  it.each(["identity", "Identity"])("is served when its encoding is none: %s", async (encoding) => {
    const { items, call } = await makeWorld();
    expect((await call("POST", items, { body: LOGIN, headers: { "Content-Encoding": encoding } })).status).toBe(200);
  });
});

describe("JSON that is unusual", () => {
  it.each(["text/plain", "application/xml", "multipart/form-data", "nonsense", ""])(
    "is read whatever its Content-Type says: %j",
    async (type) => {
      const { items, call } = await makeWorld();
      expect((await call("POST", items, { body: LOGIN, headers: { "Content-Type": type } })).status).toBe(200);
    },
  );

  it("is read behind a byte order mark (RFC 8259 section 8.1)", async () => {
    const { items, call } = await makeWorld();
    expect((await call("POST", items, { body: bytes([0xef, 0xbb, 0xbf], JSON.stringify(LOGIN)) })).body).toMatchObject(LOGIN);
  });

  it("has a key twice: the last one counts", async () => {
    const { items, call } = await makeWorld();
    const body = '{"title":"one","category":"SERVER","title":"two","category":"LOGIN"}';
    expect((await call("POST", items, { body })).body).toMatchObject({ title: "two", category: "LOGIN" });
  });

  it.each(["1e999", "-1e999", "1e-999", "123456789012345678901234567890", "1.5"])(
    "has a number that no attribute takes: %s is a 400, and dropped from an unknown attribute",
    async (number) => {
      const { items, call } = await makeWorld();
      const post = (attributes: string) => call("POST", items, { body: `{"category":"LOGIN",${attributes}}` });
      for (const [place, attributes] of [
        ["title", `"title":${number}`],
        ["favorite", `"favorite":${number}`],
        ["fields[0].recipe.length", `"fields":[{"recipe":{"length":${number}}}]`],
      ] as const) {
        expect((await post(attributes)).body).toEqual({ status: 400, message: expect.stringContaining(`${place}: `) });
      }
      expect((await post(`"unknown":${number},"version":${number}`)).body.version).toBe(1);
      const token = { body: `{"name":"t","vaults":{},"expiresIn":${number}}` };
      expect((await admin("POST", "/v1/admin/tokens", token)).body.message).toContain("expiresIn: ");
    },
  );

  it.each([
    ["letters", "a".repeat(1_000_000)],
    ["escapes", String.raw`\\`.repeat(500_000)],
    ["brackets", "[".repeat(1_000_000)],
    ["escaped quotes", String.raw`\"`.repeat(500_000)],
  ])("has an unknown attribute of a million %s: it is dropped", async (_, long) => {
    const { items, call } = await makeWorld();
    expect((await call("POST", items, { body: `{"category":"LOGIN","unknown":"${long}"}` })).status).toBe(200);
  });
});

describe("a body that nobody asked for", () => {
  it.each(["", "{", "[]", CANARY])("does not stand in the way of DELETE: %j", async (body) => {
    const { item, call } = await makeWorld();
    expect((await call("DELETE", item, { body, headers: { "Content-Encoding": "gzip" } })).status).toBe(204);
    expect((await call("GET", item)).status).toBe(404);
  });
});
