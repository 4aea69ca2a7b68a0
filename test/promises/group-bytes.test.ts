import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** A commit holds at most 32 operations, and at most 4 MiB of their bodies. */

const MIB = 1024 * 1024;

/**
 * A vault whose first commit takes so long that all writes after it wait together, also on a machine under load. `created`
 * lists how many Items each commit has created.
 */
async function slowVault() {
  const world = await freshVault();
  const created: number[] = [];
  await world.call("POST", world.items, { body: LOGIN });
  // A commit that creates n Items has n statements beside those of the log and the vault.
  const before = async (statements: number) => {
    created.push(statements - 2);
    await sleep(created.length === 1 ? 1_500 : 10);
  };
  await rebindCoordinator(world.vault, { DB: wrapDatabase(env.DB, { before }) });
  return { ...world, created };
}

const bodyOf = (size: number) => JSON.stringify(LOGIN).padEnd(size, " ");

describe("a group of writes", () => {
  it("has at most 4 MiB of bodies: 12 bodies of 1 MiB take four commits", async () => {
    const { call, items, created } = await slowVault();
    const first = call("POST", items, { body: LOGIN });
    await sleep(100);
    const replies = await Promise.all(Array.from({ length: 12 }, () => call("POST", items, { body: bodyOf(MIB) })));
    await first;
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(created).toEqual([1, 4, 4, 4]);
  });

  it("has as many small writes as before: 12 take two commits", async () => {
    const { call, items, created } = await slowVault();
    const first = call("POST", items, { body: LOGIN });
    await sleep(100);
    await Promise.all(Array.from({ length: 12 }, () => call("POST", items, { body: bodyOf(1024) })));
    await first;
    expect(created).toEqual([1, 12]);
  });
});
