import { expect, it } from "vitest";
import { countContents } from "../../src/store/backup/vault-state.ts";

/** How many contents a snapshot names at least: more than there are would make a full snapshot each night. */

const part = (about: object) => ({ sha256: "", bytes: 1, rows: 1, ...about }) as Parameters<typeof countContents>[0][number];

it.each([
  ["no part", [], 0],
  ["parts of Items as a whole", [part({ contents: 2 }), part({ item: "b", contents: 3 })], 5],
  [
    "several parts of one Item, each of which may name the same contents",
    [part({ item: "a", contents: 2 }), part({ item: "a", contents: 3 })],
    3,
  ],
  [
    "a part that lacks contents, which were not copied",
    [part({ item: "a", contents: 4, missing: ["x"] }), part({ item: "b", contents: 1 })],
    1,
  ],
  ["parts without contents", [part({}), part({ item: "a" })], 0],
])("of %s", (_, parts, count) => {
  expect(countContents(parts)).toBe(count);
});
