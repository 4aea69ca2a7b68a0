import { parse } from "content-disposition";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesOf, freshFile, freshItem, pattern } from "../support/files.ts";
import { fetchRaw } from "../support/service.ts";
import { CHARACTER } from "../support/characters.ts";

/** The headers of a download, and downloads without a body (contract 9.10, 9.11). */

/** All headers but Request-Id, which differs in each response. */
const headersOf = ({ headers }: Response) => [...headers].filter(([name]) => name !== "request-id");

describe("a download", () => {
  it("has these headers and no others, so that a browser saves the content and does not show it", async () => {
    const { download, file } = await freshFile(pattern(100));
    const { status, headers } = await download(file.id);
    expect([status, Object.fromEntries(headers)]).toEqual([
      200,
      {
        "1password-connect-version": "1.8.1",
        "accept-ranges": "bytes",
        "cache-control": "no-store",
        "content-disposition": "attachment; filename=f",
        "content-length": "100",
        "content-type": "application/octet-stream",
        etag: expect.stringMatching(/^"[\x21\x23-\x7e]+"$/),
        "request-id": expect.any(String),
        "token-expires": expect.any(String),
        "x-content-type-options": "nosniff",
      },
    ]);
  });

  it("of an empty File has no bytes and Content-Length 0", async () => {
    const { download, file } = await freshFile(new Uint8Array());
    const response = await download(file.id);
    expect([response.status, response.headers.get("Content-Length")]).toEqual([200, "0"]);
    expect((await bytesOf(response)).length).toBe(0);
  });

  it("has the same ETag each time, and a different one than another File with the same bytes", async () => {
    const { download, upload, file } = await freshFile(pattern(100));
    const other = (await upload(pattern(100))).body.id;
    const tag = async (id: string) => (await download(id)).headers.get("ETag");
    expect(await tag(file.id)).toBe(await tag(file.id));
    expect(await tag(other)).not.toBe(await tag(file.id));
  });

  it("with HEAD has the headers of GET and no body", async () => {
    const { download, file, one, token } = await freshFile(pattern(100));
    const head = await fetchRaw("HEAD", `${one}/content`, { headers: { Authorization: `Bearer ${token}` } });
    expect([head.status, headersOf(head)]).toEqual([200, headersOf(await download(file.id))]);
    expect((await bytesOf(head)).length).toBe(0);
  });
});

/** Both forms of the name in the header: `filename*` for clients that support it, and `filename` as the fallback (RFC 6266). */
async function namesOf(name: string, fixture?: Awaited<ReturnType<typeof freshItem>>) {
  const { upload, download } = fixture ?? (await freshItem());
  const { body } = await upload(pattern(1), `?name=${encodeURIComponent(name)}`);
  const header = (await download(body.id)).headers.get("Content-Disposition")!;
  const read = (extended: boolean) => parse(header, { extended }).parameters["filename"];
  return { header, fallback: read(false), name: read(true) };
}

describe("Content-Disposition", () => {
  it.each([
    ["plain.txt", "plain.txt"],
    ["with space; and = signs.txt", "with space; and = signs.txt"],
    ['"quoted" and \\back', '"quoted" and \\back'],
    ["two\r\nSet-Cookie: lines", "two??Set-Cookie: lines"],
    ["null\0byte\x7f", "null?byte?"],
    ["naïve.txt", "na?ve.txt"],
    ["📎.pdf", "??.pdf"],
    ["日本語", "???"],
    ["100%41.txt", "100%41.txt"],
    ["../../etc/passwd", "../../etc/passwd"],
    ["it's*(a)/file?", "it's*(a)/file?"],
    ["x".repeat(1024), "x".repeat(1024)],
    ["📎".repeat(256), "??".repeat(256)],
  ])("contains the name %j and an ASCII fallback", async (name, fallback) => {
    const read = await namesOf(name);
    expect(read).toEqual({ header: expect.stringMatching(/^attachment; filename=[\x20-\x7e]+$/), fallback, name });
  });

  it("contains every name unchanged, in one line of ASCII", async () => {
    const fixture = await freshItem();
    const names = fc.string({ unit: CHARACTER, minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const read = await namesOf(name, fixture);
        expect(read.name).toBe(name);
        expect(read.header).toMatch(/^attachment; filename=[\x20-\x7e]+$/);
      }),
      { numRuns: 4 }, // test/fuzz/file-names.test.ts has more of them,
    );
  });
});

describe("If-None-Match", () => {
  it.each([
    ["the ETag", (tag: string) => tag],
    ["the ETag, weak", (tag: string) => `W/${tag}`],
    ["the ETag among others", (tag: string) => `"a", ${tag}, "b"`],
    ["*", () => "*"],
  ])("that contains the current ETag is answered 304 with the ETag and no body: %s", async (_, header) => {
    const { download, file } = await freshFile();
    const tag = (await download(file.id)).headers.get("ETag")!;
    for (const range of [{}, { Range: "bytes=0-1" }] as Record<string, string>[]) {
      const response = await download(file.id, { headers: { ...range, "If-None-Match": header(tag) } });
      expect([response.status, response.headers.get("ETag"), await response.text()]).toEqual([304, tag, ""]);
    }
  });

  it.each([
    ["another tag", () => '"other"'],
    ["the ETag without its quotes", (tag: string) => tag.replaceAll('"', "")],
    ["nothing", () => ""],
  ])("that does not contain the current ETag is answered 200 with the content: %s", async (_, header) => {
    const { download, file } = await freshFile();
    const tag = (await download(file.id)).headers.get("ETag")!;
    const response = await download(file.id, { headers: { "If-None-Match": header(tag) } });
    expect([response.status, await bytesOf(response)]).toEqual([200, pattern(100)]);
  });
});
