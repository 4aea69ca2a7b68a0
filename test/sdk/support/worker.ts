import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions as optionsOf, unstable_readConfig as readConfig } from "wrangler";
import { LOCAL } from "../../../scripts/wrangler.ts";
import { startOnHost } from "./host.ts";
import type { StartedWorker, Vars } from "./started-worker.ts";

const CONFIG = "wrangler.toml";
/** wrangler's table of the applied migrations, by which the Worker knows its schema. */
const APPLIED =
  "CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

/**
 * Starts the Worker of wrangler.toml with its static files, on a free port and with empty storage, which is deleted when the Worker
 * stops. `vars`: besides those of wrangler.toml. `others`: configurations of Workers beside it. `config`: that of a built release in place of
 * it. With TEST_HOST=1 the Worker runs in `item-vault server`, without others.
 *
 * wrangler's `createTestHarness` would put a second workerd before the Worker, which passes every request on and takes a quarter of the
 * processor's time.
 */
export async function startWorker(
  secrets: Vars,
  vars: Vars = {},
  others: readonly string[] = [],
  config = CONFIG,
): Promise<StartedWorker> {
  if (process.env["TEST_HOST"] === "1" && config === CONFIG) return startOnHost({ ...vars, ...secrets });
  Object.assign(process.env, LOCAL);
  const { command } = readConfig({ config }).build as { readonly command?: string };
  if (command !== undefined) await promisify(execFile)("sh", ["-c", command]);
  const workers = await Promise.all([workerOf(config, { ...vars, ...secrets }), ...others.map((other) => workerOf(other, {}))]);
  // The service logs the faults that tests inject.
  const options = { host: "127.0.0.1", port: 0, workers, handleStructuredLogs: () => undefined };
  const miniflare = new Miniflare(convertV4MiniflareOptions(options as never));
  const url = await miniflare.ready;
  const database = await miniflare.getD1Database("DB");
  await migrate(database);
  return { url: url.toString(), database, close: () => miniflare.dispose() };
}

type Database = Awaited<ReturnType<Miniflare["getD1Database"]>>;

/** Applies all migrations to an empty database, and records them as wrangler does. */
export async function migrate(database: Database): Promise<void> {
  const migrations = await readD1Migrations("migrations");
  const record = migrations.map(({ name }) => database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name));
  const apply = migrations.flatMap(({ queries }) => queries).map((query) => database.prepare(query));
  await database.batch([database.prepare(APPLIED), ...apply, ...record]);
}

/** What Miniflare runs of a configuration. */
async function workerOf(config: string, vars: Vars): Promise<object> {
  const { name, main, routes, vars: own } = readConfig({ config }) as unknown as Described;
  const { workerOptions } = optionsOf(config);
  const { outputFiles } = await build({
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    write: false,
    entryPoints: [main],
  });
  const path = join(dirname(main), "index.js");
  return {
    ...workerOptions,
    name,
    routes,
    // Without those of a developer's .dev.vars, which `optionsOf` adds.
    bindings: { ...own, ...vars },
    modules: [{ type: "ESModule", path, contents: outputFiles[0]!.text }],
    modulesRoot: dirname(main),
  };
}

interface Described {
  readonly name: string;
  readonly main: string;
  readonly routes: readonly string[] | undefined;
  readonly vars: Readonly<Record<string, unknown>>;
}
