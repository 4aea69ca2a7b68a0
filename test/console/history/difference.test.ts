import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Field, Item } from "@item-vault/client";
import { type Difference, difference } from "../../../packages/console/src/history/difference.ts";
import { withPart } from "../../../packages/console/src/items/comparison.ts";
import { draftOf } from "../../../packages/console/src/items/draft.ts";
import { runs } from "../../support/runs.ts";
import { anyItem, field, file, inSections, itemOf } from "./items.ts";

/** The differences between two states of an Item, which the console shows. */

/** What two Items have, and the rows: kind, name, before, after. */
const CASES: readonly (readonly [string, Partial<Item>, Partial<Item>, readonly (readonly unknown[])[]])[] = [
  ["a title", { title: "a" }, { title: "b" }, [["changed", "Title", "a", "b"]]],
  ["a category", {}, { category: "SSH_KEY" }, [["changed", "Category", "Login", "SSH key"]]],
  ["the favorite mark", {}, { favorite: true }, [["changed", "Favorite", "no", "yes"]]],
  ["an added field", {}, { fields: [field("a", "1")] }, [["added", "a", undefined, "1"]]],
  ["a removed field", { fields: [field("a", "1")] }, {}, [["removed", "a", "1", undefined]]],
  ["a value", { fields: [field("a", "1")] }, { fields: [field("a", "")] }, [["changed", "a", "1", ""]]],
  ["a label", { fields: [field("a", "1")] }, { fields: [field("a", "1", { label: "b" })] }, [["changed", "b: label", "a", "b"]]],
  [
    "a type",
    { fields: [field("a", "1")] },
    { fields: [field("a", "1", { type: "URL" })] },
    [["changed", "a: type", "STRING", "URL"]],
  ],
  [
    "a field in another section",
    { fields: [field("a", "1")], ...inSections("Codes") },
    { fields: [field("a", "1", { section: { id: "s0" } })], ...inSections("Codes") },
    [["changed", "Codes · a: section", "none", "Codes"]],
  ],
  [
    "a field in another section of the same name",
    { fields: [field("a", "1", { section: { id: "s0" } })], ...inSections("Codes", "Codes") },
    { fields: [field("a", "1", { section: { id: "s1" } })], ...inSections("Codes", "Codes") },
    [["changed", "Codes · a: section", "Codes (s0)", "Codes (s1)"]],
  ],
  [
    "the order of fields",
    { fields: [field("a", "1"), field("b", "1")] },
    { fields: [field("b", "1"), field("a", "1")] },
    [["changed", "Fields: order", "a, b", "b, a"]],
  ],
  ["the label of a section", inSections("a"), inSections("b"), [["changed", "Section", "a", "b"]]],
  ["a URL in place of another", { urls: [{ href: "a" }] }, { urls: [{ href: "b" }] }, [["changed", "URL", "a", "b"]]],
  [
    "the primary URL",
    { urls: [{ href: "a", label: "x", primary: true }] },
    { urls: [{ href: "a", label: "x" }] },
    [["changed", "URL", "x: a (primary)", "x: a"]],
  ],
  [
    "tags",
    { tags: ["a", "b", "b"] },
    { tags: ["c", "b"] },
    [
      ["added", "Tag", undefined, "c"],
      ["removed", "Tag", "a", undefined],
      ["removed", "Tag", "b", undefined],
    ],
  ],
  [
    "Files",
    { files: [file("1", "a", 1_000_000), file("2", "b", 1)] },
    { files: [file("1", "a", 1_000_001)] },
    [
      ["changed", "File", "a (1,000,000 bytes)", "a (1,000,001 bytes)"],
      ["removed", "File", "b (1 byte)", undefined],
    ],
  ],
  ["what people do not write", {}, { version: 2, id: "j", updatedAt: "2027-01-01T00:00:00Z", state: "ARCHIVED" }, []],
];

const CONCEALED: readonly Partial<Field>[] = [
  { type: "CONCEALED" },
  { type: "CONCEALED", purpose: "PASSWORD" },
  { type: "OTP" },
  { type: "SSHKEY" },
  { type: "CREDIT_CARD_NUMBER" },
];

const OPPOSITE: Readonly<Record<Difference["kind"], Difference["kind"]>> = {
  added: "removed",
  removed: "added",
  changed: "changed",
};
const sidesOf = ({ kind, before, after }: Difference) => JSON.stringify([kind, before, after]);

describe("the difference of two Items", () => {
  it.each(CASES)("shows %s", (_, before, after, rows) => {
    expect(difference(itemOf(before), itemOf(after)).map((row) => [row.kind, row.name, row.before, row.after])).toEqual(rows);
  });

  it.each(CONCEALED)("conceals both values where one is a secret: %j", (rest) => {
    const [open, secret] = [itemOf({ fields: [field("a", "1")] }), itemOf({ fields: [field("a", "2", rest)] })];
    for (const [row] of [difference(open, secret), difference(secret, open), difference(itemOf(), secret)])
      expect(row).toMatchObject({ key: "fields/a", concealed: true });
  });

  it("is empty exactly when the Items have the same content", () => {
    fc.assert(
      fc.property(anyItem, anyItem, (one, other) => {
        expect(difference(one, structuredClone(one))).toEqual([]);
        expect(difference(one, other).length === 0).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: runs(200, 20_000) },
    );
  });

  it("has one row a key, and the other way round the same rows with their sides exchanged", () => {
    fc.assert(
      fc.property(anyItem, anyItem, (one, other) => {
        const [there, back] = [difference(one, other), difference(other, one)];
        expect(new Set(there.map(({ key }) => key)).size).toBe(there.length);
        const exchanged = back.map(({ kind, before, after }) => JSON.stringify([OPPOSITE[kind], after, before]));
        expect(there.map(sidesOf).toSorted()).toEqual(exchanged.toSorted());
      }),
      { numRuns: runs(200, 20_000) },
    );
  });
});

describe("a part of an earlier version that is restored alone", () => {
  it.each(CASES)("is as it was, and no other one changes: %s", (_, before, after) => {
    const [old, now] = [itemOf(before), itemOf(after)];
    const keysOf = (item: Item) => difference(old, item).map(({ key }) => key);
    for (const { part } of difference(old, now)) {
      if (part === undefined) continue;
      const draft = withPart(draftOf(now), draftOf(old), part);
      const restored = itemOf({
        ...now,
        ...draft,
        fields: draft.fields.map(fieldOf),
        urls: [...draft.urls],
        tags: [...draft.tags],
        sections: [...draft.sections],
      });
      const left = keysOf(restored);
      const own = new Set(
        difference(old, now).flatMap((row) => (JSON.stringify(row.part) === JSON.stringify(part) ? [row.key] : [])),
      );
      expect(left.filter((key) => own.has(key) && !key.endsWith(" section"))).toEqual([]);
      expect(keysOf(now)).toEqual(expect.arrayContaining(left.filter((key) => !key.endsWith(" order"))));
    }
  });
});

const fieldOf = ({ section: sectionId, purpose, ...rest }: ReturnType<typeof draftOf>["fields"][number]): Field => ({
  ...rest,
  ...(sectionId !== "" && { section: { id: sectionId } }),
  ...(purpose !== "" && { purpose }),
});
