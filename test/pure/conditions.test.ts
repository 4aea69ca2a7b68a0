import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { entityTag, isCurrent, parseIfMatch } from "../../src/http/conditions.ts";
import { includesVersion } from "../../src/model/operation.ts";

/** Entity tags and the headers that compare them (RFC 9110 sections 8.8.3, 13.1.1 and 13.1.2). */

/** Whether the header lets a write to this version through; `undefined` when it is malformed. */
const passes = (header: string, version: number): boolean | undefined => {
  const read = parseIfMatch(header);
  return read.ok ? read.value === undefined || includesVersion(read.value, version) : undefined;
};

describe("an entity tag", () => {
  it("is the version in quotes, and is what If-Match and If-None-Match take", () => {
    expect(entityTag(7)).toBe('"7"');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 1, max: 1e12 }), (version, other) => {
        expect([passes(entityTag(version), version), isCurrent(entityTag(version), version)]).toEqual([true, true]);
        expect(passes(entityTag(other), version)).toBe(other === version);
        expect(isCurrent(entityTag(other), version)).toBe(other === version);
      }),
    );
  });
});

describe("If-Match", () => {
  it("that is absent asks for nothing", () => {
    expect(parseIfMatch(undefined)).toEqual({ ok: true, value: undefined });
  });

  it.each(["*", " * ", '"3"', ' "3" ', '"1","3"', '"1" , "3"', '"3", W/"9"', '"x","3"', 'W/"3", "3"', '"",\t"3"'])(
    "%s matches version 3",
    (header) => {
      expect(passes(header, 3)).toBe(true);
    },
  );

  it.each(['"4"', '"1","2","33"', '"30"', '"03"', '"-3"', '"3.0"', '"x3"', '""', '"W/3"', '"*"'])(
    "%s does not match version 3",
    (header) => {
      expect(passes(header, 3)).toBe(false);
    },
  );

  it.each(['W/"3"', 'W/"3", W/"3"', '"1",W/"3"'])("%s does not match version 3, for a weak tag never matches", (header) => {
    expect(passes(header, 3)).toBe(false);
  });

  it.each(["", "3", "'3'", '"3', '3"', '"3" "4"', '"3";"4"', '*, "3"', '"3", *', 'w/"3"', 'W/ "3"', '"a b"', '"3"x', "**"])(
    "%j is malformed",
    (header) => {
      expect(parseIfMatch(header)).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    },
  );

  it("lets a list through exactly when one of its strong tags is the version", () => {
    const tag = fc.record({
      weak: fc.boolean(),
      version: fc.integer({ min: 1, max: 20 }),
      blank: fc.constantFrom("", " ", "\t "),
    });
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 20 }), (tags, version) => {
        const header = tags.map(({ weak, version: of, blank }) => `${blank}${weak ? "W/" : ""}"${of}"${blank}`).join(",");
        expect(passes(header, version)).toBe(tags.some((one) => !one.weak && one.version === version));
      }),
      { numRuns: 300 },
    );
  });

  it("is read or refused, never thrown at, whatever it is", () => {
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
  it("that is absent says nothing", () => {
    expect(isCurrent(undefined, 3)).toBe(false);
  });

  it.each(["*", '"3"', 'W/"3"', '"1", W/"3"', '"x","3"'])("%s says that the client has version 3", (header) => {
    expect(isCurrent(header, 3)).toBe(true);
  });

  it.each(['"4"', '"33"', '"03"', "3", "", '"x"', "'3'"])("%j does not say that the client has version 3", (header) => {
    expect(isCurrent(header, 3)).toBe(false);
  });
});
