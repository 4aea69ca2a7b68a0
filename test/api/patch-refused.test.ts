import { beforeAll, describe, expect, it } from "vitest";
import { shareVault } from "../support/service.ts";

/**
 * Refused PATCH requests: their messages (contract 4.3, 4.4), of an operation with its index and path (contract 6.3 to 6.9), and that they
 * change nothing (contract 6.1).
 */

const sharedVault = shareVault();

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

const forEachPath = (op: Op, paths: readonly string[], value?: unknown) => paths.map((path): Operation => [op, path, value]);

const READ_ONLY = [
  "/id /vault /vault/id /version /createdAt /updatedAt /lastEditedBy /state /files".split(" "),
  "/fields/f/id /fields/f/entropy /fields/f/totp /sections/s/id".split(" "),
].flat();
const UNKNOWN = ["/nothing", "/Title", "/ ", "/constructor", "/__proto__", "/urls/0/nothing"];
const UNKNOWN_OF_FIELD = ["/fields/f/__proto__", "/fields/f/hasOwnProperty", "/fields/f/Value", "/fields/f/"];
const TOO_DEEP = ["/title/x", "/category/x", "/tags/0/x", "/urls/0/href/x", "/sections/s/label/x", "/fields/f/value/x", "//"];
const NEEDS_VALUE = ["/title", "/tags", "/tags/0", "/urls/0", "/urls/0/href", "/sections/s", "/fields/f", "/fields/f/value"];
const INVALID_INDEX = ["01", "-1", "1.0", "1e0", " 0", "0x0", "", "\u0660", "4294967296"];

const REFUSED: Readonly<Record<string, Operation[]>> = {
  "the replacement of a read-only attribute": forEachPath("replace", READ_ONLY, "x"),
  "the removal of a read-only attribute": forEachPath("remove", READ_ONLY),
  "an unknown attribute of an Item or Url": forEachPath("add", UNKNOWN, "x"),
  "an unknown attribute of a field": forEachPath("replace", UNKNOWN_OF_FIELD, "x"),
  "a path below an attribute": forEachPath("replace", [...TOO_DEEP, "/fields/f/section/id"], "x"),
  "the replacement of a section that does not exist": forEachPath(
    "replace",
    ["/sections/none", "/sections/S", "/sections/__proto__"],
    {},
  ),
  "the removal of a section that does not exist": forEachPath("remove", [
    "/sections/none",
    "/sections/s%20",
    "/sections/none/label",
  ]),
  "the label of a section that does not exist": forEachPath("add", ["/sections/none/label"], "x"),
  "an index that is not a decimal number without leading zeros": INVALID_INDEX.flatMap((index) =>
    forEachPath("add", [`/tags/${index}`], "x"),
  ),
  "the replacement of an entry after the last one": [
    ["replace", "/tags/1", "x"],
    ["replace", "/urls/1", { href: "x" }],
    ["add", "/urls/1/label", "x"],
  ],
  "the removal of an entry after the last one": forEachPath("remove", ["/tags/1", "/urls/1", "/urls/1/label"]),
  "an addition beyond the end of a list": forEachPath("add", ["/tags/2"], "x"),
  "the index - in an operation that adds no entry": [
    ["replace", "/tags/-", "x"],
    ["remove", "/urls/-"],
    ["add", "/urls/-/label", "x"],
  ],
  "an invalid escape in the path": forEachPath("add", ["/fields/~", "/fields/~2", "/fields/a~/value", "/tags/~-", "/~"], "x"),
  "a path that does not start with a slash": forEachPath("replace", ["", "title", "fields/f", "#/title"], "x"),
  "the addition or removal of the whole Item": [
    ["add", "/", ITEM],
    ["remove", "/"],
  ],
  "an addition without a value": forEachPath("add", NEEDS_VALUE),
  "a replacement with the value null": forEachPath("replace", NEEDS_VALUE, null),
  "the removal of the href of a url": forEachPath("remove", ["/urls/0/href"]),
  "a value whose id differs from the path": [
    ["replace", "/fields/f", { id: "g" }],
    ["add", "/sections/t", { id: "u" }],
  ],
  "a value of the wrong type": [
    ["replace", "/title", 1],
    ["add", "/tags/-", {}],
    ["add", "/fields", [{}]],
    ["add", "/fields/f/type", "x"],
  ],
  "an empty id, which means an absent id in a body": forEachPath("add", ["/fields/", "/sections/"], {}),
};

async function makeItem(item: object = ITEM) {
  const { items, call } = await sharedVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  return {
    before,
    read: async () => (await call("GET", path)).body,
    patch: (...body: unknown[]) => call("PATCH", path, { body }),
  };
}

/** Shared by the tests whose requests are refused and so change nothing. */
let unchanged: Awaited<ReturnType<typeof makeItem>>;

beforeAll(async () => {
  unchanged = await makeItem();
});

describe("PATCH refuses", () => {
  it.each(Object.entries(REFUSED))(
    "%s with a 400 that names index and path, and does not apply the operation before it",
    async (_, operations) => {
      const { before, read, patch } = unchanged;
      for (const [op, path, value] of operations) {
        const { body } = await patch({ op: "replace", path: "/title", value: "Changed" }, { op, path, value });
        expect([op, path, body]).toEqual([op, path, { status: 400, message: expect.stringContaining(`operation 1 (${path})`) }]);
      }
      expect(await read()).toEqual(before);
    },
  );

  it.each([[1], ["x"], [[]], [true], [null]])("an operation that is no object, with its index: %j", async (operation) => {
    const { body } = await unchanged.patch({ op: "remove", path: "/tags/0" }, operation);
    expect(body).toEqual({ status: 400, message: "operation 1: is not an object" });
  });

  it.each<[op: unknown, fault: string]>([
    ...["", "ADDS", " add", "add ", "test", "move", "copy", "MOVE", null, 1, ["add"]].map((op): [unknown, string] => [
      op,
      "is not add, remove or replace",
    ]),
    [undefined, "is missing"],
  ])("an op that is %j", async (op, fault) => {
    const { body } = await unchanged.patch({ op: "REMOVE", path: "/tags/0" }, { op, path: "/title", value: "x" });
    expect(body).toEqual({ status: 400, message: `operation 1: op: ${fault}` });
  });

  it("a long path with a message that contains only its first 64 characters", async () => {
    const { patch } = unchanged;
    const { body } = await patch({ op: "replace", path: `/${"x".repeat(1000)}`, value: "x" });
    expect(body).toEqual({ status: 400, message: expect.stringMatching(/^operation 0 \(\/x{63}\): [^x]/) });
  });
});

describe("a refused PATCH", () => {
  it.each(["none", "F", "__proto__", "a/b"])("names the field %s when it does not exist", async (id) => {
    const { patch } = unchanged;
    const path = `/fields/${id.replaceAll("/", "~1")}`;
    const expected = { status: 400, message: `The item doesn't have a ${id} field.` };
    expect((await patch({ op: "replace", path, value: {} })).body).toEqual(expected);
    expect((await patch({ op: "remove", path })).body).toEqual(expected);
    expect((await patch({ op: "add", path: `${path}/value`, value: "x" })).body).toEqual(expected);
  });

  it("answers `Invalid item category` for an unknown category and for its removal", async () => {
    const { patch } = unchanged;
    const expected = { status: 400, message: "Invalid item category" };
    expect((await patch({ op: "replace", path: "/category", value: "NONE" })).body).toEqual(expected);
    expect((await patch({ op: "remove", path: "/category" })).body).toEqual(expected);
    expect((await patch({ op: "replace", path: "/", value: { category: 7 } })).body).toEqual(expected);
  });

  it("names the password field when a PASSWORD Item would lose it (contract 2.21)", async () => {
    const { patch } = await makeItem({ ...ITEM, category: "PASSWORD", fields: [{ purpose: "PASSWORD", value: "x" }] });
    const expected = { status: 400, message: "The item doesn't have a password field." };
    expect((await patch({ op: "remove", path: "/fields/password" })).body).toEqual(expected);
    expect((await patch({ op: "remove", path: "/fields/password/purpose" })).body).toEqual(expected);
  });

  it("leaves the Item and its version unchanged when the last of many operations fails (contract 10.6)", async () => {
    const { before, read, patch } = unchanged;
    const additions = Array.from({ length: 50 }, (_, n) => ({ op: "add", path: `/fields/n${n}`, value: { value: "x" } }));
    expect((await patch(...additions, { op: "remove", path: "/fields/none" })).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it("leaves the Item unchanged when the resulting Item has two fields with one id", async () => {
    const { before, read, patch } = unchanged;
    const reply = await patch({ op: "add", path: "/tags/-", value: "b" }, { op: "add", path: "/fields", value: { id: "f" } });
    expect(reply.status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it("does not contain the refused value", async () => {
    const { patch } = unchanged;
    for (const path of ["/title", "/category", "/tags/0", "/urls/0", "/fields/f/type", "/fields/f/value", "/sections", "/"]) {
      const { status, text } = await patch({
        op: "replace",
        path,
        value: { type: 1, href: 1, value: "hunter2", title: ["hunter2"] },
      });
      expect(status).toBe(400);
      expect(text).not.toContain("hunter2");
    }
  });
});

describe("a PATCH of no operations", () => {
  it("returns the unmodified Item with the same version (contract 6.2)", async () => {
    const { before, read, patch } = unchanged;
    expect(await patch()).toMatchObject({ status: 200, body: before });
    expect(await read()).toEqual(before);
  });
});
