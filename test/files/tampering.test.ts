import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { concat } from "../../src/crypto/bytes.ts";
import { CHUNK, chunkCount, chunkOffset, sealedFileSize } from "../../src/crypto/chunked.ts";
import { keyOf, type Place, wrapBucket } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, pattern } from "../support/files.ts";
import { isLong } from "../support/runs.ts";

/** Whoever can write to R2 cannot make a File be another: what does not belong there is refused, never served. */

const INTEGRITY = { status: 500, message: "integrity: a stored record does not open as what it claims to be" };
const SMALL = pattern(40);
const THREE = pattern(2 * CHUNK + 100);
const LARGE = pattern(70 * CHUNK + 5); // more than one piece of 64 chunks

let at: Place;

beforeEach(async () => {
  at = await freshItem();
});

const add = async (bytes: Uint8Array, place = at): Promise<string> => (await place.upload(bytes)).body.id;
const stored = async (key: string) => new Uint8Array(await (await env.FILES.get(key))!.arrayBuffer());
const flipped = (bytes: Uint8Array, index: number) => bytes.with(index, bytes[index]! ^ 1);

/** A 500 before any byte, or a stream that breaks off before its promised length with nothing wrong in it. */
async function expectRefused(response: Response, truth: Uint8Array, what: string): Promise<void> {
  const started = response.status === 200 || response.status === 206;
  const seen: Uint8Array[] = [];
  const reading = async () => {
    // In pieces of up to 64 KiB: `for await` takes 4 KiB each.
    const reader = response.body!.getReader({ mode: "byob" });
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(64 * 1024));
      if (done) return "whole";
      seen.push(value);
    }
  };
  const end: unknown = started ? await reading().catch(() => "torn") : await response.json();
  expect([what, started || response.status, end]).toEqual([what, started || 500, started ? "torn" : INTEGRITY]);
  const got = concat(...seen);
  expect([what, !started || got.length < truth.length]).toEqual([what, true]);
  expect([what, got.toHex() === truth.slice(0, got.length).toHex()]).toEqual([what, true]);
}

/** Refused as a whole: downloaded, in ranges at both ends, inline in the list and alone. */
async function expectShut(file: string, truth: Uint8Array, what: string, place = at): Promise<void> {
  await expectRefused(await place.download(file), truth, what);
  for (const path of ["?inline_files=true", `/${file}?inline_files=true`]) {
    const { status, body } = await place.call("GET", place.files + path);
    expect([what, status, body]).toEqual([what, 500, INTEGRITY]);
  }
}

/** R2 refuses a range that begins at the end of an object. So does the simulator, by an assertion that fails and is printed. */
const REFUSING = wrapBucket({
  get: async (key: string, options?: R2GetOptions) => {
    const { offset } = (options?.range ?? {}) as { offset?: number };
    const begins = offset === undefined || offset < (await env.FILES.head(key))!.size;
    if (!begins) throw new Error("get: The requested range is not satisfiable (10039)");
    return env.FILES.get(key, options);
  },
});

const range = (file: string, start: number, end: number, place = at, bindings: Partial<Env> = {}) =>
  place.download(file, { headers: { Range: `bytes=${start}-${end}` }, env: bindings });

describe("an object of R2 that is shorter or longer", () => {
  const size = sealedFileSize(THREE.length);
  const borders = [0, 24, 56, chunkOffset(1), chunkOffset(2), size];
  const cuts = new Set(borders.flatMap((border) => [0, 1, 15, 16, 17].flatMap((by) => [border - by, border + by])));

  it("is refused, wherever around a border it was cut", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    expect(whole.length).toBe(size);
    for (const cut of [...cuts].filter((one) => one >= 0 && one < size)) {
      await env.FILES.put(key, whole.slice(0, cut));
      await expectShut(file, THREE, `cut at ${cut}`);
    }
    await env.FILES.put(key, whole);
    expect(await bytesOf(await at.download(file))).toEqual(THREE);
  });

  it("is refused for every range, also where its bytes are still there, as damaged and not as unavailable", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    for (const cut of [...cuts].filter((one) => one >= 0 && one < size)) {
      await env.FILES.put(key, whole.slice(0, cut));
      for (const place of [0, CHUNK, THREE.length - 1]) {
        const response = await range(file, place, place, at, { FILES: REFUSING });
        await expectRefused(response, THREE.slice(place, place + 1), `byte ${place} when cut at ${cut}`);
      }
    }
  });

  it.each([0, 1, CHUNK, 2 * CHUNK, 5])("is refused when bytes were appended to the %i that there were", async (length) => {
    const bytes = pattern(length);
    const file = await add(bytes);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    for (const more of [1, 15, 16, 17, CHUNK + 16]) {
      await env.FILES.put(key, concat(whole, whole.slice(-more), new Uint8Array(more)));
      await expectShut(file, bytes, `${more} more`);
    }
  });

  it("is refused when it is missing", async () => {
    const file = await add(THREE);
    await env.FILES.delete(await keyOf(at.vault, file));
    await expectShut(file, THREE, "missing");
    await expectRefused(await range(file, 0, 9), THREE.slice(0, 10), "missing");
  });
});

// R2 says how long the object is, and hands over less.
const short = (length: number) =>
  wrapBucket({
    get: async (key: string, options?: R2GetOptions) => {
      const object = (await env.FILES.get(key, options)) as R2ObjectBody;
      const bytes = new Uint8Array(await object.arrayBuffer());
      return { size: object.size, body: new Blob([bytes.slice(0, length)]).stream() };
    },
  });

describe("an object of R2 whose stream ends early", () => {
  it.each([0, 30, chunkOffset(0), chunkOffset(1), chunkOffset(2), chunkOffset(1) + 20])(
    "after %i bytes is never served as if it were whole",
    async (length) => {
      const file = await add(THREE);
      const bindings = { FILES: short(length) };
      await expectRefused(await at.download(file, { env: bindings }), THREE, "a download");
      const { status, body } = await at.call("GET", `${at.files}/${file}?inline_files=true`, { env: bindings });
      expect([status, body.message ?? body.size]).toEqual([500, INTEGRITY.message]);
    },
  );
});

describe("a flipped byte", () => {
  it("anywhere in a small file is refused", async () => {
    const file = await add(SMALL);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    for (const index of whole.keys()) {
      await env.FILES.put(key, flipped(whole, index));
      await expectShut(file, SMALL, `byte ${index}`);
      await expectRefused(await range(file, 3, 3), SMALL.slice(3, 4), `byte ${index}`);
    }
  });

  it("in any chunk of a large file breaks the download off, and refuses the ranges that need the chunk, no other", async () => {
    const file = await add(LARGE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    const count = chunkCount(LARGE.length);
    // All of them in the long run; else some, and those around the border between the two pieces.
    const chunks = Array.from({ length: count }, (_, chunk) => chunk);
    const tried = isLong
      ? chunks
      : chunks.filter((chunk) => chunk % 8 === 0 || chunk % 64 < 2 || chunk % 64 === 63 || chunk === count - 1);
    for (const chunk of tried) {
      await env.FILES.put(key, flipped(whole, chunkOffset(chunk) + 3));
      await expectRefused(await at.download(file), LARGE, `chunk ${chunk}`);
      const start = chunk * CHUNK;
      await expectRefused(await range(file, start, start + 2), LARGE.slice(start, start + 3), `range in chunk ${chunk}`);
      const other = ((chunk + 1) % count) * CHUNK;
      expect(await bytesOf(await range(file, other, other + 2))).toEqual(LARGE.slice(other, other + 3));
    }
  });
});

/** Puts each one's object in the place of the other. */
async function expectSwapRefused(one: readonly [Place, string], two: readonly [Place, string]) {
  const keys = await Promise.all([one, two].map(([place, file]) => keyOf(place.vault, file)));
  const objects = await Promise.all(keys.map(stored));
  await env.FILES.put(keys[0]!, objects[1]!);
  await env.FILES.put(keys[1]!, objects[0]!);
  for (const [place, file] of [one, two]) {
    await expectShut(file, THREE, "swapped", place);
    await expectRefused(await range(file, 0, 9, place), THREE.slice(0, 10), "swapped");
  }
}

describe("bytes that were sealed for another place", () => {
  it("another File of the Item: refused", async () => {
    await expectSwapRefused([at, await add(THREE)], [at, await add(THREE)]);
  });

  it("a File of another Item: refused", async () => {
    const { body: item } = await at.call("POST", at.items, { body: { title: "Other", category: "DOCUMENT" } });
    const files = `${at.items}/${item.id}/files`;
    const { body } = await at.call("POST", `${files}?name=f`, { body: THREE, headers: lengthOf(THREE) });
    const download: Place["download"] = (file, request) => at.download(`../../${item.id}/files/${file}`, request);
    await expectSwapRefused([at, await add(THREE)], [{ ...at, files, download }, body.id]);
  });

  it("a File of another vault: refused", async () => {
    const other = await freshItem();
    await expectSwapRefused([at, await add(THREE)], [other, await add(THREE, other)]);
  });

  it("an older content of the same File: refused", async () => {
    const file = await add(THREE);
    const old = await stored(await keyOf(at.vault, file));
    await at.call("PUT", `${at.files}/${file}/content`, { body: THREE, headers: lengthOf(THREE) });
    await env.FILES.put(await keyOf(at.vault, file), old);
    await expectShut(file, THREE, "older");
    await expectRefused(await range(file, 0, 9), THREE.slice(0, 10), "older");
  });

  it("chunks of the same content in another order: refused", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    const [one, two, three] = [0, 1, 2].map(chunkOffset);
    await env.FILES.put(key, concat(whole.slice(0, one), whole.slice(two, three), whole.slice(one, two), whole.slice(three)));
    await expectShut(file, THREE, "reordered");
    for (const start of [0, CHUNK]) await expectRefused(await range(file, start, start), THREE.slice(0, 1), "reordered");
  });
});
