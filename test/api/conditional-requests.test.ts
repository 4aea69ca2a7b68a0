import { describe, expect, it } from "vitest";
import { freshVault, LOGIN } from "../support/service.ts";

/** `If-Match` and `If-None-Match` of Items (contract 10.1 to 10.4). */

/** Makes an Item of version 2. `writes` are the writes that the tests send to it. */
async function itemAtTwo() {
  const { items, call } = await freshVault();
  const { body } = await call("POST", items, { body: LOGIN });
  const path = `${items}/${body.id}`;
  const item = (await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Two" }] })).body;
  const writes = [
    ["PATCH", [{ op: "replace", path: "/title", value: "Three" }]],
    ["PATCH", []],
    ["PUT", { ...item, title: "Four" }],
    ["DELETE", undefined],
  ] as const;
  return { path, call, item, writes, read: async () => call("GET", path) };
}

describe("If-Match", () => {
  it.each(['"1"', '"3"', 'W/"2"', '"1","3"', '"two"'])(
    "%s answers every write to version 2 with 412, and the Item is unchanged",
    async (tag) => {
      const { path, call, item, writes, read } = await itemAtTwo();
      for (const [method, body] of writes) {
        const reply = await call(method, path, { body, headers: { "If-Match": tag } });
        expect([method, reply.status, reply.body]).toEqual([method, 412, { status: 412, message: expect.any(String) }]);
      }
      expect((await read()).body).toEqual(item);
    },
  );

  it.each(["2", '"2', '"2" "3"', '*, "2"', ","])(
    "%s is malformed: the answer is 400, and the Item is unchanged",
    async (header) => {
      const { path, call, item, writes, read } = await itemAtTwo();
      for (const [method, body] of writes) {
        const { status } = await call(method, path, { body, headers: { "If-Match": header } });
        expect([method, status]).toEqual([method, 400]);
      }
      expect((await read()).body).toEqual(item);
    },
  );

  it.each(['"2"', "*", '"1", "2"', ' "2" '])("%s permits each kind of write to version 2", async (header) => {
    for (const index of [0, 1, 2, 3]) {
      const { path, call, writes } = await itemAtTwo();
      const [method, body] = writes[index]!;
      const { status } = await call(method, path, { body, headers: { "If-Match": header } });
      expect([method, status]).toEqual([method, method === "DELETE" ? 204 : 200]);
    }
  });

  it("permits each of several writes with the ETag of the response before it", async () => {
    const { path, call, read } = await itemAtTwo();
    let tag = (await read()).headers.get("ETag")!;
    for (const version of [3, 4, 5]) {
      const body = [{ op: "replace", path: "/title", value: `${version}` }];
      const reply = await call("PATCH", path, { body, headers: { "If-Match": tag } });
      expect([reply.status, reply.body.version, reply.headers.get("ETag")]).toEqual([200, version, `"${version}"`]);
      tag = reply.headers.get("ETag")!;
    }
  });

  it("permits exactly one of several concurrent writes that name the same version", async () => {
    const { path, call, read } = await itemAtTwo();
    const write = (title: string) =>
      call("PATCH", path, { body: [{ op: "replace", path: "/title", value: title }], headers: { "If-Match": '"2"' } });
    const replies = await Promise.all(["a", "b", "c", "d"].map(write));
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412]);
    expect((await read()).body).toEqual(replies.find((reply) => reply.status === 200)!.body);
  });

  it.each(['"1"', "*", "nonsense"])("%s on an Item that does not exist is a 404", async (header) => {
    const { items, call } = await freshVault();
    const id = crypto.randomUUID();
    for (const [method, body] of [
      ["PUT", LOGIN],
      ["PATCH", []],
      ["DELETE", undefined],
    ] as const) {
      const reply = await call(method, `${items}/${id}`, { body, headers: { "If-Match": header } });
      expect([method, reply.body]).toEqual([method, { status: 404, message: `item ${id} not found` }]);
    }
  });
});

describe("If-None-Match", () => {
  it.each(['"2"', 'W/"2"', '"1", "2"', "*"])("%s on version 2 is a 304 with its ETag and no body", async (header) => {
    const { path, call } = await itemAtTwo();
    const reply = await call("GET", path, { headers: { "If-None-Match": header } });
    expect([reply.status, reply.headers.get("ETag"), reply.text]).toEqual([304, '"2"', ""]);
  });

  it.each(['"1"', 'W/"1"', '"1", "3"', "2"])("%s on version 2 is a 200 with the Item", async (header) => {
    const { path, call, item } = await itemAtTwo();
    const reply = await call("GET", path, { headers: { "If-None-Match": header } });
    expect([reply.status, reply.headers.get("ETag"), reply.body]).toEqual([200, '"2"', item]);
  });

  it("on an Item that does not exist is a 404", async () => {
    const { items, call } = await freshVault();
    expect((await call("GET", `${items}/${crypto.randomUUID()}`, { headers: { "If-None-Match": "*" } })).status).toBe(404);
  });

  it("is a 403 for a token without the vault", async () => {
    const { path, item } = await itemAtTwo();
    const { call: outsider } = await freshVault();
    expect(item.version).toBe(2);
    expect((await outsider("GET", path, { headers: { "If-None-Match": "*" } })).status).toBe(403);
  });
});
