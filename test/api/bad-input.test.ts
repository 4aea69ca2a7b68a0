import { beforeAll, describe, expect, it } from "vitest";
import { admin, type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Bodies that are not JSON, or JSON of an unexpected form: a 400 that names the fault, and nothing is stored (contract 4.3). */

const CANARY = "canary-7f3a";
const NOT_JSON = { status: 400, message: "the body is not valid JSON" };

interface TestVault {
  readonly vault: string;
  readonly items: string;
  readonly item: string;
  readonly call: Client;
  /** The number of writes to the vault. */
  readonly writeCount: () => Promise<number>;
}

/** A vault with one Item: a field `f`, a section `s`, a tag and a Url. */
async function makeTestVault(): Promise<TestVault> {
  const { vault, items, call } = await freshVault();
  const item = { ...LOGIN, fields: [{ id: "f", value: "x" }], sections: [{ id: "s" }], tags: ["t"], urls: [{ href: "u" }] };
  const { id } = (await call("POST", items, { body: item })).body;
  const writeCount = async () => (await call("GET", `/v1/vaults/${vault}`)).body.contentVersion;
  return { vault, items, item: `${items}/${id}`, call, writeCount };
}

/** Shared by the tests whose requests are refused and so change nothing. */
let unchanged: TestVault;

beforeAll(async () => {
  unchanged = await makeTestVault();
});

/** Sends the same body to each write that takes one. */
const sendToEachWrite = ({ items, item, call }: TestVault, body: string | Uint8Array, headers = {}): Promise<Reply[]> =>
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
  ])("is a 400 that does not repeat the body: %j", async (text) => {
    const target = unchanged;
    for (const { body } of await sendToEachWrite(target, text)) expect(body).toEqual(NOT_JSON);
    expect(await target.writeCount()).toBe(1);
  });

  it.each([
    ["a byte that UTF-8 does not use", [0xff]],
    ["an overlong encoding", [0xc0, 0x80]],
    ["an encoded surrogate", [0xed, 0xa0, 0x80]],
    ["an incomplete character", [0xe2, 0x82]],
    ["a code point above U+10FFFF", [0xf5, 0x80, 0x80, 0x80]],
    ["a byte of Latin-1", [0xe9]],
  ])("is a 400 when it is not UTF-8: %s", async (_, wrong) => {
    const target = unchanged;
    const text = bytes('{"category":"LOGIN","title":"', wrong, '"}');
    for (const { body } of await sendToEachWrite(target, text)) expect(body).toEqual(NOT_JSON);
    expect(await target.writeCount()).toBe(1);
  });

  it("is a 400 when it is UTF-16", async () => {
    const text = '{"category":"LOGIN"}';
    const target = unchanged;
    const utf16 = Uint8Array.from([...text].flatMap((character) => [character.charCodeAt(0), 0]));
    for (const { body } of await sendToEachWrite(target, utf16)) expect(body).toEqual(NOT_JSON);
  });

  it("is a 400 when the request has no body", async () => {
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

describe("JSON that is neither an Item nor a PATCH", () => {
  it.each(["null", "true", "0", `"${CANARY}"`, "[]", `["${CANARY}"]`, `[{"category":"LOGIN"}]`])(
    "is a 400 that names the Item as the fault: %s",
    async (body) => {
      const { items, item, call, writeCount } = unchanged;
      for (const reply of [await call("POST", items, { body }), await call("PUT", item, { body })]) {
        expect(reply.body).toEqual({ status: 400, message: "the Item is not a JSON object" });
      }
      expect(await writeCount()).toBe(1);
    },
  );

  it.each(["null", "true", "0", `"${CANARY}"`, "{}", `{"op":"replace","path":"/title","value":"${CANARY}"}`])(
    "is a 400 that names the patch as the fault: %s",
    async (body) => {
      const { item, call } = unchanged;
      const reply = await call("PATCH", item, { body });
      expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("the patch") });
      expect(reply.text).not.toContain(CANARY);
    },
  );

  it.each(["null", "true", "0", `"${CANARY}"`, "[]", "{}"])(
    "is a 400 that names the index of the operation: %s",
    async (operation) => {
      const { item, call } = unchanged;
      const body = `[{"op":"replace","path":"/title","value":"x"},${operation}]`;
      const reply = await call("PATCH", item, { body });
      expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("operation 1") });
      expect(reply.text).not.toContain(CANARY);
    },
  );
});

describe("deeply nested JSON", () => {
  it.each([
    ["100,000 brackets", "[".repeat(100_000)],
    ["100,000 brackets that are closed", "[".repeat(100_000) + "]".repeat(100_000)],
    ["100,000 objects", '{"a":'.repeat(100_000)],
    ["an unknown attribute", `{"category":"LOGIN","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  ])("is a 400 that names the limit: %s", async (_, text) => {
    const target = unchanged;
    for (const { body } of await sendToEachWrite(target, text)) {
      expect(body).toEqual({ status: 400, message: expect.stringMatching(/nested .*\b32\b/) });
    }
  });
});

describe("a body with a Content-Encoding", () => {
  it.each(["gzip", "GZIP", "br", "deflate", "gzip, identity", "identity, gzip", "x"])("is a 415: %s", async (encoding) => {
    const target = unchanged;
    for (const { body } of await sendToEachWrite(target, "{}", { "Content-Encoding": encoding })) {
      expect(body).toEqual({ status: 415, message: expect.stringContaining("Content-Encoding") });
    }
  });

  it.each(["identity", "Identity"])("is accepted when the encoding is identity: %s", async (encoding) => {
    const { items, call } = await makeTestVault();
    expect((await call("POST", items, { body: LOGIN, headers: { "Content-Encoding": encoding } })).status).toBe(200);
  });
});

/** Bodies that are JSON in an unusual form, or with an unusual header (contract 1.9). */
describe("unusual JSON", () => {
  it.each(["text/plain", "application/xml", "multipart/form-data", "nonsense", ""])(
    "is accepted with any Content-Type: %j",
    async (type) => {
      const { items, call } = await makeTestVault();
      expect((await call("POST", items, { body: LOGIN, headers: { "Content-Type": type } })).status).toBe(200);
    },
  );

  it("is accepted after a byte order mark (RFC 8259 section 8.1)", async () => {
    const { items, call } = await makeTestVault();
    expect((await call("POST", items, { body: bytes([0xef, 0xbb, 0xbf], JSON.stringify(LOGIN)) })).body).toMatchObject(LOGIN);
  });

  it("uses the last value of a key that occurs twice", async () => {
    const { items, call } = await makeTestVault();
    const body = '{"title":"one","category":"SERVER","title":"two","category":"LOGIN"}';
    expect((await call("POST", items, { body })).body).toMatchObject({ title: "two", category: "LOGIN" });
  });

  it.each(["1e999", "-1e999", "1e-999", "123456789012345678901234567890", "1.5"])(
    "with the number %s is a 400, except in an unknown attribute, which is dropped",
    async (number) => {
      const { items, call } = await makeTestVault();
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
  ])("with an unknown attribute of a million %s is accepted without it", async (_, long) => {
    const { items, call } = await makeTestVault();
    expect((await call("POST", items, { body: `{"category":"LOGIN","unknown":"${long}"}` })).status).toBe(200);
  });
});

describe("the body of a DELETE", () => {
  it.each(["", "{", "[]", CANARY])("is ignored: %j", async (body) => {
    const { item, call } = await makeTestVault();
    const undocumented = "a DELETE takes no body";
    expect((await call("DELETE", item, { body, headers: { "Content-Encoding": "gzip" }, undocumented })).status).toBe(204);
    expect((await call("GET", item)).status).toBe(404);
  });
});
