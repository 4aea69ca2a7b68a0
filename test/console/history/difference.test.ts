import type { Field, Item } from "@item-vault/client";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeWords } from "../../../packages/console/src/history/change-words.ts";
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

/** What the list of versions says of a change. */

const wordsOf = (before: Partial<Item>, after: Partial<Item>): string => {
  const [old, now] = [itemOf(before), itemOf({ version: 2, ...after })];
  return changeWords(old, now, difference(old, now));
};

const password = (value: string) => field("password", value, { type: "CONCEALED", purpose: "PASSWORD" });

const WORDS: readonly (readonly [string, Partial<Item>, Partial<Item>])[] = [
  ["Nothing changed.", {}, {}],
  ["Changed: Title.", {}, { title: "b" }],
  [
    "Changed: password, 2 files added.",
    { fields: [password("a")] },
    { fields: [password("b")], files: [file("1", "a", 1), file("2", "b", 1)] },
  ],
  ["Changed: file removed.", { files: [file("1", "a", 1)] }, {}],
  ["Changed: pin added, 2 tags removed.", { tags: ["a", "b"] }, { fields: [field("pin", "1")] }],
  ["Changed: URL.", { urls: [{ href: "a" }] }, { urls: [{ href: "b" }] }],
  ["Changed: 2 sections added.", {}, inSections("a", "b")],
  ["Changed: b, b: label.", { fields: [field("a", "1")] }, { fields: [field("a", "2", { label: "b" })] }],
  ["Changed: code, code.", twoCodes("1"), twoCodes("2")],
  ["Archived.", {}, { state: "ARCHIVED" }],
  ["Unarchived.", { state: "ARCHIVED" }, {}],
  ["Changed since version 1: Title.", {}, { title: "b", version: 3 }],
  ["Nothing changed since version 1.", {}, { version: 4 }],
];

/** Two fields of one name. */
function twoCodes(value: string): Partial<Item> {
  return { fields: ["a", "b"].map((id) => field(id, value, { label: "code" })) };
}

/** The Item with a sign in each text that is a value. */
const marked = (item: Item): Item => ({
  ...item,
  title: `§${item.title}`,
  tags: item.tags.map((tag) => `§${tag}`),
  urls: item.urls.map(({ href, ...url }) => ({ ...url, href: `§${href}` })),
  fields: item.fields.map(({ value, ...rest }) => ({ ...rest, value: `§${value}` })),
});

describe("the words of what changed in a version", () => {
  it.each(WORDS)("%s", (words, before, after) => {
    expect(wordsOf(before, after)).toBe(words);
  });

  it("have no value, and are those of no change exactly when nothing differs", () => {
    fc.assert(
      fc.property(anyItem, anyItem, (one, other) => {
        const [before, after] = [marked(one), { ...marked(other), version: 2 }];
        const rows = difference(before, after);
        const words = changeWords(before, after, rows);
        expect(words).not.toContain("§");
        expect(words === "Nothing changed.").toBe(rows.length === 0);
      }),
      { numRuns: runs(200, 20_000) },
    );
  });
});
