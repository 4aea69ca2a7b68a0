import { describe, expect, it } from "vitest";
import { type Client, freshVault } from "./support/service.ts";

/** Contract 1.6 and 1.4: what a PATCH refuses, in which words, and that it then changed nothing. */

const ITEM = {
  title: "Title",
  category: "LOGIN",
  tags: ["a"],
  urls: [{ href: "https://one.test" }],
  sections: [{ id: "s", label: "Section" }],
  fields: [{ id: "f", value: "secret" }],
};

async function made(item: object = ITEM) {
  const { items, call } = await freshVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  return { before, path, call, patch: (...operations: unknown[]) => call("PATCH", path, { body: operations }) };
}

const read = async (call: Client, path: string) => (await call("GET", path)).body;

/** Refused as a second operation, after one that succeeds: the message names 1 and the path, and the first left no trace. */
async function refused(operation: { op: string; path: string; value?: unknown }) {
  const { before, path, call, patch } = await made();
  const reply = await patch({ op: "replace", path: "/title", value: "Changed" }, operation);
  expect(reply.body).toEqual({ status: 400, message: expect.any(String) });
  expect(reply.body.message).toContain(`operation 1 (${operation.path.slice(0, 64)})`);
  expect(await read(call, path)).toEqual(before);
}

describe("PATCH refuses, with the operation's index and path,", () => {
  const READ_ONLY = ["/id", "/vault", "/vault/id", "/version", "/createdAt", "/updatedAt", "/lastEditedBy", "/state", "/files"];
  const FIELD_READ_ONLY = ["/fields/f/id", "/fields/f/entropy", "/fields/f/totp", "/sections/s/id"];
  it.each([...READ_ONLY, ...FIELD_READ_ONLY])("the read-only target %s", async (path) => {
    await refused({ op: "replace", path, value: "x" });
    await refused({ op: "remove", path });
  });

  const UNKNOWN = ["/nothing", "/Title", "/constructor", "/__proto__", "/urls/0/nothing", "/fields/f/__proto__"];
  const DEEP = ["/title/x", "/category/x", "/tags/0/x", "/urls/0/href/x", "/sections/s/label/x", "/fields/f/value/x", "//", "/ "];
  it.each([...UNKNOWN, ...DEEP, "/fields/f/section/id", "/fields/f/hasOwnProperty"])("the unknown attribute %s", async (path) => {
    await refused({ op: "replace", path, value: "x" });
  });

  it.each(["/sections/none", "/sections/none/label", "/sections/S", "/sections/s%20"])("the missing section of %s", async (path) => {
    await refused({ op: "replace", path, value: path.endsWith("label") ? "x" : { label: "x" } });
    await refused({ op: "remove", path });
  });

  it.each(["1", "01", "-1", "1.0", "1e0", " 0", "0x0", "", "٠", "4294967296"])("the bad index %j", async (index) => {
    await refused({ op: "replace", path: `/tags/${index}`, value: "x" });
    await refused({ op: "remove", path: `/urls/${index}` });
    await refused({ op: "add", path: `/urls/${index}/label`, value: "x" });
  });

  it("- where nothing is added", async () => {
    await refused({ op: "replace", path: "/tags/-", value: "x" });
    await refused({ op: "remove", path: "/urls/-" });
    await refused({ op: "add", path: "/urls/-/label", value: "x" });
  });

  it("an addition behind the end of a list", async () => {
    await refused({ op: "add", path: "/tags/2", value: "x" });
  });

  it.each(["/fields/~", "/fields/~2", "/fields/a~/value", "/tags/~-", "/~"])("the bad escape in %s", async (path) => {
    await refused({ op: "add", path, value: "x" });
  });

  it.each(["", "title", "fields/f", "#/title"])("the path %j, which does not start with a slash", async (path) => {
    await refused({ op: "replace", path, value: "x" });
  });

  it("to add or to remove the whole Item", async () => {
    await refused({ op: "add", path: "/", value: ITEM });
    await refused({ op: "remove", path: "/" });
  });

  it.each(["/title", "/tags", "/tags/0", "/urls/0", "/urls/0/href", "/sections/s", "/fields/f", "/fields/f/value"])(
    "an addition and a replacement of %s without a value",
    async (path) => {
      await refused({ op: "add", path });
      await refused({ op: "replace", path });
    },
  );

  it("to take its address from a url", async () => {
    await refused({ op: "remove", path: "/urls/0/href" });
  });

  it("a value that has another id than the path", async () => {
    await refused({ op: "replace", path: "/fields/f", value: { id: "g" } });
    await refused({ op: "add", path: "/sections/t", value: { id: "u" } });
  });

  it("values of another type than the attribute's", async () => {
    await refused({ op: "replace", path: "/title", value: 1 });
    await refused({ op: "add", path: "/tags/-", value: { a: 1 } });
    await refused({ op: "add", path: "/fields", value: [{ id: "x" }] });
    await refused({ op: "replace", path: "/fields/f/type", value: "NONE" });
  });

  it.each(["fields", "sections"])("an id of /%s that is empty, for an empty id in a body means none", async (list) => {
    await refused({ op: "add", path: `/${list}/`, value: {} });
  });

  it.each([
    ["longer than any text may be", "x".repeat(64 * 1024 + 1)],
    ["half of a surrogate pair", "\ud800"],
  ])("an id that is %s, as in a body", async (_, id) => {
    const { patch } = await made();
    for (const list of ["fields", "sections"]) {
      expect((await patch({ op: "add", path: `/${list}/${id}`, value: {} })).status).toBe(400);
    }
  });
});

describe("PATCH that is refused", () => {
  it.each(["none", "F", "__proto__", "a/b"])("names the field %s that is not there", async (id) => {
    const { patch } = await made();
    const path = `/fields/${id.replaceAll("/", "~1")}`;
    const expected = { status: 400, message: `The item doesn't have a ${id} field.` };
    expect((await patch({ op: "replace", path, value: {} })).body).toEqual(expected);
    expect((await patch({ op: "remove", path })).body).toEqual(expected);
    expect((await patch({ op: "add", path: `${path}/value`, value: "x" })).body).toEqual(expected);
  });

  it("says Invalid item category for one that is unknown, or removed", async () => {
    const { patch } = await made();
    const expected = { status: 400, message: "Invalid item category" };
    expect((await patch({ op: "replace", path: "/category", value: "NONE" })).body).toEqual(expected);
    expect((await patch({ op: "remove", path: "/category" })).body).toEqual(expected);
    expect((await patch({ op: "replace", path: "/", value: { category: 7 } })).body).toEqual(expected);
  });

  it("says that a PASSWORD Item lacks its password field when it would lose it", async () => {
    const { patch } = await made({ ...ITEM, category: "PASSWORD", fields: [{ purpose: "PASSWORD", value: "x" }] });
    const expected = { status: 400, message: "The item doesn't have a password field." };
    expect((await patch({ op: "remove", path: "/fields/password" })).body).toEqual(expected);
    expect((await patch({ op: "remove", path: "/fields/password/purpose" })).body).toEqual(expected);
  });

  it("leaves the Item and its version as they were when the last of many operations fails", async () => {
    const { before, path, call, patch } = await made();
    const additions = Array.from({ length: 50 }, (_, n) => ({ op: "add", path: `/fields/n${n}`, value: { value: "x" } }));
    expect((await patch(...additions, { op: "remove", path: "/fields/none" })).status).toBe(400);
    expect(await read(call, path)).toEqual(before);
  });

  it("leaves the Item as it was when only the whole is wrong: two fields of one id", async () => {
    const { before, path, call, patch } = await made();
    const reply = await patch({ op: "add", path: "/tags/-", value: "b" }, { op: "add", path: "/fields", value: { id: "f" } });
    expect(reply.status).toBe(400);
    expect(await read(call, path)).toEqual(before);
  });

  it("never quotes the value that it refuses", async () => {
    const { patch } = await made();
    for (const path of ["/title", "/category", "/tags/0", "/urls/0", "/fields/f/type", "/fields/f/value", "/sections", "/"]) {
      const { status, text } = await patch({ op: "replace", path, value: { type: 1, href: 1, value: "hunter2", title: ["hunter2"] } });
      expect(status).toBe(400);
      expect(text).not.toContain("hunter2");
    }
  });
});

describe("a PATCH body", () => {
  it("that is empty returns the Item unmodified, at the same version", async () => {
    const { before, path, call, patch } = await made();
    const reply = await patch();
    expect([reply.status, reply.body]).toEqual([200, before]);
    expect(await read(call, path)).toEqual(before);
  });

  const OPERATION = { op: "remove", path: "/title" };
  it.each([[{}], [OPERATION], [null], ["x"], [[null]], [[OPERATION, 1]], [[{ op: "remove" }]], [[{ path: "/title" }]], [[{ ...OPERATION, path: 1 }]]])(
    "that is no list of operations is a 400: %j",
    async (body) => {
      const { before, path, call } = await made();
      expect((await call("PATCH", path, { body: JSON.stringify(body) })).status).toBe(400);
      expect(await read(call, path)).toEqual(before);
    },
  );

  it.each(["move", "copy", "test", "REMOVE", ""])("with the operation %j is a 400 that names its index", async (op) => {
    const { patch } = await made();
    const { status, body } = await patch(OPERATION, { op, path: "/title", from: "/title", value: "Title" });
    expect([status, body.message]).toEqual([400, expect.stringContaining("operation 1")]);
  });

  it("of more than 1,000 operations is a 400 that names the limit", async () => {
    const { patch } = await made();
    const { status, body } = await patch(...Array.from({ length: 1001 }, () => OPERATION));
    expect([status, body.message]).toEqual([400, expect.stringContaining("1000")]);
  });
});
