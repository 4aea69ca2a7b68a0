import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { createTestHarness, unstable_readConfig as readConfig } from "wrangler";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the service listens, with a slash at the end. */
    readonly url: string;
  }
}

/** The least of D1 that making the tables takes. (Its types are those of Workers, not of Node.) */
interface Database {
  readonly prepare: (sql: string) => unknown;
  readonly batch: (statements: readonly unknown[]) => Promise<unknown>;
}

/**
 * Starts the Worker of wrangler.toml once for all tests of the SDK, on a port that is free, with empty storage that goes
 * with it. Out: what stops it.
 */
export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  // As in `npm start`.
  Object.assign(process.env, { X_LOCAL_OBSERVABILITY: "false", X_LOCAL_EXPLORER: "false", WRANGLER_SEND_METRICS: "false" });
  // Without it, each batch of the queue prints a line between those of the tests.
  process.env.WRANGLER_LOG ??= "warn";
  const { secrets, schema } = config.provide as ProvidedContext;
  const configPath = "wrangler.toml";
  // Given once more, so that a developer's .dev.vars, which wrangler reads by itself, does not have the last word on them.
  const vars = readConfig({ config: configPath }).vars as Record<string, string | number>;
  const server = createTestHarness({ workers: [{ configPath, secrets, vars }] });
  const { url } = await server.listen();
  const { DB } = await server.getWorker<{ DB: Database }>().getEnv();
  await DB.batch(schema.flatMap(({ queries }) => queries).map((sql) => DB.prepare(sql)));
  provide("url", url.toString());
  return () => server.close();
}
