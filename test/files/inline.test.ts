import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { freshFile, freshItem, pattern } from "../support/files.ts";

/** Contents inside of the JSON (endpoints 7 and 8): asked for by `inline_files`, up to a size. */

const LIMIT = 102_400;
const WORDS = ["inline_files", "inline_content"];

describe("a content that is asked for", () => {
  it.each(WORDS)("comes along in the File and in the list: %s=true", async (word) => {
    const { call, one, files, file } = await freshFile(pattern(20_000));
    const inlined = { ...file, content: pattern(20_000).toBase64() };
    expect((await call("GET", `${one}?${word}=true`)).body).toStrictEqual(inlined);
    expect((await call("GET", `${files}?${word}=true`)).body).toStrictEqual([inlined]);
  });

  it.each([
    [[], ""],
    [[0xfb], "+w=="],
    [[0xfb, 0xff], "+/8="],
    [[0xfb, 0xff, 0xfe], "+//+"],
  ])("is standard base64 with its padding, of an empty file the empty text: %j", async (bytes, content) => {
    const { call, one, files } = await freshFile(Uint8Array.from(bytes));
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(content);
    expect((await call("GET", `${files}?inline_files=true`)).body[0].content).toBe(content);
  });

  it("is each File's own", async () => {
    const { upload, call, files } = await freshItem();
    for (const size of [1, 16_384, 50_000]) await upload(pattern(size), `?name=${size}`);
    const { body } = await call("GET", `${files}?inline_files=true`);
    const contents = body.map(({ size, content }: { size: number; content: string }) => [size, content]);
    expect(contents.length).toBe(3);
    for (const [size, content] of contents) expect(content).toBe(pattern(size).toBase64());
  });

  it("is an empty array when the Item has no Files", async () => {
    const { call, files } = await freshItem();
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual([]);
  });
});

describe("a content that is not asked for", () => {
  it.each(["", ...WORDS.map((word) => `?${word}=false`)])("does not come along: %j", async (query) => {
    const { call, one, files } = await freshFile();
    expect((await call("GET", one + query)).body).not.toHaveProperty("content");
    expect((await call("GET", files + query)).body[0]).not.toHaveProperty("content");
  });

  it("is not read, and may be of any size", async () => {
    const { call, one, files, file } = await freshFile(pattern(LIMIT + 1));
    const FILES = new Proxy(env.FILES, {
      get: (_, name) => {
        throw new Error(`R2's ${String(name)} was asked for`);
      },
    });
    expect((await call("GET", one, { env: { FILES } })).body).toEqual(file);
    expect((await call("GET", files, { env: { FILES } })).body).toEqual([file]);
  });
});

describe("any other word than true and false", () => {
  it.each(["TRUE", "1", "yes", "", "truefalse", "%00"])("is a 400: %j", async (value) => {
    const { call, one, files } = await freshFile();
    for (const word of WORDS) {
      const refusal = { status: 400, message: expect.stringContaining("true or false") };
      expect((await call("GET", `${one}?${word}=${value}`)).body).toEqual(refusal);
      expect((await call("GET", `${files}?${word}=${value}`)).body).toEqual(refusal);
    }
  });
});

const message = (vault: string, item: string, file: string) =>
  `File is too large to inline in request. Use the /v1/vaults/${vault}/items/${item}/files/${file}/content endpoint instead.`;

describe("a File over MAX_INLINE_FILE_SIZE_KB", () => {
  it("is inlined with exactly 100 KiB", async () => {
    const { call, one, files } = await freshFile(pattern(LIMIT));
    const content = pattern(LIMIT).toBase64();
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(content);
    expect((await call("GET", `${files}?inline_files=true`)).body[0].content).toBe(content);
  });

  it.each(WORDS)("is a 413 in the words of the contract with one byte more: %s", async (word) => {
    const { call, one, files, vault, item, file } = await freshFile(pattern(LIMIT + 1));
    const refusal = { status: 413, message: message(vault, item, file.id) };
    expect((await call("GET", `${one}?${word}=true`)).body).toEqual(refusal);
    expect((await call("GET", `${files}?${word}=true`)).body).toEqual(refusal);
  });

  it("refuses the whole list, and names itself", async () => {
    const { upload, call, files, vault, item, one } = await freshFile(pattern(1));
    const large = (await upload(pattern(LIMIT + 1), "?name=large")).body.id;
    for (const name of ["a", "b", "c"]) await upload(pattern(1), `?name=${name}`);
    const { body } = await call("GET", `${files}?inline_files=true`);
    expect(body).toEqual({ status: 413, message: message(vault, item, large) });
    expect((await call("GET", `${one}?inline_files=true`)).status).toBe(200);
  });

  it("is measured by the variable", async () => {
    const { call, one } = await freshFile(pattern(2_048));
    const sizes = [1, 2, 0].map((size) => ({ env: { MAX_INLINE_FILE_SIZE_KB: size } as unknown as Partial<Env> }));
    const statuses = [];
    for (const request of sizes) statuses.push((await call("GET", `${one}?inline_files=true`, request)).status);
    expect(statuses).toEqual([413, 200, 413]);
  });

  it("is named in the list in the dialect of the token, the vault and the Item as the client wrote them", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1), "connect");
    const upper = vault.toUpperCase();
    const { body } = await call("GET", `/v1/vaults/${upper}/items/${item}/files?inline_files=true`);
    expect(file.id).toMatch(/^[a-z2-7]{26}$/);
    expect(body.message).toBe(message(upper, item, file.id));
  });

  it("is named as the client wrote it, where the client wrote it", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1));
    const [v, i, f] = [writeId(vault, "connect"), item.toUpperCase(), writeId(file.id, "connect")];
    const { body } = await call("GET", `/v1/vaults/${v}/items/${i}/files/${f}?inline_files=true`);
    expect(body.message).toBe(message(v, i, f));
  });
});
