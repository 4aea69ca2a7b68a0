import { createTestHarness, unstable_readConfig as readConfig } from "wrangler";
import { LOCAL } from "../../../scripts/wrangler.ts";

export interface StartedWorker {
  /** The URL on which the service listens, with a slash at the end. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const CONFIG = "wrangler.toml";

/**
 * Starts the Worker of wrangler.toml with its static files, on a free port and with empty storage, which is deleted when the Worker
 * stops. `vars`: besides those of wrangler.toml. `others`: configurations of Workers beside it.
 */
export async function startWorker(
  secrets: Readonly<Record<string, string>>,
  vars: Readonly<Record<string, string>> = {},
  others: readonly string[] = [],
): Promise<StartedWorker> {
  Object.assign(process.env, LOCAL);
  // At the default level, each batch of the queue prints a line into the output of the tests.
  process.env["WRANGLER_LOG"] ??= "warn";
  // wrangler also reads a developer's .dev.vars. The variables are passed explicitly so that .dev.vars does not override them.
  const all = { ...(readConfig({ config: CONFIG }).vars as Record<string, string | number>), ...vars };
  const workers = [{ configPath: CONFIG, secrets, vars: all }, ...others.map((configPath) => ({ configPath }))];
  const server = createTestHarness({ workers });
  // wrangler builds the static files (wrangler.toml).
  const { url } = await server.listen();
  await server.getWorker().applyD1Migrations("DB");
  return { url: url.toString(), close: () => server.close() };
}
