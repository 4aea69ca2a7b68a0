import { describe, expect, it } from "vitest";
import { freshItem, pattern, stateOf } from "../support/files.ts";

/** The name of an upload: from `?name=`, else from `Content-Disposition` (RFC 6266). It comes back as it was given. */

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
];

describe("a name in the query", () => {
  it.each(NAMES)("comes back as it was: %j", async (name) => {
    const { upload, call, files } = await freshItem();
    const { status, body } = await upload(pattern(1), `?name=${encodeURIComponent(name)}`);
    expect([status, body.name]).toEqual([200, name]);
    expect((await call("GET", files)).body[0].name).toBe(name);
  });

  it("reads + as a space, and %2B as a plus", async () => {
    const { upload } = await freshItem();
    expect((await upload(pattern(1), "?name=a+b%2Bc")).body.name).toBe("a b+c");
  });

  it.each([
    ["1,024 ASCII characters", "x".repeat(1024)],
    ["256 emoji", "📎".repeat(256)],
  ])("has up to 1 KiB: %s", async (_, name) => {
    const { upload } = await freshItem();
    expect((await upload(pattern(1), `?name=${encodeURIComponent(name)}`)).body.name).toBe(name);
  });

  it.each([
    ["one byte too many", "x".repeat(1025)],
    ["257 emoji", "📎".repeat(257)],
    ["10,000 characters", "x".repeat(10_000)],
  ])("that is longer is a 400 that names the limit, and nothing is stored: %s", async (_, name) => {
    const world = await freshItem();
    const before = await stateOf(world);
    const { status, body } = await world.upload(pattern(1), `?name=${encodeURIComponent(name)}`);
    expect([status, body.message]).toEqual([400, expect.stringContaining("1024")]);
    expect(await stateOf(world)).toEqual(before);
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
    ["in other letters", 'ATTACHMENT; FileName="a.txt"', "a.txt"],
    ["inline", 'inline; filename="a.txt"', "a.txt"],
    ["both, the better one last", "attachment; filename=\"e.txt\"; filename*=UTF-8''%C3%A9.txt", "é.txt"],
    ["both, the better one first", "attachment; filename*=UTF-8''%C3%A9.txt; filename=\"e.txt\"", "é.txt"],
    ["both, the better one broken", "attachment; filename=\"e.txt\"; filename*=UTF-8''%C3.txt", "e.txt"],
  ])("is read: %s", async (_, header, name) => {
    const { upload } = await freshItem();
    const { status, body } = await upload(pattern(1), "", { headers: { "Content-Disposition": header } });
    expect([status, body.name]).toEqual([200, name]);
  });

  it("gives way to the one in the query", async () => {
    const { upload } = await freshItem();
    const headers = { "Content-Disposition": "attachment; filename=header.txt" };
    expect((await upload(pattern(1), "?name=query.txt", { headers })).body.name).toBe("query.txt");
  });

  it("is bound by the same 1 KiB", async () => {
    const { upload } = await freshItem();
    for (const [length, status] of [
      [1025, 400],
      [1024, 200],
    ] as const) {
      const headers = { "Content-Disposition": `attachment; filename="${"x".repeat(length)}"` };
      expect((await upload(pattern(1), "", { headers })).status).toBe(status);
    }
  });
});

describe("an upload without a name", () => {
  it.each([
    ["nothing", "", undefined],
    ["an empty one in the query", "?name=", undefined],
    ["Content-Disposition without a filename", "", "attachment"],
    ["an empty filename", "", 'attachment; filename=""'],
    ["an empty filename*", "", "attachment; filename*=UTF-8''"],
    ["no Content-Disposition at all", "", ';;;="'],
  ])("is a 400 that says where to give it, and nothing is stored: %s", async (_, query, header) => {
    const world = await freshItem();
    const before = await stateOf(world);
    const headers: HeadersInit = header === undefined ? {} : { "Content-Disposition": header };
    const { status, body } = await world.upload(pattern(1), query, { headers });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^name: .*Content-Disposition/)]);
    expect(await stateOf(world)).toEqual(before);
  });
});
