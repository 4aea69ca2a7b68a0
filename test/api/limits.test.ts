import { beforeAll, describe, expect, it } from "vitest";
import { sample } from "../support/runs.ts";
import { admin, type Client, client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Each limit of contract 12.1: a size of the limit and one less is accepted, one more is a 400 that names the limit. */

interface TestVault {
  readonly items: string;
  readonly item: string;
  readonly call: Client;
}

/** A new Item in that vault, or in a new one. */
async function makeTestVault(own?: Pick<TestVault, "items" | "call">): Promise<TestVault> {
  const { items, call } = own ?? (await freshVault());
  const { body } = await call("POST", items, { body: { ...LOGIN, fields: [{ id: "f", value: "x" }], urls: [{ href: "x" }] } });
  return { items, item: `${items}/${body.id}`, call };
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

/** An Item without another tag: its tags have a limit together (limits-tags.test.ts). */
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
    const { status, body } = await sendSized(unchanged, limit + 1);
    expect(status).toBe(400);
    expect(body).toEqual({ status: 400, message: expect.stringMatching(String.raw`(?<!\d)${limit}(?!\d)`) });
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
