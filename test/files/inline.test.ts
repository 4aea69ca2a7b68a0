import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { freshFile, itemIn, pattern } from "../support/files.ts";
import { shareVault } from "../support/service.ts";

/** Contents in the JSON of endpoints 7 and 8, with `inline_files` and up to a limit (contract 9.8, 9.9). */

const sharedVault = shareVault();
/** A new Item in the vault that the tests share. */
const newItem = async () => itemIn(await sharedVault());

const LIMIT = 102_400;
const PARAMETERS = ["inline_files", "inline_content"];

describe("an inlined content", () => {
  it.each(PARAMETERS)("is in the File and in the list: %s=true", async (parameter) => {
    const { call, one, files, file } = await freshFile(pattern(20_000));
    const inlined = { ...file, content: pattern(20_000).toBase64() };
    expect((await call("GET", `${one}?${parameter}=true`)).body).toStrictEqual(inlined);
    expect((await call("GET", `${files}?${parameter}=true`)).body).toStrictEqual([inlined]);
  });

  it.each([
    [[], ""],
    [[0xfb], "+w=="],
    [[0xfb, 0xff], "+/8="],
    [[0xfb, 0xff, 0xfe], "+//+"],
  ])("is standard base64 with padding, and the empty string for an empty File: %j", async (bytes, content) => {
    const { call, one, files } = await freshFile(Uint8Array.from(bytes));
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(content);
    expect((await call("GET", `${files}?inline_files=true`)).body[0].content).toBe(content);
  });

  it("is that of its own File in a list of several", async () => {
    const { upload, call, files } = await newItem();
    for (const size of [1, 16_384, 50_000]) await upload(pattern(size), `?name=${size}`);
    const { body } = await call("GET", `${files}?inline_files=true`);
    const contents = body.map(({ size, content }: { size: number; content: string }) => [size, content]);
    expect(contents.length).toBe(3);
    for (const [size, content] of contents) expect(content).toBe(pattern(size).toBase64());
  });

  it("is in no entry when the Item has no Files: the list is empty", async () => {
    const { call, files } = await newItem();
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual([]);
  });
});

describe("a content without inline_files=true", () => {
  it.each(["", ...PARAMETERS.map((parameter) => `?${parameter}=false`)])("is not returned: %j", async (query) => {
    const { call, one, files } = await freshFile();
    expect((await call("GET", one + query)).body).not.toHaveProperty("content");
    expect((await call("GET", files + query)).body[0]).not.toHaveProperty("content");
  });

  it("is not read from R2, and may be larger than the limit", async () => {
    const { call, one, files, file } = await freshFile(pattern(LIMIT + 1));
    const FILES = new Proxy(env.FILES, {
      get: (_, name) => {
        throw new Error(`R2's ${String(name)} was used`);
      },
    });
    expect((await call("GET", one, { env: { FILES } })).body).toEqual(file);
    expect((await call("GET", files, { env: { FILES } })).body).toEqual([file]);
  });
});

describe("a value of inline_files or inline_content", () => {
  it.each(["1", "t", "T", "TRUE", "true", "True"])("is true in each spelling of Go: %s", async (value) => {
    const { call, one } = await freshFile(pattern(10));
    const undocumented = "a spelling of Go";
    for (const parameter of PARAMETERS)
      expect((await call("GET", `${one}?${parameter}=${value}`, { undocumented })).body.content).toBe(pattern(10).toBase64());
  });

  it.each(["0", "f", "F", "FALSE", "false", "False"])("is false in each spelling of Go: %s", async (value) => {
    const { call, one } = await freshFile();
    const undocumented = "a spelling of Go";
    for (const parameter of PARAMETERS) {
      const { status, body } = await call("GET", `${one}?${parameter}=${value}`, { undocumented });
      expect([status, body.content]).toEqual([200, undefined]);
    }
  });

  it.each(["tRUE", "2", "01", "yes", "on", "", "truefalse", "%00"])(
    "that is another is a 400 of its own name: %j",
    async (value) => {
      const { call, one, files } = await freshFile();
      for (const parameter of PARAMETERS) {
        const refusal = { status: 400, message: `${parameter}: is not true or false` };
        expect((await call("GET", `${one}?${parameter}=${value}`)).body).toEqual(refusal);
        expect((await call("GET", `${files}?${parameter}=${value}`)).body).toEqual(refusal);
      }
    },
  );
});

const tooLargeMessage = (vault: string, item: string, file: string) =>
  `File is too large to inline in request. Use the /v1/vaults/${vault}/items/${item}/files/${file}/content endpoint instead.`;

describe("the limit MAX_INLINE_FILE_SIZE_KB", () => {
  it("admits a File of exactly 100 KiB", async () => {
    const { call, one, files } = await freshFile(pattern(LIMIT));
    const content = pattern(LIMIT).toBase64();
    expect((await call("GET", `${one}?inline_files=true`)).body.content).toBe(content);
    expect((await call("GET", `${files}?inline_files=true`)).body[0].content).toBe(content);
  });

  it.each(PARAMETERS)("refuses a File of one byte more with a 413 and the message of contract 4.3: %s", async (parameter) => {
    const { call, one, files, vault, item, file } = await freshFile(pattern(LIMIT + 1));
    const refusal = { status: 413, message: tooLargeMessage(vault, item, file.id) };
    expect((await call("GET", `${one}?${parameter}=true`)).body).toEqual(refusal);
    expect((await call("GET", `${files}?${parameter}=true`)).body).toEqual(refusal);
  });

  it("refuses the whole list for one larger File, which the message names", async () => {
    const { upload, call, files, vault, item, one } = await freshFile(pattern(1));
    const large = (await upload(pattern(LIMIT + 1), "?name=large")).body.id;
    for (const name of ["a", "b", "c"]) await upload(pattern(1), `?name=${name}`);
    const { body } = await call("GET", `${files}?inline_files=true`);
    expect(body).toEqual({ status: 413, message: tooLargeMessage(vault, item, large) });
    expect((await call("GET", `${one}?inline_files=true`)).status).toBe(200);
  });

  it("is the value of the variable, in KiB", async () => {
    const { call, one } = await freshFile(pattern(2_048));
    const sizes = [1, 2, 0].map((size) => ({ env: { MAX_INLINE_FILE_SIZE_KB: size } as unknown as Partial<Env> }));
    const statuses = [];
    for (const request of sizes) statuses.push((await call("GET", `${one}?inline_files=true`, request)).status);
    expect(statuses).toEqual([413, 200, 413]);
  });

  it("refuses a list with the File's id in the token's dialect, and vault and Item as the client wrote them (contract 3.7)", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1), "connect");
    const upper = vault.toUpperCase();
    const { body } = await call("GET", `/v1/vaults/${upper}/items/${item}/files?inline_files=true`);
    expect(file.id).toMatch(/^[a-z2-7]{26}$/);
    expect(body.message).toBe(tooLargeMessage(upper, item, file.id));
  });

  it("refuses one File with all three ids as the client wrote them", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1));
    const [v, i, f] = [writeId(vault, "connect"), item.toUpperCase(), writeId(file.id, "connect")];
    const { body } = await call("GET", `/v1/vaults/${v}/items/${i}/files/${f}?inline_files=true`);
    expect(body.message).toBe(tooLargeMessage(v, i, f));
  });
});
