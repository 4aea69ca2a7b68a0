import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entityTag, isCurrent, parseIfMatch } from "../../src/http/conditions.ts";
import { includesVersion } from "../../src/model/operation.ts";

/** Contract 10.1 to 10.4: entity tags and the headers that compare them (RFC 9110 sections 8.8.3, 13.1.1 and 13.1.2). */

/** Whether the condition `If-Match: <header>` holds for a version; `undefined` when the header is malformed. */
const ifMatchHolds = (header: string, version: number): boolean | undefined => {
  const parsed = parseIfMatch(header);
  return parsed.ok ? parsed.value === undefined || includesVersion(parsed.value, version) : undefined;
};

describe("an entity tag", () => {
  it("is the version in quotes, which If-Match and If-None-Match match", () => {
    expect(entityTag(7)).toBe('"7"');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 1, max: 1e12 }), (version, other) => {
        expect([ifMatchHolds(entityTag(version), version), isCurrent(entityTag(version), version)]).toEqual([true, true]);
        expect(ifMatchHolds(entityTag(other), version)).toBe(other === version);
        expect(isCurrent(entityTag(other), version)).toBe(other === version);
      }),
    );
  });
});

describe("If-Match", () => {
  it("is no condition when it is absent", () => {
    expect(parseIfMatch(undefined)).toEqual({ ok: true, value: undefined });
  });

  it.each(["*", " * ", '"3"', ' "3" ', '"1","3"', '"1" , "3"', '"3", W/"9"', '"x","3"', 'W/"3", "3"', '"",\t"3"'])(
    "%s matches version 3",
    (header) => {
      expect(ifMatchHolds(header, 3)).toBe(true);
    },
  );

  it.each(['"4"', '"1","2","33"', '"30"', '"03"', '"-3"', '"3.0"', '"x3"', '""', '"W/3"', '"*"'])(
    "%s does not match version 3",
    (header) => {
      expect(ifMatchHolds(header, 3)).toBe(false);
    },
  );

  it.each(['W/"3"', 'W/"3", W/"3"', '"1",W/"3"'])("%s does not match version 3, because a weak tag never matches", (header) => {
    expect(ifMatchHolds(header, 3)).toBe(false);
  });

  it.each(["", "3", "'3'", '"3', '3"', '"3" "4"', '"3";"4"', '*, "3"', '"3", *', 'w/"3"', 'W/ "3"', '"a b"', '"3"x', "**"])(
    "%j is malformed",
    (header) => {
      expect(parseIfMatch(header)).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    },
  );

  it("with a list matches if and only if a strong tag of the list is the version", () => {
    const tag = fc.record({
      weak: fc.boolean(),
      version: fc.integer({ min: 1, max: 20 }),
      blank: fc.constantFrom("", " ", "\t "),
    });
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (tags, version) => {
        const header = tags.map(({ weak, version: of, blank }) => `${blank}${weak ? "W/" : ""}"${of}"${blank}`).join(",");
        expect(ifMatchHolds(header, version)).toBe(tags.some((one) => !one.weak && one.version === version));
      }),
      { numRuns: 300 },
    );
  });

  it("with any text gives a result and no exception", () => {
    const piece = fc.constantFrom('"', "W/", "*", ",", " ", "1", "3", "\u00e9");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((parts) => parts.join("")),
        ),
        (header) => {
          expect(typeof parseIfMatch(header).ok).toBe("boolean");
          expect(typeof isCurrent(header, 3)).toBe("boolean");
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("If-None-Match", () => {
  it("does not match when it is absent", () => {
    expect(isCurrent(undefined, 3)).toBe(false);
  });

  it.each(["*", '"3"', 'W/"3"', '"1", W/"3"', '"x","3"'])("%s matches version 3", (header) => {
    expect(isCurrent(header, 3)).toBe(true);
  });

  it.each(['"4"', '"33"', '"03"', "3", "", '"x"', "'3'"])("%j does not match version 3", (header) => {
    expect(isCurrent(header, 3)).toBe(false);
  });
});
