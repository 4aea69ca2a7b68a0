import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createBindings } from "./bindings.ts";
import { loadConfiguration } from "./configuration.ts";
import { createCron } from "./cron.ts";
import { type DataDirectory, openDirectory } from "./directory.ts";
import { createEgress } from "./egress.ts";
import { installGlobals } from "./globals.ts";
import { applyMigrations } from "./migrations.ts";
import { type Bindings, createObjects, type ObjectClass } from "./objects.ts";
import { checkSqliteVersion, openSqliteFile, type SqliteFile } from "./sqlite-file.ts";
import { createTurns } from "./turns.ts";

/** The Worker of Item Vault in this process, with an implementation of each binding in wrangler.toml (docs/design/host.md). */

export interface WorkerOptions {
  /** The folder with the Worker's code, wrangler.toml, migrations and static files, as in the package of the command line. */
  readonly release: string;
  /** The directory of the data. */
  readonly data: string;
  /** Loads secrets, and variables that differ from wrangler.toml. Called when the directory is locked, before its database is opened. */
  readonly loadVariables: () => Promise<Readonly<Record<string, string>>>;
  /** Changes nothing: makes no directory and no database, and applies no migration. */
  readonly checks: boolean;
  /** Reports an error that no request gets to the operator. */
  readonly report: (what: string, error: unknown) => void;
  /** Ends the process. */
  readonly fail: (error: Error) => void;
  /** Private networks and hosts that webhooks and the keys of issuers may use. */
  readonly allowed: { readonly networks: readonly string[]; readonly hosts: readonly string[] };
}

export interface RunningWorker {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers /health as with other variables. */
  readonly health: (variables: Readonly<Record<string, string>>) => Promise<Response>;
  readonly settled: () => Promise<void> | undefined;
  /** The migrations that a check has not applied. */
  readonly pendingMigrations: readonly string[];
  /** Starts work without a request: alarms, the queue and the hourly task. */
  readonly start: () => void;
  /** Replaces secrets and variables, for the requests from now on. */
  readonly setVariables: (variables: Readonly<Record<string, string>>) => void;
  /** Resolves when background work after answers has ended. */
  readonly finish: () => Promise<unknown>;
  /** Closes the files. */
  readonly stop: () => Promise<void>;
}

interface WorkerModule {
  readonly default: Required<Pick<ExportedHandler<Bindings>, "fetch" | "queue" | "scheduled">>;
  readonly [className: string]: unknown;
}

/** Opens the data and loads the Worker. Throws errors for the operator. */
export async function openWorker(options: WorkerOptions): Promise<RunningWorker> {
  checkSqliteVersion();
  const directory = await openDirectory(options.data, options.checks);
  try {
    const variables = await options.loadVariables();
    const file = openSqliteFile({ path: directory.database, fail: options.fail });
    try {
      return await openOver(directory, file, variables, options);
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    directory.release();
    throw error;
  }
}

async function openOver(
  directory: DataDirectory,
  file: SqliteFile,
  variables: Readonly<Record<string, string>>,
  { release, checks, allowed, report }: WorkerOptions,
): Promise<RunningWorker> {
  const configuration = loadConfiguration(join(release, "wrangler.toml"));
  const turns = createTurns(file);
  const pendingMigrations = applyMigrations(turns, join(release, "migrations"), checks);

  installGlobals(createEgress({ settled: turns.settled, allowed }));
  const worker = (await import(pathToFileURL(join(release, "code/index.js")).href)) as unknown as WorkerModule;
  const handler = worker.default;
  const answer = async (request: Request, withEnv: Bindings): Promise<Response> =>
    handler.fetch(request as Parameters<typeof handler.fetch>[0], withEnv, background.context);

  let env: Bindings = {};
  const background = createBackground(report);
  const objects = createObjects(turns, () => env, report);
  const { bindings, queues } = createBindings(configuration, {
    turns,
    objects,
    folderOf: directory.folderOf,
    classOf: (name) => worker[name] as ObjectClass,
    deliver: async (queue, messages) => handler.queue({ queue, messages } as unknown as MessageBatch, env, background.context),
    report,
  });
  // The service refuses URLs of hosts that are not public before it sends anything.
  const own: Bindings = { ...bindings, ALLOWED_HOSTS: allowed.hosts.join(",") };
  env = { ...own, ...variables };

  const runHourly = async (time: number): Promise<void> => {
    try {
      await handler.scheduled({ scheduledTime: time } as ScheduledController, env, background.context);
    } catch (error) {
      report("The hourly task", error);
    }
  };
  const crons = configuration.triggers.crons.map((expression) => createCron(expression, runHourly));
  const running = [...crons, ...queues, objects];
  return {
    fetch: (request) => answer(request, env),
    health: (changed) => answer(new Request("http://127.0.0.1/health"), { ...own, ...changed }),
    settled: turns.settled,
    pendingMigrations,
    start: () => running.forEach(({ start }) => start()),
    setVariables(changed) {
      env = { ...own, ...changed }; // another object, because the service remembers the settings of an `env`
      objects.renewBindings();
    },
    finish: background.finish,
    async stop() {
      for (const { stop } of running) stop();
      turns.end();
      await file.close();
      directory.release();
    },
  };
}

/** Background work after answers. */
function createBackground(report: WorkerOptions["report"]) {
  const pending = new Set<Promise<unknown>>();
  const waitUntil = (promise: Promise<unknown>): void => {
    const ended = promise.catch((error: unknown) => report("Work after an answer", error)).finally(() => pending.delete(ended));
    pending.add(ended);
  };
  return {
    context: { waitUntil, passThroughOnException: () => undefined } as unknown as ExecutionContext,
    finish: () => Promise.all(pending),
  };
}
