import { beforeAll, describe, expect, it } from "vitest";
import { freshItem, pattern, recordingBucket } from "../support/files.ts";

/** The contents that one answer inlines are 1 MiB together at most (contract 9.9, 12.1). */

const MIB = 1024 * 1024;
const LARGEST = 102_400;

/** Files of these sizes, in the order of the list. */
async function filesOf(...sizes: number[]) {
  const world = await freshItem();
  for (const size of sizes) await world.upload(pattern(size), `?name=${size}`);
  const { body } = await world.call("GET", world.files);
  return { ...world, listed: body as { id: string; size: number }[] };
}

const refusal = (vault: string, item: string, file: string) => ({
  status: 413,
  message: `File is too large to inline in request. Use the /v1/vaults/${vault}/items/${item}/files/${file}/content endpoint instead.`,
});

/** The first File with which the sum of the sizes is above 1 MiB. */
function firstAbove(listed: readonly { id: string; size: number }[]): string | undefined {
  let sum = 0;
  return listed.find(({ size }) => (sum += size) > MIB)?.id;
}

/** Eleven Files, 1 MiB together. */
const EXACT = [...Array.from({ length: 10 }, () => LARGEST), MIB - 10 * LARGEST];

/** One byte more than 1 MiB. The tests of it only read. */
let above: Awaited<ReturnType<typeof filesOf>>;

beforeAll(async () => {
  above = await filesOf(...EXACT, 1);
});

describe("the contents in the list of the Files", () => {
  it("are inlined when they have exactly 1 MiB together", async () => {
    const { call, files } = await filesOf(...EXACT);
    const { status, body } = await call("GET", `${files}?inline_files=true`);
    expect([status, body.length]).toEqual([200, EXACT.length]);
    for (const { size, content } of body) expect(content === pattern(size).toBase64()).toBe(true);
  });

  it("are refused with one byte more: the answer names the first File beyond the sum, and R2 is not read", async () => {
    const { call, files, vault, item, listed } = above;
    const { ranges: reads, bucket } = recordingBucket();
    const { status, headers, body } = await call("GET", `${files}?inline_files=true`, { env: { FILES: bucket } });
    expect([status, headers.get("Item-Vault-Error")]).toEqual([413, "too_large_to_inline"]);
    expect(body).toEqual(refusal(vault, item, firstAbove(listed)!));
    expect(reads).toEqual([]);
  });

  it("make an answer of at most 1.5 MiB, however many Files there are", async () => {
    const { call, files } = await filesOf(...Array.from({ length: 15 }, () => LARGEST));
    const { text } = await call("GET", `${files}?inline_files=true`);
    expect(text.length).toBeLessThan(1.5 * MIB);
  });

  it("are not counted when the request does not inline them", async () => {
    const { call, files, listed } = above;
    expect((await call("GET", files)).body).toEqual(listed);
  });

  it.each([
    ["the limit of one File", 0, 0],
    ["the sum", 11, 10],
  ])("name the File that comes first when another File exceeds another limit: %s", async (_, large, named) => {
    const { call, files, vault, item, listed } = await filesOf(...Array.from({ length: 12 }, () => LARGEST));
    await call("PUT", `${files}/${listed[large]!.id}/content`, { body: pattern(LARGEST + 1) });
    const { body } = await call("GET", `${files}?inline_files=true`);
    expect(body).toEqual(refusal(vault, item, listed[named]!.id));
  });
});

describe("the content of one File", () => {
  it("is inlined, though those of the whole list are too many", async () => {
    const { call, files, listed } = above;
    for (const { id } of listed) expect((await call("GET", `${files}/${id}?inline_files=true`)).status).toBe(200);
  });

  it.each([
    [MIB, 200],
    [MIB + 1, 413],
  ])("has the same bound, also where MAX_INLINE_FILE_SIZE_KB is higher: %i bytes", async (size, status) => {
    const { call, files, listed } = await filesOf(size);
    const { ranges: reads, bucket } = recordingBucket();
    const env = { FILES: bucket, MAX_INLINE_FILE_SIZE_KB: 2048 } as unknown as Partial<Env>;
    const reply = await call("GET", `${files}/${listed[0]!.id}?inline_files=true`, { env });
    expect([reply.status, reads.length]).toEqual([status, status === 200 ? 1 : 0]);
  });
});
