import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "../../src/model/item.ts";
import { parsePatch } from "../../src/model/item-input.ts";
import { complete } from "../../src/vault/complete.ts";
import { applyPatch } from "../../src/vault/patch.ts";
import { runs } from "../support/runs.ts";
import { CHARACTER } from "../support/characters.ts";

/** Arbitrary PATCH operations and bodies give a result and no exception. */

const FRAME = { id: "i", vault: "v", version: 1, nonce: "", createdAt: 0, updatedAt: 0, lastEditedBy: "x", files: [] };
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
  fc.string({ unit: CHARACTER }),
);
const path = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(root, fc.array(token, { maxLength: 3 })).map(([first, rest]) => `/${[first, ...rest].join("/")}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: CHARACTER }) },
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
  it("returns an Item or a failure, for any operations", () => {
    const outcomes = { applied: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 3 }), (operations) => {
        const draft = applyPatch(ITEM, operations);
        const result = draft.ok ? complete(draft.value, FRAME, ITEM, random) : draft;
        outcomes[result.ok ? "applied" : "refused"]++;
        expect(result).toEqual({ ok: result.ok, [result.ok ? "value" : "failure"]: expect.any(Object) });
      }),
      { numRuns: runs(300) },
    );
    expect(Math.min(outcomes.applied, outcomes.refused)).toBeGreaterThan(runs(300) / 60);
  });

  it("does not change Object.prototype, for any operations", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 3 }), (operations) => {
        applyPatch(ITEM, operations);
        expect([({} as { label?: string }).label, Object.keys(Object.prototype)]).toEqual([undefined, []]);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe("parsePatch", () => {
  it("returns operations or an invalid failure, for any body", () => {
    const body = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(operation, fc.jsonValue()), { maxLength: 3 }));
    fc.assert(
      fc.property(body, (json) => {
        const parsed = parsePatch(json);
        expect(parsed.ok ? Array.isArray(parsed.value) : parsed.failure.kind === "invalid").toBe(true);
      }),
    );
  });
});
