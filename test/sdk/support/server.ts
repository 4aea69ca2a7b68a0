import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { createTestHarness, unstable_readConfig as readConfig } from "wrangler";
import { LOCAL } from "../../../scripts/wrangler.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the service listens, with a slash at the end. */
    readonly url: string;
  }
}

/**
 * Starts the Worker of wrangler.toml once for all tests of the SDK, on a port that is free, with empty storage that goes
 * with it. Out: what stops it.
 */
export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  Object.assign(process.env, LOCAL);
  // Without it, each batch of the queue prints a line between those of the tests.
  process.env.WRANGLER_LOG ??= "warn";
  const { secrets } = config.provide as ProvidedContext;
  const configPath = "wrangler.toml";
  // Given once more, so that a developer's .dev.vars, which wrangler reads by itself, does not have the last word on them.
  const vars = readConfig({ config: configPath }).vars as Record<string, string | number>;
  const server = createTestHarness({ workers: [{ configPath, secrets, vars }] });
  const { url } = await server.listen();
  await server.getWorker().applyD1Migrations("DB");
  provide("url", url.toString());
  return () => server.close();
}
