import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { concat } from "../../src/crypto/bytes.ts";
import { createCipher, recoverCipher } from "../../src/crypto/chunked.ts";
import { openStream, PIECE_BYTES, readPieces, sealPieces } from "../../src/crypto/pieces.ts";
import { CHUNK_BYTES, chunkOffset, HEADER_BYTES, sealedFileSize } from "../../src/model/chunk-sizes.ts";
import { byteStream } from "../support/faults.ts";
import { bytesOf, freshItem, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { rotatingTokens } from "./rotating-tokens.ts";

/** Contract 9.12: for random contents and ranges, a download of a sealed content is the plaintext of the range. */

const KEY = Uint8Array.from({ length: 32 }, (_, at) => at);
const CONTEXT = new TextEncoder().encode("vault, item, file, generation");
/** A number within 2 of a boundary, and from 0 to `most`. */
const near = (boundaries: number[], most: number) =>
  fc
    .tuple(fc.constantFrom(...boundaries), fc.integer({ min: -2, max: 2 }))
    .map(([boundary, offset]) => Math.min(Math.max(0, boundary + offset), most));
const size = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.oneof(near([0, CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES], 4 * CHUNK_BYTES), fc.nat(4 * CHUNK_BYTES)),
  },
  { weight: 1, arbitrary: near([PIECE_BYTES, PIECE_BYTES + CHUNK_BYTES], 2 * PIECE_BYTES) },
);
/** How many bytes the source stream gives in one read. */
const step = fc.oneof(
  fc.integer({ min: 1000, max: 70_000 }),
  fc.constantFrom(CHUNK_BYTES, CHUNK_BYTES + 16, PIECE_BYTES, PIECE_BYTES + 64 * 16),
);

/** The first and the last position of a range in `total` bytes, often at the boundary of a chunk. */
const rangeIn = (total: number) =>
  fc
    .tuple(
      ...[0, 1].map(() => fc.oneof(fc.nat(total - 1), near([0, CHUNK_BYTES, 2 * CHUNK_BYTES, PIECE_BYTES, total], total - 1))),
    )
    .map((ends) => ends.toSorted((a, b) => a - b) as [number, number]);
const content = size.chain((total) =>
  fc.record({ total: fc.constant(total), range: fc.option(total > 0 ? rangeIn(total) : fc.constant(null)), step }),
);

const reader = (bytes: Uint8Array, bytesPerRead: number) =>
  byteStream(bytes, undefined, bytesPerRead).getReader({ mode: "byob" });
const collect = async (pieces: AsyncGenerator<Uint8Array>) => {
  const copies: Uint8Array[] = [];
  for await (const piece of pieces) copies.push(piece.slice());
  return concat(...copies);
};

describe("a sealed content", () => {
  it("has the length that sealedFileSize returns, and opens as a whole or from any chunk to any other chunk", async () => {
    const plain = pattern(2 * PIECE_BYTES);
    await fc.assert(
      fc.asyncProperty(content, async ({ total, range, step: bytesPerRead }) => {
        const bytes = plain.subarray(0, total);
        const lengths: number[] = [];
        const plainPieces = (async function* () {
          for await (const piece of readPieces(reader(bytes, bytesPerRead), PIECE_BYTES)) {
            lengths.push(piece.length);
            yield piece;
          }
        })();
        const sealed = await collect(sealPieces(await createCipher(KEY, CONTEXT), plainPieces));
        expect([sealed.length, lengths.findIndex((length) => length < PIECE_BYTES)]).toEqual([
          sealedFileSize(total),
          lengths.length - 1,
        ]);
        const cipher = await recoverCipher(KEY, CONTEXT, sealed.slice(0, HEADER_BYTES));
        if (!cipher.ok) throw new Error("the header was refused");
        const [start, end] = range ?? [0, total - 1];
        const [first, last] = [Math.floor(start / CHUNK_BYTES), Math.floor((range ? end : total) / CHUNK_BYTES)];
        const chunks = sealed.slice(chunkOffset(first), chunkOffset(last + 1));
        const opened = await collect(openStream(cipher.value, reader(chunks, bytesPerRead), first));
        const skipped = first * CHUNK_BYTES;
        expect(opened.slice(start - skipped, end + 1 - skipped).toHex() === bytes.slice(start, end + 1).toHex()).toBe(true);
      }),
      { numRuns: runs(20) },
    );
  });
});

const SIZES = [0, 1, 10, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 7, PIECE_BYTES + 5];
let request: Awaited<ReturnType<typeof rotatingTokens>>;
let files: { path: string; bytes: Uint8Array }[];

beforeAll(async () => {
  const fixture = await freshItem();
  request = await rotatingTokens(fixture.vault);
  files = [];
  for (const length of SIZES) {
    const bytes = pattern(length);
    const { body } = await fixture.upload(bytes, "?name=f");
    files.push({ path: `${fixture.files}/${body.id}/content`, bytes });
  }
});

/** The range `a-b`, `a-` or `-b` of a request. */
type ByteRange = readonly [first: number | undefined, last: number | undefined];

/**
 * The expected status, Content-Range and bytes (RFC 9110 section 14.1.2). In: the range; `undefined` when the header is to
 * be ignored.
 */
function expected(range: ByteRange | undefined, bytes: Uint8Array): [number, string | null, Uint8Array?] {
  const { length } = bytes;
  const [first, last] = range ?? [0, undefined];
  const end = first === undefined || last === undefined ? length : Math.min(last + 1, length);
  const start = first ?? Math.max(0, length - last!);
  // A suffix range of an empty content is the whole content.
  if (!range || (length === 0 && first === undefined && last! > 0)) return [200, null, bytes];
  return start < end ? [206, `bytes ${start}-${end - 1}/${length}`, bytes.slice(start, end)] : [416, `bytes */${length}`];
}

const position = fc.oneof(
  near([0, 1, 10, CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES, PIECE_BYTES], 2 * PIECE_BYTES),
  fc.nat(PIECE_BYTES + 20),
);
const validRange: fc.Arbitrary<ByteRange> = fc.oneof(
  fc.tuple(position, position).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
  position.map((first) => [first, undefined] as const),
  position.map((last) => [undefined, last] as const),
);
/** Values of `Range` that the server ignores, because they are malformed or name several ranges (RFC 9110 section 14.2). */
const ignoredRange = fc.oneof(
  fc.tuple(position, position).map(([a, b]) => `bytes=${Math.max(a, b) + 1}-${Math.min(a, b)}`),
  fc.tuple(position, position).map(([a, b]) => `bytes=${a}-${b + a},${b}-`),
  fc.constantFrom("bytes=-", "bytes", "bytes=a-b", "items=0-1", "bytes=0x0-1", "bytes=--1", "bytes=1.0-2", "bytes 0-1", ""),
);

describe("a download", () => {
  it("contains the bytes of any range (206), the whole content for an ignored range (200), or is a 416 for a range beyond the content", async () => {
    const statuses: Record<number, number> = {};
    const which = fc.nat(SIZES.length - 1);
    await fc.assert(
      fc.asyncProperty(
        which,
        fc.oneof({ weight: 5, arbitrary: validRange }, { weight: 1, arbitrary: ignoredRange }),
        async (at, range) => {
          const { path, bytes } = files[at]!;
          const header = typeof range === "string" ? range : `bytes=${range[0] ?? ""}-${range[1] ?? ""}`;
          const response = await request("GET", path, { headers: { Range: header } });
          const { status, headers } = response;
          statuses[status] = (statuses[status] ?? 0) + 1;
          const body = status === 416 ? undefined : await bytesOf(response);
          const [expectedStatus, contentRange, slice] = expected(typeof range === "string" ? undefined : range, bytes);
          expect([status, headers.get("Content-Range"), body?.length]).toEqual([expectedStatus, contentRange, slice?.length]);
          expect([body?.toHex() === slice?.toHex(), headers.get("Content-Length")]).toEqual([
            true,
            slice ? String(slice.length) : null,
          ]);
        },
      ),
      { numRuns: runs(80) },
    );
    expect([200, 206, 416].map((status) => (statuses[status] ?? 0) > runs(80) / 50)).toEqual([true, true, true]);
  });
});
