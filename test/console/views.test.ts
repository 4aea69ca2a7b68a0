import type { ItemSummary } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { matches } from "../../packages/console/src/admin/filter.ts";
import { parseQuota, presentQuota, QUOTAS } from "../../packages/console/src/admin/quotas.ts";
import {
  canonicalScope,
  describePermission,
  describeVaultScope,
  grants,
  OPERATIONS,
  placeAfter,
  setOperation,
  type TokenScope,
  wholeVaults,
} from "../../packages/console/src/admin/scope.ts";
import { formatRoute, parseRoute } from "../../packages/console/src/routes.ts";
import { entryOf, search } from "../../packages/console/src/state/search.ts";
import { formatFromNow } from "../../packages/console/src/ui/relative-time.ts";
import { rowsInView } from "../../packages/console/src/ui/rows-in-view.ts";
import { formatSize } from "../../packages/console/src/ui/size.ts";
import { type Permission, PERMISSIONS } from "../../src/model/permission.ts";

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

const summary = (title: string, more: Partial<ItemSummary> = {}): ItemSummary => ({
  id: title,
  title,
  vault: { id: "v" },
  category: "LOGIN",
  urls: [],
  favorite: false,
  tags: [],
  version: 1,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  lastEditedBy: "t",
  ...more,
});

const ENTRIES = [
  summary("Old GitHub"),
  summary("GitHub", { username: "ada@example.com" }),
  summary("Zürich Wi-Fi", { tags: ["home/Küche"] }),
  summary("Mail", { urls: [{ href: "https://www.github.example.org/login" }] }),
  summary("digithub"),
].map(entryOf);

const titles = (query: string) => search(ENTRIES, query).map(({ item }) => item.title);

describe("search in the console", () => {
  it.each([
    ["nothing", "", ["Old GitHub", "GitHub", "Zürich Wi-Fi", "Mail", "digithub"]],
    [
      "a word: titles that begin with it, then with a word of it, then with it inside, then others",
      "github",
      ["GitHub", "Old GitHub", "digithub", "Mail"],
    ],
    ["capitals", "GITHUB old", ["Old GitHub"]],
    ["text without its accents", "zurich", ["Zürich Wi-Fi"]],
    ["text with accents", "küche", ["Zürich Wi-Fi"]],
    ["a user name", "ada@", ["GitHub"]],
    ["words of different attributes", "wi-fi home", ["Zürich Wi-Fi"]],
    ["a host without www", "github.example", ["Mail"]],
    ["the scheme of a URL, which every Item has", "https", []],
    ["characters of a pattern", ".*", []],
    ["white space only", "  ", ["Old GitHub", "GitHub", "Zürich Wi-Fi", "Mail", "digithub"]],
  ])("finds by %s", (_, query, expected) => expect(titles(query)).toEqual(expected));
});

/** The pure functions of the admin's views. */

const ALL = Object.keys(PERMISSIONS) as Permission[];

describe("scopes", () => {
  it("an operation that is granted and withdrawn gives a permission of the table, or nothing", () => {
    for (const permission of ALL) {
      for (const operation of OPERATIONS) {
        const { v: more } = setOperation({ v: permission }, ["v"], operation, true);
        expect(PERMISSIONS).toHaveProperty(more!);
        expect(grants(more, operation)).toBe(true);
        const { v: less } = setOperation({ v: permission }, ["v"], operation, false);
        expect(grants(less, operation)).toBe(false);
        for (const other of OPERATIONS.filter((one) => one !== operation)) {
          // Who reads lists too.
          expect(grants(more, other)).toBe(grants(permission, other) || (operation === "r" && other === "l"));
          expect(grants(less, other)).toBe(grants(permission, other) && !(operation === "l" && other === "r"));
        }
      }
    }
  });

  it("a vault without a permission is not in the scope, and the others stay", () => {
    expect(setOperation({ a: "r", b: "rw" }, ["a", "b"], "l", false)).toEqual({ b: "w" });
    expect(setOperation({ a: "r", b: "rw" }, ["a", "b"], "r", false)).toEqual({ a: "l", b: "lw" });
    expect(setOperation({ a: "r" }, ["b", "c"], "d", true)).toEqual({ a: "r", b: "d", c: "d" });
  });

  it("ids of the dialect connect become canonical", () => {
    expect(canonicalScope({ h6uf6zcxc5cwfm74fsld6zvpuy: "rw" })).toEqual({ "3fa85f64-5717-4562-b3fc-2c963f66afa6": "rw" });
  });

  it("a scope of Items is described with their number, and is no part of what a form for whole vaults changes", () => {
    const scope = { a: "rw", b: { permissions: "l", items: ["1"] }, c: { permissions: "rwd", items: ["1", "2"] } } as const;
    const vaults = Object.fromEntries(Object.entries(scope)) as TokenScope;
    expect(Object.values(vaults).map(describeVaultScope)).toEqual([
      "read, write",
      "list (1 item only)",
      "read, write, delete permanently (2 items only)",
    ]);
    expect(wholeVaults(vaults)).toEqual({ a: "rw" });
  });

  it("a permission is described by what it grants", () => {
    expect(ALL.map(describePermission)).toEqual([
      "list",
      "read",
      "write",
      "delete permanently",
      "list, write",
      "list, delete permanently",
      "read, write",
      "read, delete permanently",
      "write, delete permanently",
      "list, write, delete permanently",
      "read, write, delete permanently",
    ]);
  });
});

const NOW = Date.parse("2026-11-22T12:00:00Z");

it.each([
  ["2026-11-22T12:00:30Z", "in less than a minute"],
  ["2026-11-22T11:59:30Z", "just now"],
  ["2026-11-22T12:01:30Z", "in 1 minute"],
  ["2026-11-22T13:30:00Z", "in 90 minutes"],
  ["2026-11-23T00:00:00Z", "in 12 hours"],
  ["2026-11-24T13:00:00Z", "in 2 days"],
  ["2027-11-22T12:00:00Z", "in 365 days"],
  ["2029-11-22T12:00:00Z", "in 3 years"],
  ["2026-11-22T09:00:00Z", "3 hours ago"],
])("%s is %s", (time, words) => {
  expect(formatFromNow(time, NOW)).toBe(words);
});

it("a quota's field is empty for the default, and keeps every byte of another value", () => {
  for (const row of QUOTAS) {
    expect(presentQuota(row, row.standard)).toBe("");
    expect(parseQuota(row, " ")).toBeNull();
    for (const value of [0, 1, 1_048_576, 5_368_709_121, 999_999_999_999])
      expect(parseQuota(row, presentQuota(row, value))).toBe(value);
  }
});

it("the arrow keys stay within the grid", () => {
  expect(placeAfter("ArrowDown", "0/0", 3, 2)).toBe("1/0");
  expect(placeAfter("ArrowUp", "0/1", 3, 2)).toBe("0/1");
  expect(placeAfter("ArrowRight", "2/1", 3, 2)).toBe("2/1");
  expect(placeAfter("PageDown", "0/1", 3, 2)).toBe("2/1");
  expect(placeAfter("Tab", "0/0", 3, 2)).toBeUndefined();
});

it("a search of rows disregards case and accents", () => {
  expect(matches("zur", "Zürich")).toBe(true);
  expect(matches(" ", "anything")).toBe(true);
  expect(matches("x", "Zürich", "Bern")).toBe(false);
});
