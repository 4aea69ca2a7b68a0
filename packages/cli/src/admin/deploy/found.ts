import { CliError } from "../../frame/failure.ts";
import type { Api } from "./api.ts";
import { appliedMigrations, type DatabaseInfo, findDatabase, isInUse, loadDatabase } from "./database.ts";
import type { Project } from "./project.ts";
import type { BucketBinding, WranglerConfig } from "./wrangler-config.ts";

/** What the account has of a deployment. Nothing is changed. */

export interface Found {
  /** The deployed Worker. */
  readonly worker: Worker | undefined;
  readonly database: { readonly id: string; readonly inUse: boolean } | undefined;
  /** The buckets that the deployment binds, in the order of wrangler.toml. */
  readonly buckets: readonly { readonly name: string; readonly exists: boolean }[];
  readonly missingQueues: readonly string[];
  /** The migrations that the database lacks. */
  readonly pending: readonly string[];
}

export interface Binding {
  readonly type: string;
  readonly name: string;
  /** The value of a variable that is a text. */
  readonly text?: string;
  /** The value of any other variable. */
  readonly json?: unknown;
  readonly id?: string;
  readonly bucket_name?: string;
}

export interface Worker {
  readonly bindings: readonly Binding[];
}

/** The variables of the deployed Worker. */
export const variablesOf = (worker: Worker | undefined): Map<string, unknown> =>
  new Map(
    (worker?.bindings ?? [])
      .filter(({ type }) => type === "plain_text" || type === "json")
      .map(({ name, text, json }) => [name, text ?? json]),
  );

const NONE: readonly string[] = [];

/** Cloudflare's codes for what does not exist. */
export const NO_WORKER: readonly number[] = [10007, 10090];
const NO_BUCKET = 10006;
const NO_SUBDOMAIN = 10007;

/**
 * Errors: throws a CliError when the account cannot be read, when it cannot serve the Worker, and when the deployed Worker is bound to
 * other storage than this one would be.
 */
export async function inspect(api: Api, { config, migrations }: Project): Promise<Found> {
  const [worker, database, missingQueues] = await Promise.all([
    api.read<Worker>(`/workers/scripts/${config.name}/settings`, ...NO_WORKER),
    findDatabase(api, config.database),
    findMissingQueues(api, config.queues),
    requireAddress(api, config),
  ]);
  await requireSameDatabase(api, worker, database);
  if (config.database.id !== undefined && !database)
    throw new CliError(`This account has no database ${config.database.id}, which wrangler.toml names`, {
      exit: "conflict",
      hint: "Choose the account with CLOUDFLARE_ACCOUNT_ID, or delete the line database_id: then the database is found by its name.",
    });
  const [buckets, applied, inUse] = await Promise.all([
    Promise.all(config.buckets.map((bucket) => findBucket(api, bucket, worker))),
    database ? appliedMigrations(api, database.uuid) : NONE,
    database ? isInUse(api, database.uuid) : false,
  ]);
  return {
    worker,
    database: database && { id: database.uuid, inUse },
    buckets,
    missingQueues,
    pending: migrations.filter((name) => !applied.includes(name)),
  };
}

const otherStorage = (what: string, line: string): CliError =>
  new CliError(`The deployed Worker uses ${what}, and wrangler.toml names another one`, {
    exit: "conflict",
    hint: `The deployment would leave the data behind. To keep it, write ${line} into wrangler.toml.`,
  });

/** A database that was deleted has no data to leave behind: another one takes its place, and a restore fills it. */
async function requireSameDatabase(api: Api, worker: Worker | undefined, database: DatabaseInfo | undefined): Promise<void> {
  const bound = worker?.bindings.find(({ type }) => type === "d1")?.id;
  if (bound === undefined || bound === database?.uuid || !(await loadDatabase(api, bound))) return;
  throw otherStorage(`the database ${bound}`, `database_id = "${bound}"`);
}

/** Without a name in wrangler.toml the bucket stays the one that the Worker has. */
async function findBucket(api: Api, { binding, configured, usual }: BucketBinding, worker: Worker | undefined) {
  const bound = worker?.bindings.find(({ type, name }) => type === "r2_bucket" && name === binding)?.bucket_name;
  const name = configured ?? bound ?? usual;
  if (bound !== undefined && bound !== name) throw otherStorage(`the bucket ${bound} as ${binding}`, `bucket_name = "${bound}"`);
  return { name, exists: (await api.read(`/r2/buckets/${name}`, NO_BUCKET)) !== undefined };
}

async function findMissingQueues(api: Api, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const search = names.map((name) => `name=${encodeURIComponent(name)}`).join("&");
  const queues = (await api.read<{ queue_name: string }[]>(`/queues?${search}`)) ?? [];
  return names.filter((name) => !queues.some(({ queue_name }) => queue_name === name));
}

/** A new account has no subdomain of workers.dev, and wrangler asks for one only in a terminal. */
async function requireAddress(api: Api, { onWorkersDev }: WranglerConfig): Promise<void> {
  if (!onWorkersDev || (await api.read("/workers/subdomain", NO_SUBDOMAIN)) !== undefined) return;
  throw new CliError("Your account has no subdomain of workers.dev yet", {
    hint: `Choose one at https://dash.cloudflare.com/${api.account}/workers/onboarding and start again.`,
  });
}
