import { expect, it, vi } from "vitest";

/** Runs a seed in modules of its own, because the service keeps in memory what it knows of tokens and keys. */
async function hashOf(seed: number): Promise<string> {
  vi.resetModules();
  const { runSeed } = await import("./run.ts");
  return (await runSeed(seed, 60)).hash;
}

it("a seed determines everything that happens, in the order in which it happens", async () => {
  const [first, again, other] = [await hashOf(1), await hashOf(1), await hashOf(2)];
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});
