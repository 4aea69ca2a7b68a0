import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { createTestHarness, unstable_readConfig as readConfig } from "wrangler";
import { buildPackages } from "../../../scripts/build/packages.ts";
import { startReceiver } from "../../../scripts/webhook-receiver.ts";
import { LOCAL } from "../../../scripts/wrangler.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL on which the service listens, with a slash at the end. */
    readonly url: string;
    /** The origin of a receiver of webhooks (scripts/webhook-receiver.ts). */
    readonly receiver: string;
  }
}

/** A Worker that has service bindings to the service. It serves the paths below `/consumer/`. */
const CONSUMER = "test/sdk/support/consumer/wrangler.toml";

/**
 * Starts the Worker of wrangler.toml once for all tests of the SDK, the client and the command line, on a free port and with empty storage, which is deleted
 * when the Worker stops. Returns the function that stops it.
 */
export default async function start({ config, provide }: TestProject): Promise<() => Promise<void>> {
  Object.assign(process.env, LOCAL);
  // At the default level, each batch of the queue prints a line into the output of the tests.
  process.env.WRANGLER_LOG ??= "warn";
  const { secrets } = config.provide as ProvidedContext;
  const configPath = "wrangler.toml";
  // wrangler also reads a developer's .dev.vars. The variables are passed explicitly so that .dev.vars does not override them.
  const receiver = await startReceiver();
  const vars = { ...(readConfig({ config: configPath }).vars as Record<string, string | number>), WEBHOOK_TEST_ORIGIN: receiver };
  const server = createTestHarness({ workers: [{ configPath, secrets, vars }, { configPath: CONSUMER }] });
  // wrangler builds the static files (wrangler.toml).
  const [{ url }] = await Promise.all([server.listen(), buildPackages()]);
  await server.getWorker().applyD1Migrations("DB");
  provide("url", url.toString());
  provide("receiver", receiver);
  return () => server.close();
}
