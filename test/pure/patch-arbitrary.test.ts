import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "../../src/model/item.ts";
import { parsePatch } from "../../src/model/patch-input.ts";
import { complete } from "../../src/vault/complete.ts";
import { applyPatch } from "../../src/vault/patch.ts";

/** PATCH answers, and never throws, whatever it is asked. */

const FRAME = { id: "i", vault: "v", version: 1, createdAt: 0, updatedAt: 0, lastEditedBy: "x", files: [] };
const ITEM: Item = {
  ...FRAME,
  title: "T",
  category: "LOGIN",
  favorite: false,
  tags: ["a"],
  urls: [{ href: "u" }],
  sections: [{ id: "__proto__", label: "" }],
  fields: [{ id: "a/b", section: "__proto__", type: "STRING", purpose: "PASSWORD", label: "", value: "" }],
};
const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

const op = fc.constantFrom("add" as const, "replace" as const, "remove" as const);
const root = fc.constantFrom(
  "fields",
  "sections",
  "tags",
  "urls",
  "title",
  "category",
  "favorite",
  "",
  "__proto__",
  "constructor",
);
const token = fc.oneof(
  fc.constantFrom("a~1b", "__proto__", "constructor", "", "~", "~0", "-", "0", "1", "01", "\ud800"),
  fc.constantFrom("value", "label", "section", "recipe", "generate", "type", "purpose", "href", "id"),
  fc.string({ unit: "binary" }),
);
const path = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(root, fc.array(token, { maxLength: 3 })).map(([first, rest]) => `/${[first, ...rest].join("/")}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(
    true,
    "x",
    { label: "x" },
    { id: "a/b", generate: true },
    { id: 7 },
    { length: 3 },
    { characterSets: ["NONE"] },
  ),
);
const operation = fc.record({ op, path, value: fc.option(value, { nil: undefined }) });

describe("applyPatch", () => {
  it("of any operations makes an Item, or says why not", () => {
    const seen = { made: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 3 }), (operations) => {
        const draft = applyPatch(ITEM, operations);
        const made = draft.ok ? complete(draft.value, FRAME, ITEM, random) : draft;
        seen[made.ok ? "made" : "refused"]++;
        expect(made).toEqual({ ok: made.ok, [made.ok ? "value" : "failure"]: expect.any(Object) });
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(seen.made, seen.refused)).toBeGreaterThan(100);
  });

  it("of any operations leaves every object as it was", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 3 }), (operations) => {
        applyPatch(ITEM, operations);
        expect([({} as { label?: string }).label, Object.keys(Object.prototype)]).toEqual([undefined, []]);
      }),
      { numRuns: 500 },
    );
  });
});

describe("parsePatch", () => {
  it("of any body reads operations, or says why not", () => {
    const body = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(operation, fc.jsonValue()), { maxLength: 3 }));
    fc.assert(
      fc.property(body, (given) => {
        const read = parsePatch(given);
        expect(read.ok ? Array.isArray(read.value) : read.failure.kind === "invalid").toBe(true);
      }),
    );
  });
});
