import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions as optionsOf, unstable_readConfig as readConfig } from "wrangler";
import { migrate } from "../../sdk/support/worker.ts";
import { writeClock } from "./clock.ts";

/** Runs a built Worker on stored state. */

export interface Build {
  /** The folder that holds the bundle `index.js` and the `wrangler.toml` that it was built with. Two files are added. */
  readonly folder: string;
  /** The folder of the state, as `wrangler dev --persist-to` makes it. */
  readonly state: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Milliseconds that the Worker's clock is ahead of the machine's; negative: behind. */
  readonly clockOffset: number;
}

/** A Worker that is running. */
export interface Running {
  /** Its address, without a slash at the end. */
  readonly base: string;
  /** Applies all migrations to its database, which is empty. */
  readonly migrate: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The part of a configuration that is read. wrangler's declared types need a package that is not published with it. */
interface Described {
  readonly name: string;
  readonly vars: Readonly<Record<string, unknown>>;
  readonly durable_objects: { readonly bindings: readonly { readonly class_name: string }[] };
}

/**
 * Starts a build on a free port. The state is changed by what the Worker writes. wrangler's `startWorker` would put a second workerd
 * before the Worker.
 */
export async function startBuild({ folder, state, secrets, clockOffset }: Build): Promise<Running> {
  const root = resolve(folder);
  const config = join(root, "wrangler.toml");
  const { name, vars, durable_objects } = readConfig({ config }, { hideWarnings: true }) as unknown as Described;
  const classes = durable_objects.bindings.map(({ class_name }) => class_name);
  const worker = {
    ...optionsOf(config).workerOptions,
    name,
    bindings: { ...vars, ...secrets },
    modules: writeClock(root, clockOffset, classes).map((path) => ({
      type: "ESModule",
      path,
      contents: readFileSync(path, "utf8"),
    })),
    modulesRoot: root,
  };
  const storage = { resourcePersistencePath: join(resolve(state), "v3") };
  const options = { host: "127.0.0.1", port: 0, workers: [worker], handleStructuredLogs: () => undefined, ...storage };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options as never));
  const { origin } = await miniflare.ready;
  return {
    base: origin,
    migrate: async () => migrate(await miniflare.getD1Database("DB")),
    stop: () => miniflare.dispose(),
  };
}
