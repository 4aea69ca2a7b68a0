import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { KEEP_NOTHING, setVariables } from "../support/bindings.ts";
import type { VaultCoordinator } from "../../src/index.ts";
import { bytesOf, freshFile, pattern, stateOf, threePieces } from "../support/files.ts";
import type { Reply } from "../support/service.ts";

/**
 * Repeated writes to Files: by a client with an Idempotency-Key (contract 10.9, 10.10, 10.12, 10.18), or by the Worker
 * after the coordinator was reset.
 */

const WRITES = ["POST", "PUT", "DELETE"] as const;
const KEY = { "Idempotency-Key": "key" };
const statusAndText = ({ status, text }: Reply) => [status, text];

describe("a repeated request with the same Idempotency-Key", () => {
  it.each(WRITES)("gets the first answer, and has no second effect or object: %s", async (method) => {
    const fixture = await freshFile();
    const first = await fixture.writes[method](KEY);
    const after = await stateOf(fixture);
    expect([200, 204]).toContain(first.status);
    expect(statusAndText(await fixture.writes[method](KEY))).toEqual(statusAndText(first));
    expect(statusAndText(await fixture.writes[method](KEY))).toEqual(statusAndText(first));
    expect(await stateOf(fixture)).toEqual(after);
  });

  it.each(["POST", "PUT"] as const)(
    "that is sent five times concurrently is one write and stores one object: %s",
    async (method) => {
      const fixture = await freshFile();
      const replies = await Promise.all(Array.from({ length: 5 }, () => fixture.writes[method](KEY)));
      expect(new Set(replies.map((reply) => JSON.stringify(statusAndText(reply)))).size).toBe(1);
      const { item, objects } = await stateOf(fixture);
      expect([item.version, objects.length]).toEqual([3, 2]);
    },
  );

  it("returns a File that can be downloaded", async () => {
    const { writes, download } = await freshFile();
    await writes.POST(KEY, pattern(77));
    const { body } = await writes.POST(KEY, pattern(77));
    expect(await bytesOf(await download(body.id))).toEqual(pattern(77));
  });

  it.each(["POST", "PUT"] as const)(
    "gets the first answer after a later write to the Item, and stores no object: %s",
    async (method) => {
      const fixture = await freshFile();
      const first = await fixture.writes[method](KEY, pattern(5));
      await fixture.writes.PUT({}, pattern(6));
      const after = await stateOf(fixture);
      const reply = await fixture.writes[method](KEY, pattern(5));
      expect([reply.status, reply.text]).toEqual([200, first.text]);
      expect(await stateOf(fixture)).toEqual(after);
      expect(await bytesOf(await fixture.download(fixture.file.id))).toEqual(pattern(6));
    },
  );

  it.each(["POST", "PUT"] as const)(
    "is a 409 `overtaken` after a later write to the Item when no version is kept, and stores no object: %s",
    async (method) => {
      const fixture = await freshFile();
      await setVariables(fixture.vault, KEEP_NOTHING);
      await fixture.writes[method](KEY, pattern(5));
      await fixture.writes.PUT({}, pattern(6));
      const after = await stateOf(fixture);
      const reply = await fixture.writes[method](KEY, pattern(5));
      expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([409, "overtaken"]);
      expect(await stateOf(fixture)).toEqual(after);
      expect(await bytesOf(await fixture.download(fixture.file.id))).toEqual(pattern(6));
    },
  );

  it("is answered 204 after a later write to the Item: DELETE", async () => {
    const fixture = await freshFile();
    await fixture.writes.DELETE(KEY);
    await fixture.writes.POST({}, pattern(6));
    const after = await stateOf(fixture);
    expect((await fixture.writes.DELETE(KEY)).status).toBe(204);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it("may lack the Content-Length of the first request", async () => {
    const fixture = await freshFile();
    const first = await fixture.writes.POST(KEY, pattern(9));
    const again = await fixture.call("POST", `${fixture.files}?name=g`, { headers: KEY, body: new Blob([pattern(9)]).stream() });
    expect(statusAndText(again)).toEqual(statusAndText(first));
  });
});

describe("another request with the same Idempotency-Key is answered 409 and stores nothing", () => {
  it.each(["POST", "PUT"] as const)("when its bytes differ: %s", async (method) => {
    const fixture = await freshFile();
    await fixture.writes[method](KEY, pattern(5));
    const after = await stateOf(fixture);
    expect((await fixture.writes[method](KEY, pattern(6))).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it("when one byte of any of its pieces differs", async () => {
    const { bytes, others } = threePieces();
    const fixture = await freshFile();
    await fixture.writes.POST(KEY, bytes);
    const after = await stateOf(fixture);
    for (const other of others) expect((await fixture.writes.POST(KEY, other)).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it.each(["?name=h", "?name=g&section=s"])("when its name or section differs: %s", async (query) => {
    const fixture = await freshFile();
    await fixture.writes.POST(KEY, pattern(5));
    const after = await stateOf(fixture);
    expect((await fixture.upload(pattern(5), query, { headers: KEY })).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });

  it("when its method or its File differs", async () => {
    const fixture = await freshFile();
    const other = (await fixture.upload(pattern(8), "?name=other")).body.id;
    await fixture.writes.PUT(KEY, pattern(5));
    const after = await stateOf(fixture);
    expect((await fixture.writes.POST(KEY, pattern(5))).status).toBe(409);
    expect((await fixture.writes.DELETE(KEY)).status).toBe(409);
    expect((await fixture.call("PUT", `${fixture.files}/${other}/content`, { headers: KEY, body: pattern(5) })).status).toBe(409);
    expect((await fixture.call("DELETE", `${fixture.files}/${other}`, { headers: KEY })).status).toBe(409);
    expect(await stateOf(fixture)).toEqual(after);
  });
});

describe("an Idempotency-Key", () => {
  it("can be used again after a request that was refused", async () => {
    const { writes } = await freshFile();
    expect((await writes.POST({ ...KEY, "If-Match": '"9"' })).status).toBe(412);
    expect((await writes.PUT(KEY)).status).toBe(200);
  });

  it.each(["", "a b", "x".repeat(256)])("of %j is answered 400, and nothing is stored", async (key) => {
    const fixture = await freshFile();
    const before = await stateOf(fixture);
    for (const method of WRITES) expect((await fixture.writes[method]({ "Idempotency-Key": key })).status).toBe(400);
    expect(await stateOf(fixture)).toEqual(before);
  });
});

/** A coordinator that carries out the first write and then throws, as one that is reset does. */
function resetAfterFirstWrite(): typeof env.COORDINATOR {
  let thrown = false;
  const getByName = (name: string) => {
    const stub = env.COORDINATOR.getByName(name);
    return {
      expect: (...args: Parameters<VaultCoordinator["expect"]>) => stub.expect(...args),
      async write(...args: Parameters<VaultCoordinator["write"]>) {
        const reply = await stub.write(...args);
        if (thrown) return reply;
        thrown = true;
        throw new Error("the Durable Object was reset");
      },
    };
  };
  return { getByName } as unknown as typeof env.COORDINATOR;
}

describe("a write whose coordinator was reset before its answer", () => {
  it.each(["POST", "PUT"] as const)("is answered with its File and takes effect once: %s", async (method) => {
    for (const headers of [{}, KEY] as Record<string, string>[]) {
      const fixture = await freshFile();
      const path = method === "POST" ? `${fixture.files}?name=g` : `${fixture.one}/content`;
      const reply = await fixture.call(method, path, {
        headers: { ...headers, "Content-Length": "5" },
        body: pattern(5),
        env: { COORDINATOR: resetAfterFirstWrite() },
      });
      const { item } = await stateOf(fixture);
      expect([reply.status, item.version]).toEqual([200, 3]);
      expect(item.files).toContainEqual(reply.body);
      expect(await bytesOf(await fixture.download(reply.body.id))).toEqual(pattern(5));
    }
  });

  it("is answered 204 and takes effect once: DELETE", async () => {
    const fixture = await freshFile();
    const reply = await fixture.call("DELETE", fixture.one, { env: { COORDINATOR: resetAfterFirstWrite() } });
    const { item } = await stateOf(fixture);
    expect([reply.status, item.version, item.files]).toEqual([204, 3, []]);
  });
});
