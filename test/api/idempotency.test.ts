import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { type Client, client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** Idempotency-Key (contract 2.2): one request, one effect, one answer, however often it is sent. */

type Send = (body?: unknown, key?: string) => ReturnType<Client>;

/** A vault with one Item, and each kind of write to it. */
async function world() {
  const { vault, items, call } = await freshVault();
  const item = (await call("POST", items, { body: { ...LOGIN, tags: ["a"] } })).body;
  const path = `${items}/${item.id}`;
  const write =
    (method: string, to: string, standard: unknown): Send =>
    (body = standard, key = "key") =>
      call(method, to, { body, headers: { "Idempotency-Key": key } });
  const writes: Record<string, Send> = {
    POST: write("POST", items, { ...LOGIN, fields: [{ purpose: "PASSWORD", generate: true }] }),
    PUT: write("PUT", path, { ...item, title: "Put", fields: [{ purpose: "PASSWORD", generate: true }] }),
    PATCH: write("PATCH", path, [{ op: "add", path: "/tags/-", value: "b" }]),
    DELETE: write("DELETE", path, undefined),
  };
  const read = async () => ({ vault: (await call("GET", `/v1/vaults/${vault}`)).body, items: (await call("GET", items)).body });
  return { vault, items, path, call, item, writes, read };
}

const METHODS = ["POST", "PUT", "PATCH", "DELETE"];
const answer = ({ status, text, headers }: Awaited<ReturnType<Client>>) => [status, text, headers.get("ETag")];

describe("a request that is sent again with its key", () => {
  it.each(METHODS)("has the first answer byte for byte, and no second effect: %s", async (method) => {
    const { writes, read } = await world();
    const first = await writes[method]!();
    const after = await read();
    expect([200, 204]).toContain(first.status);
    expect(answer(await writes[method]!())).toEqual(answer(first));
    expect(answer(await writes[method]!())).toEqual(answer(first));
    expect(await read()).toEqual(after);
  });

  it.each(METHODS)("has the first answer still after later writes, and leaves these alone: %s", async (method) => {
    const { items, path, call, writes, read } = await world();
    const first = await writes[method]!();
    await call("POST", items, { body: LOGIN });
    for (const { id } of (await read()).items) {
      await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "Later" }] });
    }
    const after = await read();
    expect(answer(await writes[method]!())).toEqual(answer(first));
    await call("DELETE", path);
    expect(answer(await writes[method]!())).toEqual(answer(first));
    expect((await read()).items).toEqual(after.items.filter((item: { id: string }) => !path.endsWith(item.id)));
  });

  it.each(METHODS)("has one effect and one answer when it is sent five times at once: %s", async (method) => {
    const { vault, writes, read } = await world();
    const replies = await Promise.all(Array.from({ length: 5 }, () => writes[method]!()));
    expect(new Set(replies.map((reply) => JSON.stringify(answer(reply)))).size).toBe(1);
    expect((await read()).vault).toMatchObject({ id: vault, contentVersion: 2 });
  });

  it.each(METHODS)("has one effect and one answer when all of it is in one commit: %s", async (method) => {
    const { vault, items, call, writes, read } = await world();
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before: () => sleep(10) }) });
    const ahead = call("POST", items, { body: LOGIN }); // the others wait for it, together
    await sleep(5);
    const replies = await Promise.all(Array.from({ length: 5 }, () => writes[method]!()));
    expect((await ahead).status).toBe(200);
    expect(new Set(replies.map((reply) => JSON.stringify(answer(reply)))).size).toBe(1);
    expect((await read()).vault).toMatchObject({ id: vault, contentVersion: 3 });
  });

  it("makes no second Item", async () => {
    const { writes, read } = await world();
    const [first, second] = [(await writes["POST"]!()).body, (await writes["POST"]!()).body];
    expect([second, (await read()).vault.items]).toEqual([first, 2]);
  });

  it("is not refused by an If-Match that held the first time", async () => {
    const { path, call } = await world();
    const request = { body: [{ op: "remove", path: "/tags" }], headers: { "If-Match": '"1"', "Idempotency-Key": "key" } };
    const first = await call("PATCH", path, request);
    expect([first.status, answer(await call("PATCH", path, request))]).toEqual([200, answer(first)]);
  });

  it("can name its Item in either form of the id", async () => {
    const { item, vault, path } = await world();
    const ids = (dialect: "uuid" | "connect") => freshTokenFor(vault, dialect);
    const short = (await (await ids("connect"))("GET", path)).body.id;
    const call = await ids("uuid");
    const remove = (id: string) => call("DELETE", path.replace(item.id, id), { headers: { "Idempotency-Key": "key" } });
    expect([(await remove(item.id)).status, (await remove(short)).status]).toEqual([204, 204]);
  });
});

const freshTokenFor = async (vault: string, dialect: "uuid" | "connect" = "uuid") =>
  client((await makeToken({ [vault]: "rw" }, { dialect })).token);

describe("a key that came with another request before", () => {
  it.each(["POST", "PUT", "PATCH"])("is a 409 with another body, and nothing happens: %s", async (method) => {
    const { item, writes, read } = await world();
    await writes[method]!();
    const after = await read();
    const body = method === "PATCH" ? [{ op: "add", path: "/tags/-", value: "c" }] : { ...item, title: "Other" };
    const { status, body: error } = await writes[method]!(body);
    expect([status, error]).toEqual([409, { status: 409, message: expect.any(String) }]);
    expect(await read()).toEqual(after);
  });

  it("is a 409 with a body that means the same in other bytes", async () => {
    const { writes } = await world();
    await writes["POST"]!('{"category":"LOGIN"}');
    expect((await writes["POST"]!('{"category": "LOGIN"}')).status).toBe(409);
  });

  it("is a 409 with another method", async () => {
    for (const first of METHODS) {
      const { writes, read } = await world();
      await writes[first]!();
      const after = await read();
      for (const second of METHODS.filter((method) => method !== first)) {
        expect([first, second, (await writes[second]!()).status]).toEqual([first, second, 409]);
      }
      expect(await read()).toEqual(after);
    }
  });

  it("is a 409 with another path", async () => {
    const { items, call, item, writes } = await world();
    const other = (await call("POST", items, { body: LOGIN })).body;
    await writes["PATCH"]!();
    const body = [{ op: "add", path: "/tags/-", value: "b" }];
    expect(other.id).not.toBe(item.id);
    expect((await call("PATCH", `${items}/${other.id}`, { body, headers: { "Idempotency-Key": "key" } })).status).toBe(409);
  });
});

describe("a key", () => {
  it("of another token is another key", async () => {
    const { vault, items, writes, read } = await world();
    await writes["POST"]!({ ...LOGIN, title: "Mine" });
    const other = await freshTokenFor(vault);
    const reply = await other("POST", items, { body: { ...LOGIN, title: "Theirs" }, headers: { "Idempotency-Key": "key" } });
    expect([reply.status, reply.body.title, (await read()).vault.items]).toEqual([200, "Theirs", 3]);
  });

  it("in another case is another key", async () => {
    const { writes } = await world();
    expect((await writes["POST"]!(LOGIN, "key")).body.id).not.toBe((await writes["POST"]!(LOGIN, "KEY")).body.id);
  });

  it("is free after a request that failed", async () => {
    const { writes } = await world();
    expect((await writes["PUT"]!({})).status).toBe(400);
    expect((await writes["PATCH"]!([{ op: "remove", path: "/fields/none" }])).status).toBe(400);
    expect((await writes["POST"]!()).status).toBe(200);
  });

  it.each(["", "a b", "x".repeat(256), "\u00e9"])("that is %j is a 400, and nothing happens", async (key) => {
    const { writes, read } = await world();
    const before = await read();
    for (const method of METHODS) expect([method, (await writes[method]!(undefined, key)).status]).toEqual([method, 400]);
    expect(await read()).toEqual(before);
  });

  it("has up to 255 visible characters", async () => {
    const { writes } = await world();
    const key = "!~\"'".padEnd(255, "x");
    expect((await writes["POST"]!(LOGIN, key)).body).toEqual((await writes["POST"]!(LOGIN, key)).body);
  });
});
