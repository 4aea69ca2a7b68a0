import { describe, expect, it } from "vitest";
import { freshItem, itemIn, pattern, stateOf } from "../support/files.ts";
import { LOGIN, shareVault } from "../support/service.ts";

/**
 * The name of a File: from `?name=`, else from `Content-Disposition` (contract 9.3, RFC 6266), stored unchanged. The id of its section has at
 * most 255 bytes (contract 2.14).
 */

const sharedVault = shareVault();
const newItem = async () => itemIn(await sharedVault());

const NAMES = [
  "plain.txt",
  'a "quoted" name',
  "two\r\nlines\tand a tab",
  "📎 paperclip.pdf",
  "naïve café.txt",
  "日本語.txt",
  "a/b/c",
  "a\\b\\c",
  "../../etc/passwd",
  "..",
  " spaces around ",
  "100%41.txt",
  "a+b&c=d;e'f*g",
  "null\0byte",
  "\u202Egnp.exe",
  "x".repeat(1024),
  "📎".repeat(256), // 1 KiB, too
];

describe("a name in the query", () => {
  it.each(NAMES)("is returned unchanged: %j", async (name) => {
    const { upload, call, files } = await newItem();
    const { status, body } = await upload(pattern(1), `?name=${encodeURIComponent(name)}`);
    expect([status, body.name]).toEqual([200, name]);
    expect((await call("GET", files)).body[0].name).toBe(name);
  });

  it("has a space for +, and a plus for %2B", async () => {
    const { upload } = await newItem();
    expect((await upload(pattern(1), "?name=a+b%2Bc")).body.name).toBe("a b+c");
  });

  it.each([
    ["one byte too many", "x".repeat(1025)],
    ["257 emoji", "📎".repeat(257)],
    ["10,000 characters", "x".repeat(10_000)],
  ])("that is longer is answered 400 with the limit, and nothing is stored: %s", async (_, name) => {
    const fixture = await newItem();
    const before = await stateOf(fixture);
    const { status, body } = await fixture.upload(pattern(1), `?name=${encodeURIComponent(name)}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining("1024")]);
    expect(await stateOf(fixture)).toEqual(before);
  });
});

describe("a name in Content-Disposition", () => {
  it.each([
    ["a token", "attachment; filename=plain.txt", "plain.txt"],
    ["quoted", 'attachment; filename="with space.txt"', "with space.txt"],
    ["quoted, with quotes and backslashes", String.raw`attachment; filename="a \"b\" c\\d"`, 'a "b" c\\d'],
    ["quoted, with a semicolon", 'attachment; filename="a;b.txt"', "a;b.txt"],
    ["UTF-8", "attachment; filename*=UTF-8''%F0%9F%93%8E%20clip.txt", "📎 clip.txt"],
    ["UTF-8 with a language", "attachment; filename*=utf-8'de'%C3%BCber.txt", "über.txt"],
    ["Latin-1", "attachment; filename*=ISO-8859-1''caf%E9.txt", "café.txt"],
    ["CR LF", "attachment; filename*=UTF-8''a%0D%0Ab", "a\r\nb"],
    ["slashes", "attachment; filename*=UTF-8''..%2F..%2Fx", "../../x"],
    ["in another case", 'ATTACHMENT; FileName="a.txt"', "a.txt"],
    ["inline", 'inline; filename="a.txt"', "a.txt"],
    ["both, filename* last", "attachment; filename=\"e.txt\"; filename*=UTF-8''%C3%A9.txt", "é.txt"],
    ["both, filename* first", "attachment; filename*=UTF-8''%C3%A9.txt; filename=\"e.txt\"", "é.txt"],
    ["both, filename* malformed", "attachment; filename=\"e.txt\"; filename*=UTF-8''%C3.txt", "e.txt"],
  ])("is used: %s", async (_, header, name) => {
    const { upload } = await newItem();
    const { status, body } = await upload(pattern(1), "", { headers: { "Content-Disposition": header } });
    expect([status, body.name]).toEqual([200, name]);
  });

  it("is ignored when the query has a name", async () => {
    const { upload } = await newItem();
    const headers = { "Content-Disposition": "attachment; filename=header.txt" };
    expect((await upload(pattern(1), "?name=query.txt", { headers })).body.name).toBe("query.txt");
  });

  it("may have up to 1 KiB, too", async () => {
    const { upload } = await newItem();
    const statusOf = async (bytes: number) =>
      (await upload(pattern(1), "", { headers: { "Content-Disposition": `attachment; filename="${"x".repeat(bytes)}"` } }))
        .status;
    expect([await statusOf(1025), await statusOf(1024)]).toEqual([400, 200]);
  });
});

describe("an upload without a name", () => {
  it.each([
    ["neither of the two", "", undefined],
    ["an empty one in the query", "?name=", undefined],
    ["Content-Disposition without a filename", "", "attachment"],
    ["an empty filename", "", 'attachment; filename=""'],
    ["an empty filename*", "", "attachment; filename*=UTF-8''"],
    ["a malformed Content-Disposition", "", ';;;="'],
  ])("is answered 400 with the places for a name, and nothing is stored: %s", async (_, query, header) => {
    const fixture = await newItem();
    const before = await stateOf(fixture);
    const headers: HeadersInit = header === undefined ? {} : { "Content-Disposition": header };
    const { status, body } = await fixture.upload(pattern(1), query, { headers });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^name: .*Content-Disposition/)]);
    expect(await stateOf(fixture)).toEqual(before);
  });
});

const LONG = "s".repeat(256);
const refused = (place: string) => ({ status: 400, message: `${place}: is longer than 255 bytes` });

describe("the section of an upload", () => {
  it.each(["s", "é", "€", "😀"])("has at most 255 bytes of UTF-8, of %s", async (character) => {
    const world = await freshItem();
    const width = new TextEncoder().encode(character).length;
    const most = character.repeat(255 / width) + "a".repeat(255 % width);
    const before = await stateOf(world);
    const over = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(`${most}a`)}`);
    expect(over.body).toEqual(refused("section"));
    expect(await stateOf(world)).toEqual(before);
    const at = await world.upload(pattern(1), `?name=f&section=${encodeURIComponent(most)}`);
    expect([at.status, at.body.section]).toEqual([200, { id: most }]);
  });
});

describe("a section with a longer id", () => {
  const long = { id: LONG };
  const sections = [{ ...long, label: "Long" }];

  it.each<[string, (world: Awaited<ReturnType<typeof freshItem>>) => Promise<unknown>]>([
    ["POST", ({ vault, call }) => call("POST", `/v1/vaults/${vault}/items`, { body: { ...LOGIN, sections } })],
    ["PUT", ({ vault, path, call }) => call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, sections } })],
    ["PATCH", ({ path, call }) => call("PATCH", path, { body: [{ op: "add", path: `/sections/${LONG}`, value: {} }] })],
    [
      "PATCH of a field",
      ({ path, call }) => call("PATCH", path, { body: [{ op: "add", path: "/fields", value: { section: long } }] }),
    ],
  ])("is a 400 in a %s, which changes nothing", async (_, send) => {
    const world = await freshItem();
    const before = await stateOf(world);
    expect(await send(world)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/sections\[\d\]\.id: is longer than 255 bytes/) },
    });
    expect(await stateOf(world)).toEqual(before);
  });
});
