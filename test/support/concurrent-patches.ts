import { env } from "cloudflare:workers";
import { type Hooks, sleep, wrapDatabase } from "./bindings.ts";

/**
 * D1 with random delays before and after each call. Without them the simulator often finishes a request before it starts the
 * next one, which hides races.
 */
export function delayedDatabase(random: () => number, { before, after, rewrite }: Hooks): D1Database {
  return wrapDatabase(env.DB, {
    rewrite,
    before: async (statements) => {
      await sleep(random() * 4);
      await before?.(statements);
    },
    after: async (results) => {
      await sleep(random() * 4);
      await after?.(results);
    },
  });
}

/** A namespace in which every name leads to several objects in turn. */
export function alternatingCoordinators(names: readonly string[]): Env["COORDINATOR"] {
  let turn = 0;
  const getByName = () => env.COORDINATOR.getByName(names[turn++ % names.length]!);
  return { getByName } as unknown as Env["COORDINATOR"];
}
