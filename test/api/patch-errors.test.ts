import { beforeAll, describe, expect, it } from "vitest";
import { freshVault } from "../support/service.ts";

/** Contract 1.6: the operations that a PATCH refuses, naming their index and path. */

const ITEM = {
  title: "Title",
  category: "LOGIN",
  tags: ["a"],
  urls: [{ href: "https://one.test" }],
  sections: [{ id: "s", label: "Section" }],
  fields: [{ id: "f", value: "secret" }],
};

type Op = "add" | "replace" | "remove";
type Operation = readonly [op: Op, path: string, value?: unknown];

/** An operation on each of the paths. */
const each = (op: Op, paths: readonly string[], value?: unknown) => paths.map((path): Operation => [op, path, value]);

const READ_ONLY = [
  "/id /vault /vault/id /version /createdAt /updatedAt /lastEditedBy /state /files".split(" "),
  "/fields/f/id /fields/f/entropy /fields/f/totp /sections/s/id".split(" "),
].flat();
const UNKNOWN = ["/nothing", "/Title", "/ ", "/constructor", "/__proto__", "/urls/0/nothing"];
const UNKNOWN_OF_FIELD = ["/fields/f/__proto__", "/fields/f/hasOwnProperty", "/fields/f/Value", "/fields/f/"];
const DEEP = ["/title/x", "/category/x", "/tags/0/x", "/urls/0/href/x", "/sections/s/label/x", "/fields/f/value/x", "//"];
const VALUED = ["/title", "/tags", "/tags/0", "/urls/0", "/urls/0/href", "/sections/s", "/fields/f", "/fields/f/value"];
const NO_INDEX = ["01", "-1", "1.0", "1e0", " 0", "0x0", "", "\u0660", "4294967296"];

const REFUSED: [rule: string, operations: Operation[]][] = [
  ["a replacement of what is read-only", each("replace", READ_ONLY, "x")],
  ["a removal of what is read-only", each("remove", READ_ONLY)],
  ["an attribute of an Item or Url that does not exist", each("add", UNKNOWN, "x")],
  ["an attribute of a field that does not exist", each("replace", UNKNOWN_OF_FIELD, "x")],
  ["a path that goes deeper than an attribute", each("replace", [...DEEP, "/fields/f/section/id"], "x")],
  ["a replacement of a section that is not there", each("replace", ["/sections/none", "/sections/S", "/sections/__proto__"], {})],
  ["a removal of a section that is not there", each("remove", ["/sections/none", "/sections/s%20", "/sections/none/label"])],
  ["the label of a section that is not there", each("add", ["/sections/none/label"], "x")],
  ["an index that is no number in its only spelling", NO_INDEX.flatMap((index) => each("add", [`/tags/${index}`], "x"))],
  [
    "a replacement behind the end",
    [
      ["replace", "/tags/1", "x"],
      ["replace", "/urls/1", { href: "x" }],
      ["add", "/urls/1/label", "x"],
    ],
  ],
  ["a removal behind the end", each("remove", ["/tags/1", "/urls/1", "/urls/1/label"])],
  ["an addition farther than at the end", each("add", ["/tags/2"], "x")],
  [
    "- where nothing is added to a list",
    [
      ["replace", "/tags/-", "x"],
      ["remove", "/urls/-"],
      ["add", "/urls/-/label", "x"],
    ],
  ],
  ["a bad escape", each("add", ["/fields/~", "/fields/~2", "/fields/a~/value", "/tags/~-", "/~"], "x")],
  ["a path that does not start with a slash", each("replace", ["", "title", "fields/f", "#/title"], "x")],
  [
    "to add or remove the whole Item",
    [
      ["add", "/", ITEM],
      ["remove", "/"],
    ],
  ],
  ["an addition without a value", each("add", VALUED)],
  ["a replacement by null", each("replace", VALUED, null)],
  ["to take its address from a url", each("remove", ["/urls/0/href"])],
  [
    "a value with another id than the path",
    [
      ["replace", "/fields/f", { id: "g" }],
      ["add", "/sections/t", { id: "u" }],
    ],
  ],
  [
    "a value of another type",
    [
      ["replace", "/title", 1],
      ["add", "/tags/-", {}],
      ["add", "/fields", [{}]],
      ["add", "/fields/f/type", "x"],
    ],
  ],
  ["an empty id, for in a body it means that there is none", each("add", ["/fields/", "/sections/"], {})],
];

async function made() {
  const { items, call } = await freshVault();
  const { body: before } = await call("POST", items, { body: ITEM });
  const path = `${items}/${before.id}`;
  return { before, read: () => call("GET", path), patch: (...body: unknown[]) => call("PATCH", path, { body }) };
}

/** Only refused: it stays as it was made. */
let unchanged: Awaited<ReturnType<typeof made>>;

beforeAll(async () => {
  unchanged = await made();
});

describe("PATCH refuses", () => {
  it.each(REFUSED)("%s: a 400 that names index and path, and the operation before it left no trace", async (_, operations) => {
    const { before, read, patch } = unchanged;
    for (const [op, path, value] of operations) {
      const { body } = await patch({ op: "replace", path: "/title", value: "Changed" }, { op, path, value });
      expect([op, path, body]).toEqual([op, path, { status: 400, message: expect.stringContaining(`operation 1 (${path})`) }]);
    }
    expect((await read()).body).toEqual(before);
  });

  it.each([
    ["longer than any text may be", "x".repeat(64 * 1024 + 1)],
    ["half of a surrogate pair", "\ud800"],
  ])("an id in a path that is %s, as it does in a body", async (_, id) => {
    const { patch } = unchanged;
    for (const list of ["fields", "sections"]) {
      expect((await patch({ op: "add", path: `/${list}/${id}`, value: {} })).status).toBe(400);
    }
  });

  it("a long path, of which it names the beginning alone", async () => {
    const { patch } = unchanged;
    const { status, body } = await patch({ op: "replace", path: `/${"x".repeat(1000)}`, value: "x" });
    expect([status, body.message]).toEqual([400, expect.stringMatching(/^operation 0 \(\/x{63}\): [^x]/)]);
  });
});
