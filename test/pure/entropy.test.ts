import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateEntropy } from "../../src/model/password.ts";
import { runs } from "../support/runs.ts";
import { freshVault, LOGIN } from "../support/service.ts";
import { CHARACTER } from "../support/characters.ts";

/** Contract 7.6: the entropy of a generated value is stored with it, and that of any other value is estimated. */

describe("estimateEntropy", () => {
  it("returns 0 for the empty value", () => {
    expect(estimateEntropy("")).toBe(0);
  });

  it("returns a finite number that is not negative, for any value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: CHARACTER }), fc.string({ unit: "binary-ascii", maxLength: 2000 })), (value) => {
        const bits = estimateEntropy(value);
        expect(Number.isFinite(bits) && bits >= 0).toBe(true);
      }),
      { numRuns: runs(30, 1_000) },
    );
  });

  it("returns no smaller number when characters are appended", () => {
    const text = fc.oneof(
      fc.string({ unit: CHARACTER }),
      fc.string({ unit: "binary-ascii", maxLength: 1100 }),
      fc.string({ unit: fc.constantFrom("a", "b", "1") }),
    );
    fc.assert(
      fc.property(text, text, (value, appended) => {
        expect(estimateEntropy(value + appended)).toBeGreaterThanOrEqual(estimateEntropy(value));
      }),
      { numRuns: runs(100, 5_000) },
    );
  });

  it.each(["a", "é", "😀", "aA0!é", " "])("returns a bounded number for a million characters of %j", (unit) => {
    const most = 1024 * Math.log2(26 + 26 + 10 + 33 + 100);
    for (const value of [unit.repeat(1_000_000 / unit.length), `${"a".repeat(999_999)}${unit}`]) {
      const bits = estimateEntropy(value);
      expect(bits).toBeGreaterThan(500);
      expect(bits).toBeLessThanOrEqual(most + 0.01); // rounded
    }
  });

  it("returns less than half for repeated or consecutive characters as for mixed characters", () => {
    for (const weak of ["aaaaaaaa", "abcdefgh", "hgfedcba", "11111111", "12345678"]) {
      expect(estimateEntropy(weak)).toBeLessThan(estimateEntropy("qzkwmxrt") / 2);
    }
  });

  it("returns more for a value with more kinds of characters", () => {
    const values = ["qzkwmxrt", "qzkWmxrt", "qzkWmx7t", "qz!Wmx7t", "qz!Wéx7t"];
    const bits = values.map(estimateEntropy);
    expect(bits).toEqual([...new Set(bits)].toSorted((a, b) => a - b));
  });
});

/** An Item with a generated password. */
async function createGenerated() {
  const { vault, items, call } = await freshVault();
  const body = { ...LOGIN, fields: [{ id: "p", purpose: "PASSWORD", generate: true }] };
  const item = (await call("POST", items, { body })).body;
  const path = `${items}/${item.id}`;
  const put = (field: object) => call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, fields: [field] } });
  return { field: item.fields[0], put, patch: (...operations: object[]) => call("PATCH", path, { body: operations }) };
}

describe("the entropy of a field", () => {
  it("stays exact when PUT and PATCH keep the generated value", async () => {
    const { field, put, patch } = await createGenerated();
    expect(estimateEntropy(field.value)).not.toBe(194.71); // otherwise the test could not fail
    expect((await put({ ...field, label: "Put" })).body.fields[0]).toEqual({ ...field, label: "Put" });
    const { body } = await patch({ op: "replace", path: "/fields/p/label", value: "Patched" });
    expect(body.fields[0]).toEqual({ ...field, label: "Patched", entropy: 194.71 });
  });

  it("is estimated when PATCH replaces the generated value", async () => {
    const { patch } = await createGenerated();
    const { body } = await patch({ op: "replace", path: "/fields/p/value", value: "typed in" });
    expect(body.fields[0].entropy).toBe(estimateEntropy("typed in"));
  });
});
