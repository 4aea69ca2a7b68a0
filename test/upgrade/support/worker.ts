import { join, resolve } from "node:path";
import { unstable_readConfig as readConfig, unstable_startWorker as startWorker } from "wrangler";
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
  readonly stop: () => Promise<void>;
}

/** The part of a configuration that is read. wrangler's declared types need a package that is not published with it. */
interface DurableObjects {
  readonly bindings: readonly { readonly class_name: string }[];
}

/** The part that is used of what wrangler's `startWorker` returns. */
interface Started {
  readonly url: Promise<URL>;
  readonly ready: Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** Starts a build on a free port. The state is changed by what the Worker writes. */
export async function startBuild({ folder, state, secrets, clockOffset }: Build): Promise<Running> {
  const moduleRoot = resolve(folder);
  const config = join(moduleRoot, "wrangler.toml");
  const { bindings } = readConfig({ config }, { hideWarnings: true }).durable_objects as DurableObjects;
  const classes = bindings.map(({ class_name }) => class_name);
  const options = {
    config,
    entrypoint: writeClock(moduleRoot, clockOffset, classes),
    // The bundle is run as it is, not built again.
    build: { bundle: false, findAdditionalModules: true, moduleRoot, moduleRules: [{ type: "ESModule", globs: ["**/*.js"] }] },
    bindings: Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, { type: "secret_text", value }])),
    dev: {
      persist: resolve(state),
      server: { hostname: "127.0.0.1", port: 0 },
      inspector: false,
      logLevel: "error",
      watch: false,
      remote: false,
    },
  };
  const worker = (await startWorker(options as never)) as unknown as Started;
  await worker.ready;
  const { origin } = await worker.url;
  return { base: origin, stop: () => worker.dispose() };
}
