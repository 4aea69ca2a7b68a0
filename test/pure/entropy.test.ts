import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateEntropy } from "../../src/crypto/password.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** Contract 1.7: the entropy of values that were not generated here, estimated, and of those that were, kept. */

describe("estimateEntropy", () => {
  it("of no character is 0", () => {
    expect(estimateEntropy("")).toBe(0);
  });

  it("is a number that is never negative, whatever the value is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "binary-ascii", maxLength: 2000 })), (value) => {
        const bits = estimateEntropy(value);
        expect(Number.isFinite(bits) && bits >= 0).toBe(true);
      }),
    );
  });

  it("does not fall when characters are appended", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary-ascii", maxLength: 1100 }),
      fc.string({ unit: fc.constantFrom("a", "b", "1") }),
    );
    fc.assert(
      fc.property(text, text, (value, appended) => {
        expect(estimateEntropy(value + appended)).toBeGreaterThanOrEqual(estimateEntropy(value));
      }),
      { numRuns: 500 },
    );
  });

  it.each(["a", "é", "😀", "aA0!é", " "])("is done, and bounded, for a million characters of %j", (unit) => {
    const most = 1024 * Math.log2(26 + 26 + 10 + 33 + 100);
    for (const value of [unit.repeat(1_000_000 / unit.length), `${"a".repeat(999_999)}${unit}`]) {
      const bits = estimateEntropy(value);
      expect(bits).toBeGreaterThan(500);
      expect(bits).toBeLessThanOrEqual(most + 0.01); // rounded
    }
  });

  it("is less for repeated and for consecutive characters than for mixed ones", () => {
    for (const poor of ["aaaaaaaa", "abcdefgh", "hgfedcba", "11111111", "12345678"]) {
      expect(estimateEntropy(poor)).toBeLessThan(estimateEntropy("qzkwmxrt") / 2);
    }
  });

  it("is more when more kinds of characters are in use", () => {
    const values = ["qzkwmxrt", "qzkWmxrt", "qzkWmx7t", "qz!Wmx7t", "qz!Wéx7t"];
    const bits = values.map(estimateEntropy);
    expect(bits).toEqual([...new Set(bits)].toSorted((a, b) => a - b));
  });
});

/** An Item with a generated password. */
async function generated() {
  const { vault, items, call } = await freshVault();
  const body = { ...LOGIN, fields: [{ id: "p", purpose: "PASSWORD", generate: true }] };
  const item = (await call("POST", items, { body })).body;
  const path = `${items}/${item.id}`;
  const put = (field: object) => call("PUT", path, { body: { ...LOGIN, vault: { id: vault }, fields: [field] } });
  return { field: item.fields[0], put, patch: (...operations: object[]) => call("PATCH", path, { body: operations }) };
}

describe("the entropy of a field", () => {
  it("stays exact while its generated value stays, through PUT and PATCH", async () => {
    const { field, put, patch } = await generated();
    expect(estimateEntropy(field.value)).not.toBe(194.71); // or the test could not fail
    expect((await put({ ...field, label: "Put" })).body.fields[0]).toEqual({ ...field, label: "Put" });
    const { body } = await patch({ op: "replace", path: "/fields/p/label", value: "Patched" });
    expect(body.fields[0]).toEqual({ ...field, label: "Patched", entropy: 194.71 });
  });

  it("is estimated anew when its generated value changes", async () => {
    const { patch } = await generated();
    const { body } = await patch({ op: "replace", path: "/fields/p/value", value: "typed in" });
    expect(body.fields[0].entropy).toBe(estimateEntropy("typed in"));
  });
});
