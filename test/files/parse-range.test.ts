import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseRange } from "../../src/http/endpoints/files.ts";
import { runs } from "../support/runs.ts";

/** The range that `parseRange` reads from a `Range` header (contract 9.12, RFC 9110 section 14.2). */

const BEYOND = "beyond";
/** Out: the range; `undefined` for the whole content; `BEYOND` when the content has none of the bytes. */
function parse(header: string | undefined, size: number) {
  const range = parseRange(header, size);
  return range.ok
    ? range.value
    : range.failure.kind === "range" && range.failure.detail === String(size)
      ? BEYOND
      : range.failure;
}

/** The positions that a range selects, found by a test of each position. */
function selectedPositions(first: number | undefined, last: number | undefined, size: number): number[] {
  const all = Array.from({ length: size }, (_, position) => position);
  if (first === undefined) return all.filter((position) => size - position <= last!);
  return all.filter((position) => position >= first && (last === undefined || position <= last));
}

describe("parseRange", () => {
  it.each([
    ["bytes=0-0", 1, { start: 0, end: 0 }],
    ["bytes=0-", 1, { start: 0, end: 0 }],
    ["bytes=-1", 1, { start: 0, end: 0 }],
    ["bytes=1-", 1, BEYOND],
    ["bytes=0-0", 0, BEYOND],
    ["bytes=-0", 1, BEYOND],
    ["bytes=-0", 0, BEYOND],
    [" bytes=2-3 ", 10, { start: 2, end: 3 }],
    ["bytes=9-9", 10, { start: 9, end: 9 }],
    ["bytes=9-10", 10, { start: 9, end: 9 }],
    ["bytes=10-10", 10, BEYOND],
    ["bytes=10-9", 10, undefined],
    ["bytes=-9", 10, { start: 1, end: 9 }],
    ["bytes=-11", 10, { start: 0, end: 9 }],
    ["bytes=0-999999999999999", 10, { start: 0, end: 9 }],
    ["bytes=999999999999999-", 10, BEYOND],
    ...["1".repeat(16), "1".repeat(400)].flatMap((long): [string, number, unknown][] => [
      [`bytes=0-${long}`, 10, { start: 0, end: 9 }],
      [`bytes=${long}-`, 10, BEYOND],
      [`bytes=${long}-${long}`, 10, BEYOND],
      [`bytes=${long}-5`, 10, undefined],
      [`bytes=-${long}`, 10, { start: 0, end: 9 }],
      [`bytes=${"0".repeat(400)}1-2`, 10, { start: 1, end: 2 }],
    ]),
    [undefined, 10, undefined],
    ["", 10, undefined],
    ["bytes=0-1,2-3", 10, undefined],
    ["bytes=0-1,", 10, undefined],
    ["bytes=0 - 1", 10, undefined],
    ["bytes 0-1", 10, undefined],
    ["items=0-1", 10, undefined],
    ["bytes=a-b", 10, undefined],
    ["bytes=+1-2", 10, undefined],
    ["bytes=1e1-20", 100, undefined],
    ["bytes=0-1\n", 10, { start: 0, end: 1 }],
    ["x\nbytes=0-1", 10, undefined],
  ])("parses %j for a content of %i bytes", (header, size, range) => {
    expect(parse(header, size)).toEqual(range);
  });

  it("selects the whole of an empty content for its last bytes", () => {
    expect(parse("bytes=-5", 0)).toBeUndefined();
  });

  const number = fc.nat(40);
  const ends = fc.oneof(
    fc.tuple(number, number).filter(([first, last]) => first <= last),
    fc.tuple(number, fc.constant(undefined)),
    fc.tuple(fc.constant(undefined), number),
  );

  it("selects the positions that a simple reference implementation selects", () => {
    fc.assert(
      fc.property(ends, fc.integer({ min: 1, max: 40 }), ([first, last], size) => {
        const positions = selectedPositions(first, last, size);
        const expected = positions.length > 0 ? { start: positions[0], end: positions.at(-1) } : BEYOND;
        expect(parse(`bytes=${first ?? ""}-${last ?? ""}`, size)).toEqual(expected);
      }),
      { numRuns: runs(500) },
    );
  });

  it("selects a part of the content or the whole, for any header", () => {
    const text = fc.string({ unit: fc.constantFrom(..."bytes=0123456789-, ") });
    const header = fc.oneof(
      text,
      text.map((rest) => `bytes=${rest}`),
    );
    fc.assert(
      fc.property(header, fc.nat(1_000), (value, size) => {
        const range = parse(value, size);
        if (range === undefined || range === BEYOND) return;
        const { start, end } = range as { start: number; end: number };
        expect([start >= 0, start <= end, end < size]).toEqual([true, true, true]);
      }),
      { numRuns: runs(500) },
    );
  });
});
