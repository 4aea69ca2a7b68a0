import { resolve } from "node:path";
import { CliError } from "../../frame/failure.ts";

/** What `deploy` reads of wrangler.toml, and the configuration that it gives to wrangler. */

export interface WranglerConfig {
  /** The name of the Worker. */
  readonly name: string;
  readonly account: string | undefined;
  readonly database: { readonly name: string; readonly id: string | undefined; readonly migrations: string };
  readonly buckets: readonly BucketBinding[];
  readonly queues: readonly string[];
  /** The names of the secrets without which the Worker does not serve. */
  readonly secrets: readonly string[];
  /** The variables. */
  readonly variables: Table;
  /** Whether the Worker is served below the account's subdomain of workers.dev. */
  readonly onWorkersDev: boolean;
  readonly table: Table;
}

export interface BucketBinding {
  readonly binding: string;
  /** The name in wrangler.toml, if it has one. */
  readonly configured: string | undefined;
  /** The name that wrangler gives to a bucket without one. */
  readonly usual: string;
}

type Table = Readonly<Record<string, unknown>>;

interface Wanted {
  readonly name?: string;
  readonly main?: string;
  readonly account_id?: string;
  readonly workers_dev?: boolean;
  readonly route?: unknown;
  readonly routes?: readonly unknown[];
  readonly secrets?: { readonly required?: readonly string[] };
  readonly d1_databases?: readonly Database[];
  readonly r2_buckets?: readonly Bucket[];
  readonly queues?: { readonly producers?: readonly { queue?: string }[]; readonly consumers?: readonly { queue?: string }[] };
  readonly assets?: { readonly directory?: string };
  readonly vars?: Table;
}

interface Database {
  readonly database_name?: string;
  readonly database_id?: string;
  readonly migrations_dir?: string;
}

interface Bucket {
  readonly binding: string;
  readonly bucket_name?: string;
}

/**
 * In: the text of wrangler.toml, and the name that Cloudflare's builds give to the Worker instead of its own. Errors: throws a CliError for
 * what is no TOML, or no configuration of Item Vault.
 */
export async function parseConfiguration(text: string, named?: string): Promise<WranglerConfig> {
  const parsed = await parseToml(text);
  const table = named === undefined ? parsed : { ...parsed, name: named };
  const wanted = table as Wanted;
  const { name, d1_databases: [database] = [], r2_buckets: buckets = [], queues = {} } = wanted;
  if (!name || !database?.database_name || buckets.length === 0)
    throw new CliError("wrangler.toml has no name, no [[d1_databases]] with a database_name, or no [[r2_buckets]]", {
      exit: "usage",
    });
  const { database_name, database_id, migrations_dir = "migrations" } = database;
  const queueNames = [...(queues.producers ?? []), ...(queues.consumers ?? [])].flatMap(({ queue }) => queue ?? []);
  const routes = [wanted.route ?? [], wanted.routes ?? []].flat();
  return {
    name,
    account: wanted.account_id,
    database: { name: database_name, id: database_id, migrations: migrations_dir },
    buckets: buckets.map(({ binding, bucket_name: configured }) => ({ binding, configured, usual: usualName(name, binding) })),
    queues: [...new Set(queueNames)],
    secrets: wanted.secrets?.required ?? [],
    variables: wanted.vars ?? {},
    onWorkersDev: wanted.workers_dev ?? routes.length === 0,
    table,
  };
}

const usualName = (worker: string, binding: string): string => `${worker}-${binding.toLowerCase().replaceAll("_", "-")}`;

async function parseToml(text: string): Promise<Table> {
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (error) {
    throw new CliError(`wrangler.toml is malformed: ${(error as Error).message}`, { exit: "usage" });
  }
}

/** The ids and names of what a deployment binds. */
export interface Resources {
  readonly account: string;
  /** `undefined`: the database does not exist yet. */
  readonly databaseId: string | undefined;
  /** The names of the buckets, in the order of wrangler.toml. */
  readonly buckets: readonly string[];
}

/**
 * The configuration for wrangler, as JSON: absolute paths, because the file lies in another folder, and the ids and names of what
 * exists. With them a deployment that stopped after wrangler has made a bucket goes on with that bucket; without them wrangler would
 * make it again, and fail.
 */
export function resolvedConfig({ table, database }: WranglerConfig, folder: string, found: Resources): string {
  const { main, d1_databases: [first, ...others] = [], r2_buckets: bound = [], assets } = table as Wanted;
  return JSON.stringify({
    ...table,
    account_id: found.account,
    ...(main !== undefined && { main: resolve(folder, main) }),
    ...(assets?.directory !== undefined && { assets: { ...assets, directory: resolve(folder, assets.directory) } }),
    d1_databases: [{ ...first, database_id: found.databaseId, migrations_dir: resolve(folder, database.migrations) }, ...others],
    r2_buckets: bound.map((bucket, index) => Object.assign({}, bucket, { bucket_name: found.buckets[index] })),
  });
}
