import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Item } from "@item-vault/client";
import { changeWords } from "../../../packages/console/src/history/change-words.ts";
import { difference } from "../../../packages/console/src/history/difference.ts";
import { runs } from "../../support/runs.ts";
import { anyItem, field, file, inSections, itemOf } from "./items.ts";

/** What the list of versions says of a change. */

const wordsOf = (before: Partial<Item>, after: Partial<Item>): string => {
  const [old, now] = [itemOf(before), itemOf({ version: 2, ...after })];
  return changeWords(old, now, difference(old, now));
};

const password = (value: string) => field("password", value, { type: "CONCEALED", purpose: "PASSWORD" });

const CASES: readonly (readonly [string, Partial<Item>, Partial<Item>])[] = [
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
  it.each(CASES)("%s", (words, before, after) => {
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
