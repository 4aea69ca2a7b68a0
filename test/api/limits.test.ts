import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { sample } from "../support/runs.ts";
import { admin, type Client, client, freshVault, LOGIN, type Reply, shareVault } from "../support/service.ts";

/**
 * Each limit of contract 12.1: a size of the limit and one less is accepted, one more is a 400 that names the limit and changes nothing. The
 * two limits of size (contract 12.1 and 12.2): the body of a request, and the encrypted form of an Item.
 */

interface TestVault {
  readonly vault: string;
  readonly items: string;
  readonly item: string;
  readonly call: Client;
}

/** A new Item in that vault, or in a new one. */
async function makeTestVault(own?: Pick<TestVault, "vault" | "items" | "call">): Promise<TestVault> {
  const { vault, items, call } = own ?? (await freshVault());
  const { body } = await call("POST", items, { body: { ...LOGIN, fields: [{ id: "f", value: "x" }], urls: [{ href: "x" }] } });
  return { vault, items, item: `${items}/${body.id}`, call };
}

/** Its Item is shared by the tests whose requests are refused and so change nothing. The others make one of their own in it. */
let unchanged: TestVault;

beforeAll(async () => {
  unchanged = await makeTestVault();
});

/** Sends a request in which one thing has the size. */
type SendSized = (target: TestVault, size: number) => Promise<Reply>;

const post =
  (attributes: (size: number) => object): SendSized =>
  ({ items, call }, size) =>
    call("POST", items, { body: { ...LOGIN, ...attributes(size) } });
const patch =
  (operations: (size: number) => object[]): SendSized =>
  ({ item, call }, size) =>
    call("PATCH", item, { body: operations(size) });
const list = <E>(size: number, entry: (index: number) => E) => Array.from({ length: size }, (_, index) => entry(index));

/** A string of exactly `bytes` bytes of UTF-8: the character repeated, and then `a` for the bytes that are left. */
const text = (bytes: number, character = "a") => {
  const width = new TextEncoder().encode(character).length;
  return character.repeat(bytes / width) + "a".repeat(bytes % width);
};

const LISTS: readonly (readonly [string, SendSized])[] = [
  ["fields", post((size) => ({ fields: list(size, (index) => ({ id: `f${index}` })) }))],
  ["sections", post((size) => ({ sections: list(size, (index) => ({ id: `s${index}` })) }))],
  [
    "sections, one of them undeclared",
    post((size) => ({ sections: list(size - 1, (index) => ({ id: `s${index}` })), fields: [{ section: { id: "undeclared" } }] })),
  ],
  ["tags", post((size) => ({ tags: list(size, (index) => `t${index}`) }))],
  ["urls", post((size) => ({ urls: list(size, () => ({ href: "" })) }))],
  ["operations of a PATCH", patch((size) => list(size, () => ({ op: "replace", path: "/favorite", value: true })))],
  [
    "tags, the last one by PATCH",
    patch((size) => [
      { op: "add", path: "/tags", value: list(size - 1, String) },
      { op: "add", path: "/tags/-", value: "x" },
    ]),
  ],
  [
    "urls, the last one by PATCH",
    patch((size) => [
      { op: "replace", path: "/urls", value: list(size - 1, () => ({ href: "" })) },
      { op: "add", path: "/urls/-", value: { href: "" } },
    ]),
  ],
  [
    "fields, the last one by PATCH",
    patch((size) => [
      { op: "replace", path: "/fields", value: list(size - 1, (index) => ({ id: `f${index}` })) },
      { op: "add", path: "/fields", value: {} },
    ]),
  ],
  [
    "sections, the last one by PATCH",
    patch((size) => [
      { op: "replace", path: "/sections", value: list(size - 1, (index) => ({ id: `s${index}` })) },
      { op: "add", path: "/sections/x", value: {} },
    ]),
  ],
];

const STRINGS: readonly (readonly [string, (value: string) => SendSized])[] = [
  ["a field's value", (value) => post(() => ({ fields: [{ value }] }))],
  ["a field's label", (label) => post(() => ({ fields: [{ label }] }))],
  ["a field's id", (id) => post(() => ({ fields: [{ id }] }))],
  ["a section's label", (label) => post(() => ({ sections: [{ id: "s", label }] }))],
  ["a Url's href", (href) => post(() => ({ urls: [{ href }] }))],
  ["a Url's label", (label) => post(() => ({ urls: [{ href: "", label }] }))],
  ["the characters that a recipe excludes", (excludeCharacters) => post(() => ({ fields: [{ recipe: { excludeCharacters } }] }))],
  ["a field's value, by PATCH", (value) => patch(() => [{ op: "replace", path: "/fields/f/value", value }])],
  ["a field's id, by the path of a PATCH", (id) => patch(() => [{ op: "add", path: `/fields/${id}`, value: {} }])],
  ["a Url's href, by PATCH", (value) => patch(() => [{ op: "replace", path: "/urls/0/href", value }])],
  ["a vault's description", (description) => () => admin("POST", "/v1/admin/vaults", { body: { name: "v", description } })],
];

const SECTION_IDS: readonly (readonly [string, (value: string) => SendSized])[] = [
  ["a section's id", (id) => post(() => ({ sections: [{ id }] }))],
  ["the id of a field's section", (id) => post(() => ({ fields: [{ section: { id } }] }))],
  ["a section's id, by the path of a PATCH", (id) => patch(() => [{ op: "add", path: `/sections/${id}`, value: {} }])],
];

/** Three tags of so many bytes together. */
const tagsOf = (bytes: number, character = "a") => {
  const each = Math.floor(bytes / 3);
  return [each, each, bytes - 2 * each].map((length) => text(length, character));
};

const TAGS_TOGETHER: typeof LISTS = [
  ...["a", "é", "😀"].map((one) => [`of ${one}`, post((size) => ({ tags: tagsOf(size, one) }))] as const),
  [
    "by PUT",
    ({ call, item, vault }, size) => call("PUT", item, { body: { ...LOGIN, vault: { id: vault }, tags: tagsOf(size) } }),
  ],
  ["by PATCH", patch((size) => [{ op: "replace", path: "/tags", value: tagsOf(size) }])],
  [
    "each by PATCH",
    patch((size) => [{ op: "remove", path: "/tags" }, ...tagsOf(size).map((value) => ({ op: "add", path: "/tags/-", value }))]),
  ],
];

/** An Item without another tag: its tags have a limit together. */
const TAGS: typeof STRINGS = [
  ["a tag", (tag) => post(() => ({ tags: [tag] }))],
  ["a tag, by PATCH", (value) => patch(() => [{ op: "replace", path: "/tags", value: [value] }])],
];

const TITLES: readonly (readonly [string, (value: string) => SendSized])[] = [
  ["a title", (title) => post(() => ({ title }))],
  ["a title, by PATCH", (value) => patch(() => [{ op: "replace", path: "/title", value }])],
  ["a vault's name", (name) => () => admin("POST", "/v1/admin/vaults", { body: { name } })],
  ["a token's name", (name) => () => admin("POST", "/v1/admin/tokens", { body: { name, vaults: {} } })],
];

const filter =
  (attribute: string, character: string): SendSized =>
  ({ items, call }, size) =>
    call("GET", `${items}?filter=${encodeURIComponent(`${attribute} "${text(size, character)}"`)}`);

/** The short run takes two of the widths. */
const ofEachWidth = (rows: typeof STRINGS, limit: number) =>
  rows.flatMap(([name, sendSized]) =>
    sample(["a", "é", "€", "😀"], 2).map((character) => {
      const sendText: SendSized = (target, size) => sendSized(text(size, character))(target, size);
      return [`${name} in bytes of UTF-8, made of ${character}`, limit, sendText] as const;
    }),
  );

const LIMITS: readonly (readonly [string, number, SendSized])[] = [
  ...LISTS.map(([name, sendSized]) => [name, 1_000, sendSized] as const),
  ...TAGS_TOGETHER.map(([name, sendSized]) => [`the bytes of all tags, ${name}`, 16 * 1024, sendSized] as const),
  ...ofEachWidth(STRINGS, 64 * 1024),
  ...ofEachWidth(TAGS, 16 * 1024),
  ...ofEachWidth(TITLES, 1024),
  ...ofEachWidth(SECTION_IDS, 255),
  ["the value of a filter for a title", 4096, filter("title eq", "a")],
  ["the value of a filter for a part of a title, made of é", 4096, filter("title co", "é")],
  ["the value of a filter for a tag, made of 😀", 4096, filter("tag eq", "😀")],
  ["the value of a filter for a vault", 4096, ({ call }, size) => call("GET", `/v1/vaults?filter=name+eq+"${text(size)}"`)],
  ["the depth of JSON arrays", 32, post((size) => ({ unknown: JSON.parse("[".repeat(size - 1) + "]".repeat(size - 1)) }))],
  ["the depth of JSON objects", 32, post((size) => JSON.parse('{"x":'.repeat(size) + "1" + "}".repeat(size)))],
  [
    "an Idempotency-Key",
    255,
    ({ items, call }, size) => call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": text(size) } }),
  ],
  [
    "the vaults of a token",
    100,
    (_, size) =>
      admin("POST", "/v1/admin/tokens", {
        body: { name: "t", vaults: Object.fromEntries(list(size, () => [crypto.randomUUID(), "r"] as const)) },
      }),
  ],
  [
    "the lifetime of a token",
    365 * 24 * 3600,
    (_, expiresIn) => admin("POST", "/v1/admin/tokens", { body: { name: "t", vaults: {}, expiresIn } }),
  ],
];

describe("a limit", () => {
  it.each(LIMITS)("%s: %d is accepted, and so is one less", async (_, limit, sendSized) => {
    const target = await makeTestVault(unchanged);
    for (const size of [limit - 1, limit]) expect((await sendSized(target, size)).status).toBe(200);
  });

  it.each(LIMITS)("%s: one more than %d is a 400 that names the limit", async (_, limit, sendSized) => {
    const { body } = await sendSized(unchanged, limit + 1);
    expect(body).toEqual({ status: 400, message: expect.stringMatching(String.raw`(?<!\d)${limit}(?!\d)`) });
    expect((await unchanged.call("GET", unchanged.item)).body.version).toBe(1);
  });
});

describe("the depth of JSON", () => {
  it("does not include brackets inside a string", async () => {
    const { items, call } = await makeTestVault();
    const title = `\\"${"[{".repeat(100)}\\`;
    expect((await call("POST", items, { body: { ...LOGIN, title } })).body.title).toBe(title);
  });
});

describe("a token at all of its limits", () => {
  it("is accepted: 100 vaults, and a name of 1 KiB whose characters JSON escapes", async () => {
    const { vault, items } = await freshVault();
    const vaults = Object.fromEntries([vault, ...list(99, () => crypto.randomUUID())].map((id) => [id, "rw"]));
    const { body } = await admin("POST", "/v1/admin/tokens", { body: { name: "\0".repeat(1024), vaults } });
    expect((await client(body.token)("GET", items)).status).toBe(200);
  });
});

const sharedVault = shareVault();

const MIB = 1024 * 1024;
const KIB_512 = 512 * 1024;

/** The JSON of an Item, padded with spaces to exactly `size` bytes. */
const bodyOf = (size: number) => JSON.stringify(LOGIN).padEnd(size, " ");

/** The same body as a stream of chunks, as a client sends a body of unknown length. */
function chunked(size: number, chunk = 100_000): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(bodyOf(size));
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= size) return controller.close();
      controller.enqueue(bytes.subarray(sent, (sent += chunk)));
    },
  });
}

describe("a body of 1 MiB", () => {
  const forms = [
    ["whole", (size: number) => ({ body: bodyOf(size) })],
    ["with its Content-Length", (size: number) => ({ body: bodyOf(size), headers: { "Content-Length": String(size) } })],
    ["in chunks, without a Content-Length", (size: number) => ({ body: chunked(size) })],
    ["in chunks, the last one of 1 byte", (size: number) => ({ body: chunked(size, size - 1) })],
  ] as const;

  it.each(forms)("is accepted, and so is one byte less: %s", async (_, request) => {
    const { items, call } = await sharedVault();
    for (const size of [MIB - 1, MIB]) expect((await call("POST", items, request(size))).status).toBe(200);
  });

  it.each(forms)("is the limit: one byte more is a 413 that names it: %s", async (_, request) => {
    const { vault, items, call } = await freshVault();
    const { body } = await call("POST", items, request(MIB + 1));
    expect(body).toEqual({ status: 413, message: expect.stringContaining(String(MIB)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(0);
  });

  it.each(["PUT", "PATCH"])("is the limit for %s too", async (method) => {
    const { items, call } = await sharedVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB + 1) })).status).toBe(413);
    expect((await call(method, `${items}/${id}`, { body: "[]".padEnd(MIB) })).status).not.toBe(413);
  });

  it("is the limit beyond which a body is not read further", async () => {
    const { items, call } = await sharedVault();
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks++;
        if (chunks === 1000) return controller.close();
        controller.enqueue(new Uint8Array(64 * 1024).fill(32));
      },
    });
    expect((await call("POST", items, { body })).status).toBe(413);
    expect(chunks).toBeLessThan(30);
  });
});

/** Six fields: five values of the greatest length, and one of `rest` bytes. The Item exceeds the limit before `rest` is 64 KiB. */
const fieldsOf = (rest: number) =>
  [65_536, 65_536, 65_536, 65_536, 65_536, rest].map((length, index) => ({ id: `f${index}`, value: "x".repeat(length) }));

/** The length of an Item's encrypted form in D1. */
async function storedSize(item: string): Promise<number> {
  const sql = "SELECT length(overview) + length(details) AS size FROM items WHERE id = ?1";
  return (await env.DB.prepare(sql).bind(item).first<number>("size"))!;
}

/** The greatest `rest` with which an Item has exactly 512 KiB. Base64 turns 3 bytes into 4 characters. */
async function findBoundary(items: string, call: Client): Promise<number> {
  const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(60_000) } })).body;
  let rest = 60_000 + ((KIB_512 - (await storedSize(id))) / 4) * 3;
  // The last group of three bytes may have room for one or two more.
  while ((await call("PUT", `${items}/${id}`, { body: putBody(items, rest + 1) })).status === 200) rest++;
  return rest;
}

const putBody = (items: string, rest: number) => ({ ...LOGIN, vault: { id: items.split("/")[3] }, fields: fieldsOf(rest) });

describe("an Item of 512 KiB in its encrypted form", () => {
  it("is accepted, and so is an Item with one byte less", async () => {
    const { items, call } = await sharedVault();
    const rest = await findBoundary(items, call);
    for (const length of [rest - 1, rest]) {
      const { status, body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(length) } });
      expect(status).toBe(200);
      expect(body.fields[5].value).toHaveLength(length);
      expect(await storedSize(body.id)).toBe(KIB_512);
      expect((await call("GET", `${items}/${body.id}`)).body).toEqual(body);
    }
  });

  it("is the limit: one byte more is a 400 that names it: POST", async () => {
    const { vault, items, call } = await freshVault();
    const rest = await findBoundary(items, call);
    const { body } = await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(rest + 1) } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `/v1/vaults/${vault}`)).body.items).toBe(1);
  });

  it.each([
    ["PUT", (items: string, rest: number) => putBody(items, rest)],
    ["PATCH", (_: string, rest: number) => [{ op: "replace", path: "/fields/f5/value", value: "x".repeat(rest) }]],
  ])("is the limit: one byte more is a 400 that names it, and the Item is unchanged: %s", async (method, change) => {
    const { items, call } = await sharedVault();
    const rest = await findBoundary(items, call);
    const { id } = (await call("POST", items, { body: { ...LOGIN, fields: fieldsOf(1) } })).body;
    const accepted = await call(method, `${items}/${id}`, { body: change(items, rest) });
    expect(accepted.body.version).toBe(2);
    const refused = await call(method, `${items}/${id}`, { body: change(items, rest + 1) });
    expect(refused.body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
    expect((await call("GET", `${items}/${id}`)).body).toEqual(accepted.body);
  });

  it("is the limit for the bytes of the stored JSON, not for its characters", async () => {
    const { items, call } = await sharedVault();
    // 90,000 characters, which JSON escapes to 540,000 bytes.
    const fields = [..."abcdef"].map((id) => ({ id, value: "\u0001".repeat(15_000) }));
    const { body } = await call("POST", items, { body: { ...LOGIN, fields } });
    expect(body).toEqual({ status: 400, message: expect.stringContaining(String(KIB_512)) });
  });
});
