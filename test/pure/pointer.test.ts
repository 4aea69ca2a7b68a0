import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseIndex, parsePointer } from "../../src/model/pointer.ts";
import { runs } from "../support/runs.ts";

/** JSON pointers (RFC 6901), and the indexes in them (RFC 6902 section 4.1). */

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
  ])("reads %s", (pointer, tokens) => {
    expect(parsePointer(pointer)).toEqual({ ok: true, value: tokens });
  });

  it.each(["", "foo", "#/foo", " /foo", "~0", "/~", "/a~", "/~2", "/a~b", "/~~0", "/ok/~/x", "/~\u0661"])(
    "refuses %j",
    (pointer) => {
      expect(parsePointer(pointer)).toMatchObject({ ok: false, failure: { kind: "invalid" } });
    },
  );

  it("gives back every list of tokens that was escaped as RFC 6901 section 4 says", () => {
    const token = fc.string({
      unit: fc.oneof(fc.constantFrom("~", "/", "0", "1"), fc.string({ unit: "binary", minLength: 1, maxLength: 1 })),
    });
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 5 }), (tokens) => {
        const pointer = tokens.map((one) => `/${one.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
        expect(parsePointer(pointer)).toEqual({ ok: true, value: tokens });
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("parseIndex", () => {
  it("takes the number of an entry that is there", () => {
    for (const op of ["add", "replace", "remove"] as const) {
      for (let index = 0; index < 12; index++) expect(parseIndex(String(index), 12, op)).toEqual({ ok: true, value: index });
    }
  });

  it("takes - and the length to add at the end", () => {
    expect(parseIndex("-", 3, "add")).toEqual({ ok: true, value: 3 });
    expect(parseIndex("3", 3, "add")).toEqual({ ok: true, value: 3 });
    expect(parseIndex("0", 0, "add")).toEqual({ ok: true, value: 0 });
  });

  it.each(["replace", "remove"] as const)("refuses to %s what is behind the last entry", (op) => {
    for (const token of ["-", "3", "4"]) expect(parseIndex(token, 3, op).ok).toBe(false);
    expect(parseIndex("0", 0, op).ok).toBe(false);
  });

  it("refuses to add farther than at the end", () => {
    for (const token of ["4", "10", "999999"]) expect(parseIndex(token, 3, "add").ok).toBe(false);
  });

  it.each(["", "00", "01", "-0", "-1", "+1", "1.0", "1e0", "0x1", " 1", "1 ", "1\n", "１", "--", "1000000", "9".repeat(400)])(
    "refuses %j, which is no index in its only spelling",
    (token) => {
      for (const op of ["add", "replace", "remove"] as const) expect(parseIndex(token, 2_000_000, op).ok).toBe(false);
    },
  );

  it("gives, of any text, an index within the list or nothing", () => {
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
      { numRuns: runs(1000) },
    );
  });
});
