import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { freshFile, freshItem, pattern, recordingBucket } from "../support/files.ts";

/** Contents in the JSON of endpoints 7 and 8, with `inline_files` and up to a limit (contract 9.8, 9.9, 12.1). */

const MIB = 1024 * 1024;
const LIMIT = 102_400;
const PARAMETERS = ["inline_files", "inline_content"];

type File = Awaited<ReturnType<typeof freshFile>>;
/** A File of 10 bytes, one of the largest size and one that is larger, which no test changes. */
let small: File;
let largest: File;
let larger: File;

beforeAll(async () => {
  [small, largest, larger] = [await freshFile(pattern(10)), await freshFile(pattern(LIMIT)), await freshFile(pattern(LIMIT + 1))];
});

/** What the File alone and the list of the Files answer. */
const bothOf = async ({ call, one, files }: Pick<File, "call" | "one" | "files">, query: string, request = {}) => [
  (await call("GET", one + query, request)).body,
  (await call("GET", files + query, request)).body,
];

const tooLarge = (vault: string, item: string, file: string) => ({
  status: 413,
  message: `File is too large to inline in request. Use the /v1/vaults/${vault}/items/${item}/files/${file}/content endpoint instead.`,
});

describe("an inlined content", () => {
  it.each(PARAMETERS)("is in the File and in the list, up to 100 KiB: %s=true", async (parameter) => {
    const inlined = { ...largest.file, content: pattern(LIMIT).toBase64() };
    expect(await bothOf(largest, `?${parameter}=true`)).toStrictEqual([inlined, [inlined]]);
  });

  it.each([
    [[], ""],
    [[0xfb], "+w=="],
    [[0xfb, 0xff], "+/8="],
    [[0xfb, 0xff, 0xfe], "+//+"],
  ])("is standard base64 with padding, and the empty string for an empty File: %j", async (bytes, content) => {
    const [one, list] = await bothOf(await freshFile(Uint8Array.from(bytes)), "?inline_files=true");
    expect([one.content, list[0].content]).toEqual([content, content]);
  });

  it("is that of its own File in a list of several, and in none of an empty list", async () => {
    const { upload, call, files } = await freshItem();
    const contents = async () =>
      (await call("GET", `${files}?inline_files=true`)).body.map(({ size, content }: any) => [size, content]);
    expect(await contents()).toEqual([]);
    const sizes = [1, 16_384, 50_000];
    for (const size of sizes) await upload(pattern(size), `?name=${size}`);
    expect(new Map(await contents())).toEqual(new Map(sizes.map((size) => [size, pattern(size).toBase64()])));
  });
});

describe("a content without inline_files=true", () => {
  it.each(["", ...PARAMETERS.map((parameter) => `?${parameter}=false`)])("is not returned: %j", async (query) => {
    expect(await bothOf(small, query)).toEqual([small.file, [small.file]]);
  });

  it("is not read from R2, and may be larger than the limit", async () => {
    const FILES = new Proxy(env.FILES, {
      get: (_, name) => {
        throw new Error(`R2's ${String(name)} was used`);
      },
    });
    expect(await bothOf(larger, "", { env: { FILES } })).toEqual([larger.file, [larger.file]]);
  });
});

describe.each(PARAMETERS)("a value of %s", (parameter) => {
  it.each([
    ...["1", "t", "T", "TRUE", "true", "True"].map((value) => [value, pattern(10).toBase64()] as const),
    ...["0", "f", "F", "FALSE", "false", "False"].map((value) => [value, undefined] as const),
  ])("is read in each spelling of Go: %s", async (value, content) => {
    const request = { undocumented: "a spelling of Go" };
    const { status, body } = await small.call("GET", `${small.one}?${parameter}=${value}`, request);
    expect([status, body.content]).toEqual([200, content]);
  });

  it.each(["tRUE", "2", "01", "yes", "on", "", "truefalse", "%00"])(
    "that is another is a 400 of its own name: %j",
    async (value) => {
      const refusal = { status: 400, message: `${parameter}: is not true or false` };
      expect(await bothOf(small, `?${parameter}=${value}`)).toEqual([refusal, refusal]);
    },
  );
});

describe("the limit MAX_INLINE_FILE_SIZE_KB", () => {
  it.each(PARAMETERS)("refuses a File of one byte more with a 413 and the message of contract 4.3: %s", async (parameter) => {
    const refusal = tooLarge(larger.vault, larger.item, larger.file.id);
    expect(await bothOf(larger, `?${parameter}=true`)).toEqual([refusal, refusal]);
  });

  it("refuses the whole list for one larger File, which the message names", async () => {
    const { upload, call, files, vault, item, one } = await freshFile(pattern(1));
    const large = (await upload(pattern(LIMIT + 1), "?name=large")).body.id;
    for (const name of ["a", "b", "c"]) await upload(pattern(1), `?name=${name}`);
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual(tooLarge(vault, item, large));
    expect((await call("GET", `${one}?inline_files=true`)).status).toBe(200);
  });

  it("is the value of the variable, in KiB", async () => {
    const { call, one } = await freshFile(pattern(2_048));
    const statuses = [];
    for (const size of [1, 2, 0]) {
      const request = { env: { MAX_INLINE_FILE_SIZE_KB: size } as unknown as Partial<Env> };
      statuses.push((await call("GET", `${one}?inline_files=true`, request)).status);
    }
    expect(statuses).toEqual([413, 200, 413]);
  });

  it("refuses a list with the File's id in the token's dialect, and vault and Item as the client wrote them (contract 3.7)", async () => {
    const { call, vault, item, file } = await freshFile(pattern(LIMIT + 1), "connect");
    const upper = vault.toUpperCase();
    const { body } = await call("GET", `/v1/vaults/${upper}/items/${item}/files?inline_files=true`);
    expect(file.id).toMatch(/^[a-z2-7]{26}$/);
    expect(body).toEqual(tooLarge(upper, item, file.id));
  });

  it("refuses one File with all three ids as the client wrote them", async () => {
    const { call, vault, item, file } = larger;
    const [v, i, f] = [writeId(vault, "connect"), item.toUpperCase(), writeId(file.id, "connect")];
    expect((await call("GET", `/v1/vaults/${v}/items/${i}/files/${f}?inline_files=true`)).body).toEqual(tooLarge(v, i, f));
  });
});

/** Files of these sizes, in the order of the list. */
async function filesOf(...sizes: number[]) {
  const world = await freshItem();
  for (const size of sizes) await world.upload(pattern(size), `?name=${size}`);
  const { body } = await world.call("GET", world.files);
  return { ...world, listed: body as { id: string; size: number }[] };
}

const times = (count: number) => Array.from({ length: count }, () => LIMIT);
/** Eleven Files, 1 MiB together. */
const EXACT = [...times(10), MIB - 10 * LIMIT];

describe("the contents in the list of the Files", () => {
  it("are inlined when they have exactly 1 MiB together", async () => {
    const { call, files } = await filesOf(...EXACT);
    const { status, body } = await call("GET", `${files}?inline_files=true`);
    expect([status, body.length]).toEqual([200, EXACT.length]);
    for (const { size, content } of body) expect(content === pattern(size).toBase64()).toBe(true);
  });

  it("are refused with one byte more: the answer names the first File beyond the sum, and R2 is not read", async () => {
    const { call, files, vault, item, listed } = await filesOf(...EXACT, 1);
    let sum = 0;
    const first = listed.find(({ size }) => (sum += size) > MIB)!;
    const { ranges: reads, bucket } = recordingBucket();
    const { headers, body } = await call("GET", `${files}?inline_files=true`, { env: { FILES: bucket } });
    expect([headers.get("Item-Vault-Error"), body, reads]).toEqual(["too_large_to_inline", tooLarge(vault, item, first.id), []]);
    // They are not counted where the request does not inline them, or asks for one of them.
    expect((await call("GET", files)).body).toEqual(listed);
    for (const { id } of listed) expect((await call("GET", `${files}/${id}?inline_files=true`)).status).toBe(200);
  });

  it("make an answer of at most 1.5 MiB, however many Files there are", async () => {
    const { call, files } = await filesOf(...times(15));
    expect((await call("GET", `${files}?inline_files=true`)).text.length).toBeLessThan(1.5 * MIB);
  });

  it.each([
    ["the limit of one File", 0, 0],
    ["the sum", 11, 10],
  ])("name the File that comes first when another File exceeds another limit: %s", async (_, large, named) => {
    const { call, files, vault, item, listed } = await filesOf(...times(12));
    await call("PUT", `${files}/${listed[large]!.id}/content`, { body: pattern(LIMIT + 1) });
    expect((await call("GET", `${files}?inline_files=true`)).body).toEqual(tooLarge(vault, item, listed[named]!.id));
  });
});

describe("the content of one File", () => {
  it.each([
    [MIB, 200],
    [MIB + 1, 413],
  ])("has the same bound, also where MAX_INLINE_FILE_SIZE_KB is higher: %i bytes", async (size, status) => {
    const { call, files, listed } = await filesOf(size);
    const { ranges: reads, bucket } = recordingBucket();
    const bindings = { FILES: bucket, MAX_INLINE_FILE_SIZE_KB: 2048 } as unknown as Partial<Env>;
    const reply = await call("GET", `${files}/${listed[0]!.id}?inline_files=true`, { env: bindings });
    expect([reply.status, reads.length]).toEqual([status, status === 200 ? 1 : 0]);
  });
});
