import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePatch } from "../../src/model/item-input.ts";
import type { Item } from "../../src/model/item.ts";
import { complete } from "../../src/vault/complete.ts";
import { applyPatch } from "../../src/vault/patch.ts";
import { runs } from "../support/runs.ts";
import { patch } from "./patch-operations.ts";
import { charactersOf, type CompletedField } from "./reference/complete.ts";
import { type Outcome, patchReference } from "./reference/patch.ts";

/** Contract 6: compares PATCH with a reference implementation. */

const VAULT = "3fa85f64-5717-4562-b3fc-2c963f66afa6";
const FILE = { id: VAULT, name: "f", size: 0, generation: VAULT };
const FRAME = {
  id: VAULT,
  vault: VAULT,
  version: 1,
  nonce: "0123456789abcdef",
  createdAt: 0,
  updatedAt: 0,
  lastEditedBy: VAULT,
  files: [{ ...FILE, section: "s" }],
};
/** The stored entropy of a generated value, which differs from every estimate. */
const STORED_ENTROPY = 4.2;
const ITEM: Item = {
  ...FRAME,
  title: "T",
  category: "LOGIN",
  favorite: true,
  tags: ["a", "b"],
  urls: [{ href: "u", label: "U", primary: true }, { href: "" }],
  sections: [
    { id: "s", label: "S" },
    { id: "__proto__", label: "" },
  ],
  fields: [
    { id: "a/b", section: "s", type: "STRING", purpose: "", label: "L", value: "1" },
    { id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value: "x", entropy: STORED_ENTROPY },
    { id: "~", section: "__proto__", type: "DATE", purpose: "", label: "", value: "2024-02-29" },
  ],
};
const random = (size: number) => crypto.getRandomValues(new Uint8Array(size));

function patched(operations: readonly object[]) {
  const parsed = parsePatch(operations);
  const draft = parsed.ok ? applyPatch(ITEM, parsed.value) : parsed;
  return draft.ok ? complete(draft.value, FRAME, ITEM, random) : draft;
}

const ID: string = expect.stringMatching(/^[a-z2-7]{26}$/);

function expectedField({ id = ID, value, entropy, ...rest }: CompletedField): object {
  const expectedEntropy: unknown =
    entropy === "estimated" ? expect.toSatisfy((bits: number) => bits >= 0 && bits !== STORED_ENTROPY) : entropy;
  if (typeof value === "string") return { ...rest, id, value, entropy: expectedEntropy };
  const set = charactersOf(value)
    .join("")
    .replace("-", String.raw`\-`);
  return { ...rest, id, value: expect.stringMatching(new RegExp(`^[${set}]{${value.length}}$`)), entropy: expectedEntropy };
}

/** The result that the service must give for an outcome of the reference implementation. */
function expected(outcome: Outcome, operations: readonly { path: string }[]): object {
  if (!("refused" in outcome)) {
    const sections = outcome.sections.map(({ id = ID, label }) => ({ id, label }));
    return { ok: true, value: { ...FRAME, ...outcome, sections, fields: outcome.fields.map(expectedField) } };
  }
  const { refused, at } = outcome;
  const place = at === undefined ? "" : `operation ${at} (${operations[at]!.path.slice(0, 64)}): `;
  const detail: unknown = expect.stringContaining(place);
  const details = { invalid: { detail }, missing_field: { detail: refused.field }, category: {}, random: {} };
  return { ok: false, failure: { kind: refused.kind, ...details[refused.kind] } };
}

describe("a PATCH of random operations", () => {
  it("returns the Item of the reference implementation, or fails at the same operation with the same kind", () => {
    const counts = { applied: 0, invalid: 0, category: 0, missing_field: 0, random: 0 };
    fc.assert(
      fc.property(patch, (operations) => {
        const outcome = patchReference(ITEM, operations);
        const kind = "refused" in outcome ? outcome.refused.kind : "applied";
        counts[kind]++;
        fc.pre(kind !== "random");
        expect(patched(operations)).toEqual(expected(outcome, operations));
      }),
      { numRuns: runs(2000) },
    );
    const { applied, invalid, category, missing_field } = counts;
    expect(Math.min(applied / 20, invalid / 20, category, missing_field)).toBeGreaterThan(runs(2000) / 400);
  });
});
