import { expect, it, vi } from "vitest";

/** Modules of its own for a run, because the service keeps in memory what it knows of tokens and keys. */
async function newModules() {
  vi.resetModules();
  return import("./run.ts");
}

it("a seed determines everything that happens, in the order in which it happens", async () => {
  const { hash } = await (await newModules()).runSeed(1, 25);
  const { runSeed } = await newModules();
  expect((await runSeed(1, 25)).hash).toBe(hash);
  expect((await runSeed(2, 25)).hash).not.toBe(hash);
});

it.each([2_950_000, 4_294_967_295])("the seed %i runs as every other one", async (seed) => {
  expect((await (await newModules()).runSeed(seed, 25)).violations).toEqual([]);
});
