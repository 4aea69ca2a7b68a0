import { describe, expect, it } from "vitest";
import { formatRoute, parseRoute } from "../../packages/console/src/routes.ts";
import { rowsInView } from "../../packages/console/src/ui/rows-in-view.ts";
import { formatSize } from "../../packages/console/src/ui/size.ts";

describe("addresses of the console", () => {
  it.each([
    ["", { view: "items" }],
    ["#/nowhere/a", { view: "items" }],
    ["#/constructor", { view: "items" }],
    ["#/items/v-1/i-1", { view: "items", vault: "v-1", item: "i-1" }],
    ["#/items/v/i/edit", { view: "items", vault: "v", item: "i", page: "edit" }],
    ["#/items/v/i/other", { view: "items", vault: "v", item: "i" }],
    ["#/items/..%2F/i", { view: "items", item: "i" }],
    ["#/tokens/anything", { view: "tokens" }],
  ])("%s is parsed", (hash, expected) => expect(parseRoute(hash)).toEqual(expected));

  it.each(["#/items", "#/items/v", "#/items/v/i", "#/items/v/i/history", "#/deleted/v/i", "#/health"])(
    "%s is written as it was parsed",
    (hash) => expect(formatRoute(parseRoute(hash))).toBe(hash),
  );
});

describe("rows in view", () => {
  it.each([
    ["the top of a long list", [0, 560, 56, 10_000], [0, 18]],
    ["the middle", [5600, 560, 56, 10_000], [92, 118]],
    ["the end", [559_440, 560, 56, 10_000], [9982, 10_000]],
    ["a list that is shorter than the view", [0, 560, 56, 3], [0, 3]],
    ["an empty list", [0, 560, 56, 0], [0, 0]],
  ] as const)("are those of %s", (_, [top, view, height, count], range) =>
    expect(rowsInView(top, view, height, count)).toEqual(range),
  );
});

describe("sizes", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1 KB"],
    [123_456, "123 KB"],
    [999_999, "1000 KB"],
    [1_234_567, "1.23 MB"],
    [100_000_000, "100 MB"],
    [1e15, "1000 TB"],
  ])("%d is written as %s", (bytes, text) => expect(formatSize(bytes)).toBe(text));
});
