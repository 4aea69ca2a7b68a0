import { describe, expect, it } from "vitest";
import { type Hooks, withoutFence } from "../support/bindings.ts";
import { runConcurrentPatches, type Outcome } from "../support/concurrent-patches.ts";
import { freshItem, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";

/** Concurrent writes take effect one after the other, each of them once (contract 10.5, 10.6). */

/** 500 PATCHes in the long run. Their cost grows with the square of their number: each reads and writes the fields of all before it. */
const LOAD = { clients: 50, each: runs(2, 10) };
const TOTAL = LOAD.clients * LOAD.each;
const versions = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Expects that no write is lost or applied twice: each acknowledged write has its own version, and the Item its field once. */
function expectExactlyOnce({ acknowledged, refused, promised, item, logged }: Outcome): void {
  expect(refused.map((reply) => reply.text)).toEqual([]);
  expect(acknowledged.map((reply) => reply.body.version).toSorted((a, b) => a - b)).toEqual(versions(2, TOTAL + 1));
  expect(item.version).toBe(TOTAL + 1);
  expect(item.fields.map((field) => field.id).toSorted()).toEqual(promised.toSorted());
  expect(logged).toBe(TOTAL + 1);
}

/** Lets one D1 call in ten throw: half of them before the batch takes effect, half after it. */
function failing(random: () => number): Hooks {
  const fail = () => {
    if (random() < 0.05) throw new Error("D1_ERROR: Network connection lost.");
  };
  return { before: fail, after: fail };
}

describe(`${TOTAL} PATCHes of one Item by 50 clients`, () => {
  it("all take effect once, in one order", async () => {
    expectExactlyOnce(await runConcurrentPatches(LOAD));
  });

  it("all take effect once, with two coordinators of the vault", async () => {
    expectExactlyOnce(await runConcurrentPatches({ ...LOAD, coordinators: 2 }));
  });

  it("all take effect once when one D1 call in ten fails before or after its commit", async () => {
    expectExactlyOnce(await runConcurrentPatches({ ...LOAD, hooks: failing }));
  });

  it("all take effect once, with two coordinators and failing D1 calls", async () => {
    expectExactlyOnce(await runConcurrentPatches({ ...LOAD, coordinators: 2, hooks: failing, seed: 2 }));
  });

  it("all take effect once without an Idempotency-Key, because the coordinator reads the outcome of an attempt in the log", async () => {
    expectExactlyOnce(await runConcurrentPatches({ ...LOAD, hooks: failing, keyed: false, seed: 5 }));
  });

  it("are partly lost without the fence, which shows that these tests can fail", async () => {
    const { promised, item } = await runConcurrentPatches({ ...LOAD, coordinators: 2, hooks: () => ({ rewrite: withoutFence }) });
    expect(item.fields.length).toBeLessThan(promised.length);
  });
});

it("a write whose body takes long is logged in the order of its effect (contract 13.5), under the Request-Id of its response", async () => {
  const { call, path, upload, vault } = await freshItem();
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = new ReadableStream({
    type: "bytes",
    async pull(controller: ReadableByteStreamController) {
      begun.resolve();
      await gate.promise;
      controller.enqueue(pattern(10));
      controller.close();
    },
  });
  const uploading = upload(slow);
  await begun.promise;
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  gate.resolve();
  const uploaded = await uploading;
  const { body: log } = await call("GET", "/v1/activity");
  const writes = log.filter(({ resource, action }: any) => resource.vault?.id === vault && action !== "READ" && resource.item);
  expect(writes.map(({ resource }: any) => resource.itemVersion)).toEqual([3, 2, 1]);
  expect(writes[0].requestId).toBe(uploaded.headers.get("Request-Id"));
});
