import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type Hooks, rebindCoordinator, seeded, sleep, withoutFence } from "../support/bindings.ts";
import { alternatingCoordinators, delayedDatabase } from "../support/concurrent-patches.ts";
import { freshItem, pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** Concurrent writes take effect one after the other, each of them once (contract 10.5, 10.6). */

/** 500 PATCHes in the long run. Their cost grows with the square of their number: each reads and writes the fields of all before it. */
const [CLIENTS, EACH] = [50, runs(2, 10)];
const TOTAL = CLIENTS * EACH;
const versions = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** How the clients send their PATCHes, of each of which an answer, and the final state, are returned. */
interface Load {
  /** The number of Durable Objects that act as coordinator of the vault. */
  readonly coordinators?: number;
  /** Hooks for the D1 calls of the coordinators, in addition to random delays of a few milliseconds. */
  readonly hooks?: (random: () => number) => Hooks;
  /** Whether the clients send an Idempotency-Key and retry after a 503. Otherwise each request is sent once. */
  readonly keyed?: boolean;
  readonly seed?: number;
}

/** Many clients add fields to one Item. */
async function patchConcurrently({ coordinators = 1, hooks, keyed = true, seed = 1 }: Load = {}) {
  const { vault, items, call } = await freshVault();
  const { body: created } = await call("POST", items, { body: LOGIN });
  const random = seeded(seed);
  const names = Array.from({ length: coordinators }, (_, index) => (index === 0 ? vault : `${vault} again ${index}`));
  for (const name of names) await rebindCoordinator(name, { DB: delayedDatabase(random, hooks?.(random) ?? {}) });
  const bindings = { COORDINATOR: alternatingCoordinators(names) };
  const path = `${items}/${created.id}`;
  const patch = async (id: string): Promise<[string, Reply]> => {
    const body = [{ op: "add", path: `/fields/${id}`, value: { value: id } }];
    return [id, await (keyed ? retried(call, path, body, id, bindings) : call("PATCH", path, { body, env: bindings }))];
  };
  const work = Array.from({ length: CLIENTS }, async (_, client) => {
    const replies: [string, Reply][] = [];
    for (let n = 0; n < EACH; n++) replies.push(await patch(`c${client}n${n}`));
    return replies;
  });
  const replies = (await Promise.all(work)).flat();
  const { body: item } = await call("GET", path);
  const sql = "SELECT count(*) AS n FROM activity WHERE vault_id = ? AND item_id = ?";
  const logged = await env.DB.prepare(sql).bind(vault, created.id).first<number>("n");
  return {
    acknowledged: replies.filter(([, { status }]) => status === 200),
    refused: replies.filter(([, { status }]) => status !== 200),
    item,
    logged,
  };
}

/** Retries a PATCH after a 503, which the Idempotency-Key makes safe (contract 10.15). */
async function retried(call: Client, path: string, body: unknown, key: string, bindings: Partial<Env>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await call("PATCH", path, { body, headers: { "Idempotency-Key": key }, env: bindings });
    if (reply.status !== 503 || attempt === 5) return reply;
    await sleep(5);
  }
}

/** Expects that no write is lost or applied twice: each acknowledged write has its own version, and the Item its field once. */
async function expectExactlyOnce(load: Load = {}): Promise<void> {
  const { acknowledged, refused, item, logged } = await patchConcurrently(load);
  expect(refused.map(([, { text }]) => text)).toEqual([]);
  expect(acknowledged.map(([, { body }]) => body.version).toSorted((a, b) => a - b)).toEqual(versions(2, TOTAL + 1));
  expect(item.version).toBe(TOTAL + 1);
  expect(item.fields.map(({ id }: { id: string }) => id).toSorted()).toEqual(acknowledged.map(([id]) => id).toSorted());
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
  it.each<readonly [string, Load]>([
    ["in one order", {}],
    ["with two coordinators of the vault", { coordinators: 2 }],
    ["when one D1 call in ten fails before or after its commit", { hooks: failing }],
    ["with two coordinators and failing D1 calls", { coordinators: 2, hooks: failing, seed: 2 }],
    [
      "without an Idempotency-Key, because the coordinator reads the outcome of an attempt in the log",
      { hooks: failing, keyed: false, seed: 5 },
    ],
  ])("all take effect once, %s", (_, load) => expectExactlyOnce(load));

  it("are partly lost without the fence, which shows that these tests can fail", async () => {
    const { acknowledged, item } = await patchConcurrently({ coordinators: 2, hooks: () => ({ rewrite: withoutFence }) });
    expect(item.fields.length).toBeLessThan(acknowledged.length);
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
