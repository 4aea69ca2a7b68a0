import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { etagHeader, isCurrent, parseIfMatch } from "../../src/http/conditions.ts";
import { fulfils, type Item } from "../../src/model/item.ts";

/** Contract 10.1 to 10.4: entity tags and the headers that compare them (RFC 9110 sections 8.8.3, 13.1.1 and 13.1.2). */

const NONCE = "00ff5a5b5c5d5e5f";
const itemOf = (version: number, nonce = NONCE): Item => ({ version, nonce }) as Item;

/** Writes `3` for the entity tag of version 3: a short form for the tables below. */
const full = (header: string): string => header.replaceAll(/(?<=")(\d+)(?=")/g, (version) => `${version}-${NONCE}`);

/** Whether the condition `If-Match: <header>` holds for a version; `undefined` when the header is malformed. */
const ifMatchHolds = (header: string, item: Item = itemOf(3)): boolean | undefined => {
  const parsed = parseIfMatch(header);
  return parsed.ok ? parsed.value === undefined || fulfils(item, parsed.value) : undefined;
};

const tagOf = (item: Item): string => etagHeader(item)["ETag"]!;

describe("an entity tag", () => {
  it("is the version and the nonce in quotes, and matches no other version and no other nonce", () => {
    expect(tagOf(itemOf(7))).toBe('"7-00ff5a5b5c5d5e5f"');
    const nonce = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => bytes.toHex());
    const item = fc.tuple(fc.integer({ min: 1, max: 1e12 }), nonce).map(([version, drawn]) => itemOf(version, drawn));
    fc.assert(
      fc.property(item, item, (one, other) => {
        const same = one.version === other.version && one.nonce === other.nonce;
        expect([ifMatchHolds(tagOf(one), one), isCurrent(tagOf(one), one)]).toEqual([true, true]);
        expect([ifMatchHolds(tagOf(other), one), isCurrent(tagOf(other), one)]).toEqual([same, same]);
        const again = itemOf(one.version, other.nonce);
        expect(ifMatchHolds(tagOf(again), one)).toBe(again.nonce === one.nonce);
      }),
    );
  });
});

describe("If-Match", () => {
  it("is no condition when it is absent", () => {
    expect(parseIfMatch(undefined)).toEqual({ ok: true, value: undefined });
  });

  it.each(["", "3", "'3'", '"3', '3"', '"3" "4"', '"3";"4"', '*, "3"', '"3", *', 'w/"3"', 'W/ "3"', '"a b"', '"3"x', "**"])(
    "%j is malformed",
    (header) => {
      expect(parseIfMatch(full(header))).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    },
  );

  it("with a list matches if and only if a tag of the list is the version", () => {
    const tag = fc.record({
      weak: fc.boolean(),
      version: fc.integer({ min: 1, max: 20 }),
      blank: fc.constantFrom("", " ", "\t "),
    });
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (tags, version) => {
        const header = tags.map(({ weak, version: of, blank }) => `${blank}${weak ? "W/" : ""}"${of}"${blank}`).join(",");
        expect(ifMatchHolds(full(header), itemOf(version))).toBe(tags.some((one) => one.version === version));
      }),
      { numRuns: 300 },
    );
  });

  it("with any text gives a result and no exception", () => {
    const piece = fc.constantFrom('"', "W/", "*", ",", " ", "1", "3", "3-00ff5a5b5c5d5e5f", "\u00e9");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((parts) => parts.join("")),
        ),
        (header) => {
          expect(typeof parseIfMatch(header).ok).toBe("boolean");
          expect(typeof isCurrent(header, itemOf(3))).toBe("boolean");
        },
      ),
      { numRuns: 500 },
    );
  });
});
