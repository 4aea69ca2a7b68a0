import { readFileSync } from "node:fs";
import { join } from "node:path";
import { forgetSchemaVersion } from "../../../src/store/d1/schema.ts";
import { recordDatabaseSize } from "../../../src/store/d1/size.ts";
import { installGlobals } from "./globals.ts";
import { NO_PLANT, type Plant, planted } from "./plants.ts";
import { useSmallSlices } from "./small-slices.ts";
import { createWorld, type World } from "./world.ts";

/** What every run has: the globals of its seed, and the variables of the Worker. */

export const ADMIN_TOKEN = "the-admin-token-of-the-simulator";
export const ROOT_KEYS = { k1: "0123456789abcdef0123456789abcdef", k2: "fedcba9876543210fedcba9876543210" };

export const withActiveKey = (bindings: Env, active: string): Env => ({
  ...bindings,
  ROOT_KEYS: JSON.stringify({ ...(JSON.parse(bindings.ROOT_KEYS) as object), active }),
});

/** The variables of wrangler.toml. */
function variables(): Record<string, unknown> {
  const toml = readFileSync(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
  const section = /^\[vars\]\n([^[]*)/m.exec(toml)![1]!;
  return Object.fromEntries([...section.matchAll(/^(\w+) = (.*)$/gm)].map(([, name, value]) => [name, JSON.parse(value!)]));
}

/** Lets `play` happen in a world of the seed, until it has ended. */
export async function runWorld<T>(seed: number, plant: Plant, play: (world: World) => Promise<T>): Promise<T> {
  const world = createWorld(seed, plant);
  const restore = installGlobals(world.clock, world.random);
  planted.plant = plant;
  forgetSchemaVersion(); // the run before this one has loaded it
  recordDatabaseSize(0);
  useSmallSlices();
  try {
    const played = play(world);
    const state = { over: false };
    played.then(
      () => (state.over = true),
      () => (state.over = true),
    );
    await world.clock.run(() => state.over);
    return await played;
  } finally {
    planted.plant = NO_PLANT;
    restore();
    world.database.close();
  }
}

/** The runs of this process so far. */
let runs = 0;

export function createBindings(seed: number): Env {
  const limiter = { limit: async () => ({ success: true }) };
  const rootKeys = Object.fromEntries(Object.entries(ROOT_KEYS).map(([id, key]) => [id, Buffer.from(key).toString("base64")]));
  return {
    ...variables(),
    ADMIN_TOKEN,
    ROOT_KEYS: JSON.stringify({ active: "k1", keys: rootKeys, seed }),
    // Different in each run: the service remembers with it for a minute which tokens D1 has refused, and a repeated seed issues the same.
    TOKENS_NOT_BEFORE: new Date(runs++).toISOString(),
    BACKUPS_KEPT: 1,
    TOKEN_RATE: limiter,
    FAILURE_RATE: limiter,
    DENIAL_RATE: limiter,
    SESSION_RATE: limiter,
  } as unknown as Env;
}
