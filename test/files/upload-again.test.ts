import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { VaultCoordinator } from "../../src/index.ts";
import { bytesOf, freshFile, pattern, stateOf } from "../support/files.ts";
import type { Reply } from "../support/service.ts";

/** A write to Files that is sent again: by a client with an Idempotency-Key, or by the Worker after a lost connection. */

const WRITES = ["POST", "PUT", "DELETE"] as const;
const KEY = { "Idempotency-Key": "key" };
const answer = ({ status, text }: Reply) => [status, text];

describe("the same request with the same key", () => {
  it.each(WRITES)("has the first answer, and no second effect or object: %s", async (method) => {
    const world = await freshFile();
    const first = await world.writes[method](KEY);
    const after = await stateOf(world);
    expect([200, 204]).toContain(first.status);
    expect(answer(await world.writes[method](KEY))).toEqual(answer(first));
    expect(answer(await world.writes[method](KEY))).toEqual(answer(first));
    expect(await stateOf(world)).toEqual(after);
  });

  it.each(["POST", "PUT"] as const)("at once five times is one write and leaves one object more: %s", async (method) => {
    const world = await freshFile();
    const replies = await Promise.all(Array.from({ length: 5 }, () => world.writes[method](KEY)));
    expect(new Set(replies.map((reply) => JSON.stringify(answer(reply)))).size).toBe(1);
    const { item, objects } = await stateOf(world);
    expect([item.version, objects.length]).toEqual([3, 2]);
  });

  it("gives the file that can be downloaded", async () => {
    const { writes, download } = await freshFile();
    await writes.POST(KEY, pattern(77));
    const { body } = await writes.POST(KEY, pattern(77));
    expect(await bytesOf(await download(body.id))).toEqual(pattern(77));
  });

  it("does not bring back what came between: later content stays", async () => {
    const { writes, download, file } = await freshFile();
    await writes.PUT(KEY, pattern(5));
    await writes.PUT({}, pattern(6));
    expect((await writes.PUT(KEY, pattern(5))).status).toBe(200);
    expect(await bytesOf(await download(file.id))).toEqual(pattern(6));
  });

  it("may come with or without a Content-Length", async () => {
    const world = await freshFile();
    const first = await world.writes.POST(KEY, pattern(9));
    const again = await world.call("POST", `${world.files}?name=g`, { headers: KEY, body: new Blob([pattern(9)]).stream() });
    expect(answer(again)).toEqual(answer(first));
  });
});

describe("another request with the same key is a 409, and nothing is left of it", () => {
  it.each(["POST", "PUT"] as const)("other bytes: %s", async (method) => {
    const world = await freshFile();
    await world.writes[method](KEY, pattern(5));
    const after = await stateOf(world);
    expect((await world.writes[method](KEY, pattern(6))).status).toBe(409);
    expect(await stateOf(world)).toEqual(after);
  });

  it.each(["?name=h", "?name=g&section=s"])("another name or section: %s", async (query) => {
    const world = await freshFile();
    await world.writes.POST(KEY, pattern(5));
    const after = await stateOf(world);
    expect((await world.upload(pattern(5), query, { headers: KEY })).status).toBe(409);
    expect(await stateOf(world)).toEqual(after);
  });

  it("another method, another file", async () => {
    const world = await freshFile();
    const other = (await world.upload(pattern(8), "?name=other")).body.id;
    await world.writes.PUT(KEY, pattern(5));
    const after = await stateOf(world);
    expect((await world.writes.POST(KEY, pattern(5))).status).toBe(409);
    expect((await world.writes.DELETE(KEY)).status).toBe(409);
    expect((await world.call("PUT", `${world.files}/${other}/content`, { headers: KEY, body: pattern(5) })).status).toBe(409);
    expect((await world.call("DELETE", `${world.files}/${other}`, { headers: KEY })).status).toBe(409);
    expect(await stateOf(world)).toEqual(after);
  });
});

describe("a key", () => {
  it("is free after a request that was refused", async () => {
    const { writes } = await freshFile();
    expect((await writes.POST({ ...KEY, "If-Match": '"9"' })).status).toBe(412);
    expect((await writes.PUT(KEY)).status).toBe(200);
  });

  it.each(["", "a b", "x".repeat(256)])("that is %j is a 400, and nothing is stored", async (key) => {
    const world = await freshFile();
    const before = await stateOf(world);
    for (const method of WRITES) expect((await world.writes[method]({ "Idempotency-Key": key })).status).toBe(400);
    expect(await stateOf(world)).toEqual(before);
  });
});

/** A coordinator that carries out the first write and then loses its caller, as one that is reset does. */
function losesTheFirstAnswer(): typeof env.COORDINATOR {
  let lost = false;
  const getByName = (name: string) => {
    const stub = env.COORDINATOR.getByName(name);
    return {
      expect: (...given: Parameters<VaultCoordinator["expect"]>) => stub.expect(...given),
      async write(...given: Parameters<VaultCoordinator["write"]>) {
        const reply = await stub.write(...given);
        if (lost) return reply;
        lost = true;
        throw new Error("the Durable Object was reset");
      },
    };
  };
  return { getByName } as unknown as typeof env.COORDINATOR;
}

describe("a write whose answer was lost on the way to the Worker", () => {
  it.each(["POST", "PUT"] as const)("is answered with its File, and took effect once: %s", async (method) => {
    for (const headers of [{}, KEY] as Record<string, string>[]) {
      const world = await freshFile();
      const path = method === "POST" ? `${world.files}?name=g` : `${world.one}/content`;
      const reply = await world.call(method, path, {
        headers: { ...headers, "Content-Length": "5" },
        body: pattern(5),
        env: { COORDINATOR: losesTheFirstAnswer() },
      });
      const { item } = await stateOf(world);
      expect([reply.status, item.version]).toEqual([200, 3]);
      expect(item.files).toContainEqual(reply.body);
      expect(await bytesOf(await world.download(reply.body.id))).toEqual(pattern(5));
    }
  });

  it("is a 204, and took effect once: DELETE", async () => {
    const world = await freshFile();
    const reply = await world.call("DELETE", world.one, { env: { COORDINATOR: losesTheFirstAnswer() } });
    const { item } = await stateOf(world);
    expect([reply.status, item.version, item.files]).toEqual([204, 3, []]);
  });
});
