import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import type { Operation } from "../../src/model/operation.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { inOneGroup } from "../support/group.ts";
import { type Client, freshVault, LOGIN, type Reply } from "../support/service.ts";

/** One operation of a group that fails must not fail the others, nor on every retry. */

let call: Client;
let vault: string;
let items: string;

beforeEach(async () => {
  ({ vault, items, call } = await freshVault());
});

/** A namespace that replaces the change of each operation whose Item has the title `poison`. */
const poison = (change: (operation: Operation) => object): Partial<Env> => ({
  COORDINATOR: {
    getByName: (name: string) => ({
      write: (operation: Operation) => {
        const poisoned = JSON.stringify(operation.change).includes("poison");
        return env.COORDINATOR.getByName(name).write((poisoned ? change(operation) : operation) as Operation);
      },
    }),
  } as unknown as Env["COORDINATOR"],
});

/** Sends five creations that share one group, the third with the title `poison`. Out: their statuses. */
async function createTogether(bindings: Partial<Env>): Promise<readonly Reply[]> {
  const creations = ["one", "two", "poison", "four", "five"].map(
    (title) => () => call("POST", items, { body: { ...LOGIN, title }, env: bindings }),
  );
  return (await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), creations)).others;
}

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);

describe("a group with one operation that fails", () => {
  it("carries out the others when the operation throws", async () => {
    const bindings = poison((operation) => ({
      ...operation,
      change: { kind: "create-item", item: crypto.randomUUID(), input: null },
    }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 500, 200, 200]);
    expect((await call("GET", items)).body).toHaveLength(5);
  });

  it("carries out the others when the operation has a kind that this release does not know", async () => {
    const bindings = poison((operation) => ({ ...operation, change: { kind: "of-a-newer-release" } }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 503, 200, 200]);
    expect(replies[2]!.headers.get("Item-Vault-Error")).toBe("version_skew");
  });

  it("carries out the others when the rows of the operation cannot be sealed", async () => {
    const bindings = poison((operation) => ({ ...operation, change: { ...operation.change, item: "x".repeat(3_000_000) } }));
    const replies = await createTogether(bindings);
    expect(statuses(replies)).toEqual([200, 200, 500, 200, 200]);
    expect((await call("GET", items)).body).toHaveLength(5);
  });
});

describe("an overloaded D1", () => {
  it("gets one try of a write, not twelve; the answer has Retry-After", async () => {
    await call("POST", items, { body: LOGIN });
    let calls = 0;
    const before = () => {
      calls++;
      throw new Error("D1_ERROR: D1 DB is overloaded. Too many requests queued.");
    };
    await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
    const reply = await call("POST", items, { body: LOGIN });
    expect([reply.status, reply.headers.get("Item-Vault-Error"), calls]).toEqual([503, "unavailable", 1]);
    expect(reply.headers.get("Retry-After")).not.toBeNull();
  });
});
