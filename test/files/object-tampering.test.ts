import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { concat } from "../../src/crypto/bytes.ts";
import { CHUNK_BYTES, chunkCount, chunkOffset, HEADER_BYTES, sealedFileSize } from "../../src/model/chunk-sizes.ts";
import { wrapBucket } from "../support/bindings.ts";
import { keyOf, type Place } from "../support/faults.ts";
import { bytesOf, freshItem, itemIn, lengthOf, pattern } from "../support/files.ts";
import { isLong, sample } from "../support/runs.ts";
import { shareVault } from "../support/service.ts";

/**
 * An attacker who can write to R2 cannot change what a File serves: a changed, cut or swapped object is refused (contract 9.13). The short run
 * takes some of the places where an object is changed, at least one of each kind.
 */

const INTEGRITY = { status: 500, message: "integrity: a stored record is damaged or was moved, and cannot be decrypted" };
const SMALL = pattern(40);
const THREE = pattern(2 * CHUNK_BYTES + 100);
const LARGE = pattern(70 * CHUNK_BYTES + 5); // more than one piece of 64 chunks

const sharedVault = shareVault();
let at: Place;

beforeEach(async () => {
  at = await itemIn(await sharedVault());
});

const add = async (bytes: Uint8Array, place = at): Promise<string> => (await place.upload(bytes)).body.id;
const stored = async (key: string) => new Uint8Array(await (await env.FILES.get(key))!.arrayBuffer());
const withFlippedBit = (bytes: Uint8Array, index: number) => bytes.with(index, bytes[index]! ^ 1);

/** Expects a 500 without content, or a stream of authentic bytes that breaks off before its announced length. */
async function expectRefused(response: Response, original: Uint8Array, attempt: string): Promise<void> {
  const started = response.status === 200 || response.status === 206;
  const pieces: Uint8Array[] = [];
  const readAll = async () => {
    // In pieces of up to 64 KiB: `for await` takes 4 KiB each.
    const reader = response.body!.getReader({ mode: "byob" });
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(64 * 1024));
      if (done) return "whole";
      pieces.push(value);
    }
  };
  const end: unknown = started ? await readAll().catch(() => "torn") : await response.json();
  expect([attempt, started || response.status, end]).toEqual([attempt, started || 500, started ? "torn" : INTEGRITY]);
  const received = concat(...pieces);
  expect([attempt, !started || received.length < original.length]).toEqual([attempt, true]);
  expect([attempt, received.toHex() === original.slice(0, received.length).toHex()]).toEqual([attempt, true]);
}

/** Expects that the download, the inlined list and the inlined File are refused. */
async function expectRefusedEverywhere(file: string, original: Uint8Array, attempt: string, place = at): Promise<void> {
  await expectRefused(await place.download(file), original, attempt);
  for (const path of ["?inline_files=true", `/${file}?inline_files=true`]) {
    const { status, body } = await place.call("GET", place.files + path);
    expect([attempt, status, body]).toEqual([attempt, 500, INTEGRITY]);
  }
}

/** Refuses a range that begins beyond the object, as R2 does. The simulator would instead print an assertion that failed. */
const RANGE_CHECKING = wrapBucket({
  get: async (key: string, options?: R2GetOptions) => {
    const { offset } = (options?.range ?? {}) as { offset?: number };
    const begins = offset === undefined || offset < (await env.FILES.head(key))!.size;
    if (!begins) throw new Error("get: The requested range is not satisfiable (10039)");
    return env.FILES.get(key, options);
  },
});

const range = (file: string, start: number, end: number, place = at, bindings: Partial<Env> = {}) =>
  place.download(file, { headers: { Range: `bytes=${start}-${end}` }, env: bindings });

describe("an object of R2 that was cut, extended or deleted", () => {
  const size = sealedFileSize(THREE.length);
  const borders = [0, 24, 56, chunkOffset(1), chunkOffset(2), size];
  const distances = isLong ? [0, 1, 15, 16, 17] : [0, 1, 16];
  const allCuts = new Set(borders.flatMap((border) => distances.flatMap((by) => [border - by, border + by])));
  const cuts = sample(
    [...allCuts].filter((cut) => cut >= 0 && cut < size),
    3, // fewer than the cuts at one border
  );

  it("is refused when it was cut near any border of its chunks", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    expect(whole.length).toBe(size);
    for (const cut of cuts) {
      await env.FILES.put(key, whole.slice(0, cut));
      await expectRefusedEverywhere(file, THREE, `cut at ${cut}`);
    }
    await env.FILES.put(key, whole);
    expect(await bytesOf(await at.download(file))).toEqual(THREE);
  });

  it("is refused as damaged (500) for every range, even if the bytes of the range are still there", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    for (const cut of cuts) {
      await env.FILES.put(key, whole.slice(0, cut));
      for (const place of [0, CHUNK_BYTES, THREE.length - 1]) {
        const response = await range(file, place, place, at, { FILES: RANGE_CHECKING });
        await expectRefused(response, THREE.slice(place, place + 1), `byte ${place} when cut at ${cut}`);
      }
    }
  });

  it.each([0, 1, CHUNK_BYTES, 2 * CHUNK_BYTES, 5])(
    "is refused when bytes were appended to a content of %i bytes",
    async (length) => {
      const bytes = pattern(length);
      const file = await add(bytes);
      const key = await keyOf(at.vault, file);
      const whole = await stored(key);
      for (const more of sample([1, 15, 16, 17, CHUNK_BYTES + 16], 3)) {
        await env.FILES.put(key, concat(whole, whole.slice(-more), new Uint8Array(more)));
        await expectRefusedEverywhere(file, bytes, `${more} more`);
      }
    },
  );

  it("is refused when it is missing", async () => {
    const file = await add(THREE);
    await env.FILES.delete(await keyOf(at.vault, file));
    await expectRefusedEverywhere(file, THREE, "missing");
    await expectRefused(await range(file, 0, 9), THREE.slice(0, 10), "missing");
  });
});

/** An R2 that reports the size of the object and delivers only its first `length` bytes. */
const deliverOnly = (length: number) =>
  wrapBucket({
    get: async (key: string, options?: R2GetOptions) => {
      const object = (await env.FILES.get(key, options)) as R2ObjectBody;
      const bytes = new Uint8Array(await object.arrayBuffer());
      return { size: object.size, body: new Blob([bytes.slice(0, length)]).stream() };
    },
  });

describe("an object of R2 whose stream ends early", () => {
  it.each([0, 30, chunkOffset(0), chunkOffset(1), chunkOffset(2), chunkOffset(1) + 20])(
    "after %i bytes is never served as a complete content",
    async (length) => {
      const file = await add(THREE);
      const bindings = { FILES: deliverOnly(length) };
      await expectRefused(await at.download(file, { env: bindings }), THREE, "a download");
      const { status, body } = await at.call("GET", `${at.files}/${file}?inline_files=true`, { env: bindings });
      expect([status, body.message ?? body.size]).toEqual([500, INTEGRITY.message]);
    },
  );
});

describe("a flipped bit", () => {
  it("is refused in any byte of a small object", async () => {
    const file = await add(SMALL);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    for (const [turn, index] of sample([...whole.keys()], 4).entries()) {
      await env.FILES.put(key, withFlippedBit(whole, index));
      if (isLong || turn % 4 === 0) await expectRefusedEverywhere(file, SMALL, `byte ${index}`);
      else await expectRefused(await at.download(file), SMALL, `byte ${index}`);
      if (isLong || turn % 4 === 1) await expectRefused(await range(file, 3, 3), SMALL.slice(3, 4), `byte ${index}`);
    }
  });

  it("in a chunk of a large object breaks off the download, and only the ranges in this chunk are refused (contract 4.10)", async () => {
    const file = await add(LARGE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    const count = chunkCount(LARGE.length);
    // The first and the last chunk, those at the border between the two pieces, and of the others all or one.
    const always = [0, 63, 64, count - 1];
    const others = Array.from({ length: count }, (_, chunk) => chunk).filter((chunk) => !always.includes(chunk));
    for (const chunk of [...always, ...sample(others, others.length)]) {
      await env.FILES.put(key, withFlippedBit(whole, chunkOffset(chunk) + 3));
      await expectRefused(await at.download(file), LARGE, `chunk ${chunk}`);
      const start = chunk * CHUNK_BYTES;
      await expectRefused(await range(file, start, start + 2), LARGE.slice(start, start + 3), `range in chunk ${chunk}`);
      const other = ((chunk + 1) % count) * CHUNK_BYTES;
      expect(await bytesOf(await range(file, other, other + 2))).toEqual(LARGE.slice(other, other + 3));
    }
  });
});

/** Swaps the objects of two Files, and expects that both Files are refused. */
async function expectSwapRefused(one: readonly [Place, string], two: readonly [Place, string]) {
  const keys = await Promise.all([one, two].map(([place, file]) => keyOf(place.vault, file)));
  const objects = await Promise.all(keys.map(stored));
  await env.FILES.put(keys[0]!, objects[1]!);
  await env.FILES.put(keys[1]!, objects[0]!);
  for (const [place, file] of [one, two]) {
    await expectRefusedEverywhere(file, THREE, "swapped", place);
    await expectRefused(await range(file, 0, 9, place), THREE.slice(0, 10), "swapped");
  }
}

describe("an object that was sealed for another place is refused", () => {
  it("when it belongs to another File of the Item", async () => {
    await expectSwapRefused([at, await add(THREE)], [at, await add(THREE)]);
  });

  it("when it belongs to a File of another Item", async () => {
    const { body: item } = await at.call("POST", at.items, { body: { title: "Other", category: "DOCUMENT" } });
    const files = `${at.items}/${item.id}/files`;
    const { body } = await at.call("POST", `${files}?name=f`, { body: THREE, headers: lengthOf(THREE) });
    const download: Place["download"] = (file, request) => at.download(`../../${item.id}/files/${file}`, request);
    await expectSwapRefused([at, await add(THREE)], [{ ...at, files, download }, body.id]);
  });

  it("when it belongs to a File of another vault", async () => {
    const other = await freshItem();
    await expectSwapRefused([at, await add(THREE)], [other, await add(THREE, other)]);
  });

  it("when it is an older content of the same File", async () => {
    const file = await add(THREE);
    const old = await stored(await keyOf(at.vault, file));
    await at.call("PUT", `${at.files}/${file}/content`, { body: THREE, headers: lengthOf(THREE) });
    await env.FILES.put(await keyOf(at.vault, file), old);
    await expectRefusedEverywhere(file, THREE, "older");
    await expectRefused(await range(file, 0, 9), THREE.slice(0, 10), "older");
  });

  it("when its chunks are in another order", async () => {
    const file = await add(THREE);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    const [one, two, three] = [0, 1, 2].map(chunkOffset);
    await env.FILES.put(key, concat(whole.slice(0, one), whole.slice(two, three), whole.slice(one, two), whole.slice(three)));
    await expectRefusedEverywhere(file, THREE, "reordered");
    for (const start of [0, CHUNK_BYTES]) await expectRefused(await range(file, start, start), THREE.slice(0, 1), "reordered");
  });

  // The salt has 24 bytes. With its own salt an object would open under any commitment, if that were not compared.
  it.each([
    ["salt and commitment", 0, HEADER_BYTES],
    ["salt", 0, 24],
    ["commitment", 24, HEADER_BYTES],
  ])("when its header has the %s of another content", async (_, from, to) => {
    const donor = await itemIn(await sharedVault());
    const file = await add(SMALL);
    const key = await keyOf(at.vault, file);
    const whole = await stored(key);
    const sameItem = await stored(await keyOf(at.vault, await add(SMALL)));
    const otherItem = await stored(await keyOf(donor.vault, await add(SMALL, donor)));
    for (const [attempt, header] of Object.entries({ sameItem, otherItem })) {
      await env.FILES.put(key, concat(whole.slice(0, from), header.slice(from, to), whole.slice(to)));
      await expectRefusedEverywhere(file, SMALL, attempt);
      await expectRefused(await range(file, 3, 3), SMALL.slice(3, 4), attempt);
    }
    await env.FILES.put(key, whole);
    expect(await bytesOf(await at.download(file))).toEqual(SMALL);
  });
});
