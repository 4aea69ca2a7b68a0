import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIndex, parsePointer } from "../../src/model/pointer.ts";
import { runs } from "../support/runs.ts";
import { CHARACTER } from "../support/characters.ts";

/** Contract 6.7: JSON pointers (RFC 6901), and the array indexes in them (RFC 6902 section 4.1). */

const valueOf = <T>(result: { ok: true; value: T } | { ok: false }): T | undefined => (result.ok ? result.value : undefined);

describe("parsePointer", () => {
  it.each([
    ["/", [""]],
    ["/foo", ["foo"]],
    ["/foo/0", ["foo", "0"]],
    ["//", ["", ""]],
    ["/foo/", ["foo", ""]],
    ["/a~1b", ["a/b"]],
    ["/m~0n", ["m~n"]],
    ["/~01", ["~1"]],
    ["/~00", ["~0"]],
    ["/~10", ["/0"]],
    ["/~0~1", ["~/"]],
    ["/c%d", ["c%d"]],
    ["/%7e1", ["%7e1"]],
    ['/i\\j"', ['i\\j"']],
    ["/ ", [" "]],
    ["/😀", ["😀"]],
  ])("parses %s", (pointer, tokens) => {
    expect(parsePointer(pointer)).toEqual({ ok: true, value: tokens });
  });

  it.each(["", "foo", "#/foo", " /foo", "~0", "/~", "/a~", "/~2", "/a~b", "/~~0", "/ok/~/x", "/~\u0661"])(
    "refuses %j",
    (pointer) => {
      expect(parsePointer(pointer)).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    },
  );

  it("parses every list of tokens that is escaped as in RFC 6901 section 4", () => {
    const token = fc.string({
      unit: fc.oneof(fc.constantFrom("~", "/", "0", "1"), CHARACTER),
    });
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 5 }), (tokens) => {
        const pointer = tokens.map((one) => `/${one.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
        expect(parsePointer(pointer)).toEqual({ ok: true, value: tokens });
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("parseIndex", () => {
  it("accepts the index of an existing entry", () => {
    for (const op of ["add", "replace", "remove"] as const) {
      for (let index = 0; index < 12; index++) expect(parseIndex(String(index), 12, op)).toEqual({ ok: true, value: index });
    }
  });

  it("accepts - and the length of the list for add", () => {
    expect(parseIndex("-", 3, "add")).toEqual({ ok: true, value: 3 });
    expect(parseIndex("3", 3, "add")).toEqual({ ok: true, value: 3 });
    expect(parseIndex("0", 0, "add")).toEqual({ ok: true, value: 0 });
  });

  it.each(["replace", "remove"] as const)("refuses an index after the last entry for %s", (op) => {
    for (const token of ["-", "3", "4"]) expect(parseIndex(token, 3, op).ok).toBe(false);
    expect(parseIndex("0", 0, op).ok).toBe(false);
  });

  it("refuses an index greater than the length of the list for add", () => {
    for (const token of ["4", "10", "999999"]) expect(parseIndex(token, 3, "add").ok).toBe(false);
  });

  it.each(["", "00", "01", "-0", "-1", "+1", "1.0", "1e0", "0x1", " 1", "1 ", "1\n", "１", "--", "1000000", "9".repeat(400)])(
    "refuses %j, which is not an index in canonical form",
    (token) => {
      for (const op of ["add", "replace", "remove"] as const) expect(parseIndex(token, 2_000_000, op).ok).toBe(false);
    },
  );

  it("returns an index within the list or refuses, for any text", () => {
    const token = fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String));
    fc.assert(
      fc.property(
        token,
        fc.nat({ max: 20 }),
        fc.constantFrom("add" as const, "replace" as const, "remove" as const),
        (text, length, op) => {
          const value = valueOf(parseIndex(text, length, op));
          if (value === undefined) return;
          expect([String(value), text === "-" ? String(value) : text]).toEqual([
            text === "-" ? String(length) : text,
            String(value),
          ]);
          expect(value).toBeLessThanOrEqual(op === "add" ? length : length - 1);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
