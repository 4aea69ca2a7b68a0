import { describe, expect, it } from "vitest";
import { otherTag, tagAt } from "../support/etags.ts";
import { LOGIN, shareVault } from "../support/service.ts";

/** `If-Match` and `If-None-Match` of Items (contract 10.1 to 10.4). */

const sharedVault = shareVault();

/** Makes an Item of version 2. `writes` are the writes that the tests send to it. */
async function itemAtTwo() {
  const { items, call } = await sharedVault();
  const first = await call("POST", items, { body: LOGIN });
  const path = `${items}/${first.body.id}`;
  const second = await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Two" }] });
  const item = second.body;
  const tags = new Map([first, second].map(({ body, headers }) => [`"${body.version}"`, headers.get("ETag")!]));
  /** Replaces "1" and "2" by the entity tags of these versions. */
  const withTags = (header: string) => header.replaceAll(/"[12]"/g, (version) => tags.get(version)!);
  const writes = [
    ["PATCH", [{ op: "replace", path: "/title", value: "Three" }]],
    ["PATCH", []],
    ["PUT", { ...item, title: "Four" }],
    ["DELETE", undefined],
  ] as const;
  return { path, call, item, writes, tag: tags.get('"2"')!, withTags, read: async () => call("GET", path) };
}

describe("If-Match", () => {
  it.each(['"1"', otherTag(2), 'W/"1"', '"1","3"', '"two"'])(
    "%s answers every write to version 2 with 412, and the Item is unchanged",
    async (header) => {
      const { path, call, item, writes, withTags, read } = await itemAtTwo();
      for (const [method, body] of writes) {
        const reply = await call(method, path, { body, headers: { "If-Match": withTags(header) } });
        expect([method, reply.status, reply.body]).toEqual([method, 412, { status: 412, message: expect.any(String) }]);
      }
      expect((await read()).body).toEqual(item);
    },
  );

  it("with the bare version for a tag answers every write with 412, and the Item is unchanged", async () => {
    const { path, call, item, writes, read } = await itemAtTwo();
    for (const [method, body] of writes) {
      const { status } = await call(method, path, { body, headers: { "If-Match": '"2"' } });
      expect([method, status]).toEqual([method, 412]);
    }
    expect((await read()).body).toEqual(item);
  });

  it.each(["2", '"2', '"2" "3"', '*, "2"', ","])(
    "%s is malformed: the answer is 400, and the Item is unchanged",
    async (header) => {
      const { path, call, item, writes, withTags, read } = await itemAtTwo();
      for (const [method, body] of writes) {
        const reply = await call(method, path, { body, headers: { "If-Match": withTags(header) } });
        expect([method, reply.body]).toEqual([method, { status: 400, message: expect.stringMatching(/^If-Match: /) }]);
      }
      expect((await read()).body).toEqual(item);
    },
  );

  it.each(['"2"', "*", '"1", "2"', ' "2" '])("%s permits each kind of write to version 2", async (header) => {
    for (const index of [0, 1, 2, 3]) {
      const { path, call, writes, withTags } = await itemAtTwo();
      const [method, body] = writes[index]!;
      const { status } = await call(method, path, { body, headers: { "If-Match": withTags(header) } });
      expect([method, status]).toEqual([method, method === "DELETE" ? 204 : 200]);
    }
  });

  it("permits each of several writes with the ETag of the response before it", async () => {
    const { path, call, read } = await itemAtTwo();
    let tag = (await read()).headers.get("ETag")!;
    for (const version of [3, 4, 5]) {
      const body = [{ op: "replace", path: "/title", value: `${version}` }];
      const reply = await call("PATCH", path, { body, headers: { "If-Match": tag } });
      expect([reply.status, reply.body.version, reply.headers.get("ETag")]).toEqual([200, version, tagAt(version)]);
      tag = reply.headers.get("ETag")!;
    }
  });

  it("permits exactly one of several concurrent writes that name the same version", async () => {
    const { path, call, tag, read } = await itemAtTwo();
    const write = (title: string) =>
      call("PATCH", path, { body: [{ op: "replace", path: "/title", value: title }], headers: { "If-Match": tag } });
    const replies = await Promise.all(["a", "b", "c", "d"].map(write));
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412]);
    expect((await read()).body).toEqual(replies.find((reply) => reply.status === 200)!.body);
  });
});

describe("If-None-Match", () => {
  it.each(['"2"', 'W/"2"', '"1", "2"', "*"])("%s on version 2 is a 304 with its ETag and no body", async (header) => {
    const { path, call, tag, withTags } = await itemAtTwo();
    for (const method of ["GET", "HEAD"]) {
      const reply = await call(method, path, { headers: { "If-None-Match": withTags(header) } });
      expect([reply.status, reply.headers.get("ETag"), reply.text]).toEqual([304, tag, ""]);
    }
  });

  it.each(['"1"', 'W/"1"', '"1", "3"', "2", otherTag(2)])("%s on version 2 is a 200 with the Item", async (header) => {
    const { path, call, item, tag, withTags } = await itemAtTwo();
    const reply = await call("GET", path, { headers: { "If-None-Match": withTags(header) } });
    expect([reply.status, reply.headers.get("ETag"), reply.body]).toEqual([200, tag, item]);
  });

  it("with the bare version for a tag is a 200 with the tag", async () => {
    const { path, call, item, tag } = await itemAtTwo();
    const reply = await call("GET", path, { headers: { "If-None-Match": '"2"' } });
    expect([reply.status, reply.headers.get("ETag"), reply.body]).toEqual([200, tag, item]);
  });
});
