import { beforeAll, describe, expect, it } from "vitest";
import { sample } from "../support/runs.ts";
import { admin, type Client, freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/**
 * Bodies that are not JSON, or JSON of an unexpected form: a 400 that names the fault, and nothing is stored (contract 4.3). Strings that need
 * care: unpaired surrogates (contract 12.3), and the names of properties that JavaScript objects inherit.
 */

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

/** An Item with a field `f`, a section `s`, a tag and a Url, in that vault or in a new one. */
async function makeTestVault(own?: Awaited<ReturnType<typeof freshVault>>): Promise<TestVault> {
  const { vault, items, call } = own ?? (await freshVault());
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

/** Sends a request that contains the text. */
type SendText = (target: { items: string; item: string; call: Client }, text: string) => Promise<Reply>;

const sharedVault = shareVault();

const post =
  (attributes: (text: string) => object): SendText =>
  ({ items, call }, text) =>
    call("POST", items, { body: { ...LOGIN, ...attributes(text) } });
const patch =
  (operation: (text: string) => object): SendText =>
  ({ item, call }, text) =>
    call("PATCH", item, { body: [operation(text)] });

const PLACES: readonly (readonly [string, SendText])[] = [
  ["a title", post((title) => ({ title }))],
  ["a tag", post((tag) => ({ tags: ["x", tag] }))],
  ["a Url's href", post((href) => ({ urls: [{ href }] }))],
  ["a Url's label", post((label) => ({ urls: [{ href: "", label }] }))],
  ["a section's id", post((id) => ({ sections: [{ id }] }))],
  ["a section's label", post((label) => ({ sections: [{ id: "s", label }] }))],
  ["a field's id", post((id) => ({ fields: [{ id }] }))],
  ["a field's label", post((label) => ({ fields: [{ label }] }))],
  ["a field's value", post((value) => ({ fields: [{ value }] }))],
  ["the id of a field's section", post((id) => ({ fields: [{ section: { id } }] }))],
  ["the characters that a recipe excludes", post((excludeCharacters) => ({ fields: [{ recipe: { excludeCharacters } }] }))],
  ["a title, by PATCH", patch((value) => ({ op: "replace", path: "/title", value }))],
  ["a tag, by PATCH", patch((value) => ({ op: "add", path: "/tags/-", value }))],
  ["a field's value, by PATCH", patch((value) => ({ op: "replace", path: "/fields/f/value", value }))],
  ["a field's id, by PATCH", patch((id) => ({ op: "add", path: "/fields", value: { id } }))],
  ["a field's id, in the path of a PATCH", patch((id) => ({ op: "add", path: `/fields/${id}`, value: { value: "x" } }))],
  ["a section's id, in the path of a PATCH", patch((id) => ({ op: "add", path: `/sections/${id}`, value: { label: "x" } }))],
  ["a vault's name", (_, name) => admin("POST", "/v1/admin/vaults", { body: { name } })],
  ["a vault's description", (_, description) => admin("POST", "/v1/admin/vaults", { body: { name: "x", description } })],
  ["a token's name", (_, name) => admin("POST", "/v1/admin/tokens", { body: { name, vaults: {} } })],
];

describe("an unpaired surrogate", () => {
  it.each(PLACES)("is a 400 in %s, and nothing is stored", async (_, sendText) => {
    for (const half of ["\ud800", "\udc00", "\ude00\ud83d", "a\udbffb"]) {
      expect((await sendText(unchanged, half)).status).toBe(400);
    }
    expect(await unchanged.writeCount()).toBe(1);
  });

  it.each(PLACES)("is accepted as part of a complete pair in %s", async (_, sendText) => {
    expect((await sendText(await makeTestVault(await sharedVault()), "\ud83d\ude00")).status).toBe(200);
  });

  it("is a 400 in the path of a `replace` operation", async () => {
    const { item, call } = unchanged;
    for (const path of ["/fields/\ud800", "/fields/\ud800/value", "/tags/\ud800", "/\ud800"]) {
      expect((await call("PATCH", item, { body: [{ op: "replace", path, value: "x" }] })).status).toBe(400);
    }
  });
});

const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

describe("the name of a property that every object inherits", () => {
  it("is dropped like any unknown attribute, and changes no prototype", async () => {
    const { items, call } = await makeTestVault();
    const attributes = INHERITED.map((name) => `"${name}":{"favorite":true,"prototype":{"favorite":true}}`).join();
    const { status, body } = await call("POST", items, {
      body: `{"category":"LOGIN",${attributes},"fields":[{"value":"x",${attributes}}],"urls":[{"href":"",${attributes}}],"sections":[{${attributes}}]}`,
    });
    expect([status, body.favorite]).toEqual([200, false]);
    expect(Object.keys(body.fields[0]).toSorted()).toEqual(["id", "label", "type", "value"]);
    expect(({} as { favorite?: boolean }).favorite).toBeUndefined();
  });

  it("does not set an attribute of the Item by `__proto__`", async () => {
    const { items, call } = unchanged;
    const { body } = await call("POST", items, { body: '{"__proto__":{"category":"LOGIN","title":"x"}}' });
    expect(body).toEqual({ status: 400, message: "Invalid item category" });
  });

  it.each(INHERITED)("is refused as a category, type, purpose and character set: %s", async (word) => {
    const { items, call } = unchanged;
    const refusal = async (attributes: object) => (await call("POST", items, { body: { ...LOGIN, ...attributes } })).body.message;
    expect(await refusal({ category: word })).toBe("Invalid item category");
    expect(await refusal({ fields: [{ type: word }] })).toMatch(/^fields\[0\]\.type: /);
    expect(await refusal({ fields: [{ purpose: word }] })).toMatch(/^fields\[0\]\.purpose: /);
    expect(await refusal({ fields: [{ recipe: { characterSets: [word] } }] })).toMatch(
      /^fields\[0\]\.recipe\.characterSets\[0\]: /,
    );
  });

  it.each(
    INHERITED.flatMap((name) =>
      sample(
        ["", "/fields/f", "/urls/0", "/urls", "/tags", "/sections/s"].flatMap((place) => [
          `${place}/${name}`,
          `${place}/${name}/x`,
        ]),
        3,
      ),
    ),
  )("is a 400 in the path of a PATCH: %s", async (path) => {
    const { item, call, writeCount } = unchanged;
    for (const op of ["add", "replace", "remove"]) {
      const { status } = await call("PATCH", item, { body: [{ op, path, value: "x" }] });
      expect(status).toBe(400);
    }
    expect(await writeCount()).toBe(1);
  });

  it.each(INHERITED)("is accepted as the id of a field and of a section: %s", async (id) => {
    const { items, call } = await makeTestVault();
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: [{ id, section: { id }, value: "1" }] } });
    expect(body).toMatchObject({ fields: [{ id, section: { id }, value: "1" }], sections: [{ id }] });
    const operations = [{ op: "replace", path: `/fields/${id}/value`, value: "2" }];
    expect((await call("PATCH", `${items}/${body.id}`, { body: operations })).body.fields[0]).toMatchObject({ id, value: "2" });
  });

  it.each(INHERITED)("is refused as a vault id and as a permission of a token: %s", async (name) => {
    for (const vaults of [`{"${name}":"rw"}`, `{"${crypto.randomUUID()}":"${name}"}`]) {
      const { status } = await admin("POST", "/v1/admin/tokens", { body: `{"name":"t","vaults":${vaults}}` });
      expect(status).toBe(400);
    }
  });
});
