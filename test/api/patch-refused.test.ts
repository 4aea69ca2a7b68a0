import { describe, expect, it } from "vitest";
import { shareVault } from "../support/service.ts";

/** Refused PATCH requests: their messages (contract 4.3 and 4.4), and that they change nothing (contract 6.1). */

const sharedVault = shareVault();

const ITEM = { title: "Title", category: "LOGIN", tags: ["a"], urls: [{ href: "u" }], fields: [{ id: "f", value: "secret" }] };

async function makeItem(item: object = ITEM) {
  const { items, call } = await sharedVault();
  const { body: before } = await call("POST", items, { body: item });
  const path = `${items}/${before.id}`;
  const send = (body: unknown) => call("PATCH", path, { body: JSON.stringify(body) });
  return {
    before,
    send,
    patch: (...operations: unknown[]) => send(operations),
    read: async () => (await call("GET", path)).body,
  };
}

describe("a refused PATCH", () => {
  it.each(["none", "F", "__proto__", "a/b"])("names the field %s when it does not exist", async (id) => {
    const { patch } = await makeItem();
    const path = `/fields/${id.replaceAll("/", "~1")}`;
    const expected = { status: 400, message: `The item doesn't have a ${id} field.` };
    expect((await patch({ op: "replace", path, value: {} })).body).toEqual(expected);
    expect((await patch({ op: "remove", path })).body).toEqual(expected);
    expect((await patch({ op: "add", path: `${path}/value`, value: "x" })).body).toEqual(expected);
  });

  it("answers `Invalid item category` for an unknown category and for its removal", async () => {
    const { patch } = await makeItem();
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
    const { before, read, patch } = await makeItem();
    const additions = Array.from({ length: 50 }, (_, n) => ({ op: "add", path: `/fields/n${n}`, value: { value: "x" } }));
    expect((await patch(...additions, { op: "remove", path: "/fields/none" })).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it("leaves the Item unchanged when the resulting Item has two fields with one id", async () => {
    const { before, read, patch } = await makeItem();
    const reply = await patch({ op: "add", path: "/tags/-", value: "b" }, { op: "add", path: "/fields", value: { id: "f" } });
    expect(reply.status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it("does not contain the refused value", async () => {
    const { patch } = await makeItem();
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

describe("a PATCH body", () => {
  it("that is an empty array returns the unmodified Item with the same version (contract 6.2)", async () => {
    const { before, read, patch } = await makeItem();
    const reply = await patch();
    expect([reply.status, reply.body]).toEqual([200, before]);
    expect(await read()).toEqual(before);
  });

  const OPERATION = { op: "remove", path: "/title" };
  it.each([
    [{}],
    [OPERATION],
    [null],
    ["x"],
    [[null]],
    [[OPERATION, 1]],
    [[{ op: "remove" }]],
    [[{ path: "/title" }]],
    [[{ ...OPERATION, path: 1 }]],
  ])("that is not an array of operations is a 400: %j", async (body) => {
    const { before, read, send } = await makeItem();
    expect((await send(body)).status).toBe(400);
    expect(await read()).toEqual(before);
  });

  it.each(["move", "copy", "test", "MOVE", ""])("with the operation %j is a 400 that names its index", async (op) => {
    const { patch } = await makeItem();
    const { status, body } = await patch(OPERATION, { op, path: "/title", from: "/title", value: "Title" });
    expect([status, body.message]).toEqual([400, expect.stringContaining("operation 1")]);
  });

  it("of more than 1,000 operations is a 400 that names the limit", async () => {
    const { patch } = await makeItem();
    const { status, body } = await patch(...Array.from({ length: 1001 }, () => OPERATION));
    expect([status, body.message]).toEqual([400, expect.stringContaining("1000")]);
  });
});
