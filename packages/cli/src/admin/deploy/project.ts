import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";

/** A folder that can be deployed: wrangler.toml, the sources or the bundle of the Worker, and the migrations. */

export interface Project {
  readonly folder: string;
  /** The version of the release, which /health reports. */
  readonly version: string;
  readonly config: Configuration;
}

/** The parts of wrangler.toml that a deployment reads. */
export interface Configuration {
  readonly name: string;
  readonly main?: string;
  readonly account_id?: string;
  readonly d1_databases: readonly {
    readonly database_name: string;
    readonly database_id?: string;
    readonly migrations_dir?: string;
  }[];
  readonly r2_buckets: readonly { readonly binding: string; readonly bucket_name?: string; readonly jurisdiction?: string }[];
  /** The secrets without which the Worker does not serve. */
  readonly secrets?: { readonly required?: readonly string[] };
  readonly assets?: { readonly directory?: string };
}

/** The path of the Worker in the packed command line. */
const PACKED = join(dirname(fileURLToPath(import.meta.url)), "worker");

/**
 * Loads the folder `from`; without it the current folder if it is a checkout, else the Worker that the packed command line carries.
 * Throws a CliError if the folder is none of Item Vault, or its wrangler.toml is malformed or names no storage.
 */
export async function loadProject(from: string | undefined, env: Io["env"]): Promise<Project> {
  const folder = (from === undefined ? [process.cwd(), PACKED] : [resolve(from)]).find(isItemVault);
  if (folder === undefined)
    throw new CliError(from === undefined ? "There is nothing to deploy here" : `${from} is no folder of Item Vault`, {
      exit: "usage",
      hint: "Start the command in the folder of a release or checkout of Item Vault, or give that folder with --from.",
    });
  const { parse } = await import("smol-toml");
  const read = (name: string) => readFile(join(folder, name), "utf8");
  const { version } = JSON.parse(await read("package.json")) as { version: string };
  let parsed: Partial<Configuration>;
  try {
    parsed = parse(await read("wrangler.toml"));
  } catch (error) {
    throw new CliError(`wrangler.toml is malformed: ${(error as Error).message}`, { exit: "usage" });
  }
  // Cloudflare's builds give the Worker a name of their own.
  const config = { ...parsed, name: env["WRANGLER_CI_OVERRIDE_NAME"] ?? parsed.name };
  if (!config.name || !config.d1_databases?.[0]?.database_name || !config.r2_buckets?.length)
    throw new CliError("wrangler.toml has no name, no database_name or no [[r2_buckets]]", { exit: "usage" });
  return { folder, version, config: config as Configuration };
}

/** A folder of another project has a wrangler.toml, too. */
const isItemVault = (folder: string): boolean =>
  ["wrangler.toml", "package.json", "migrations/0001_initial.sql"].every((name) => existsSync(join(folder, name)));

/**
 * Returns wrangler.toml as JSON for a file in another folder, with the id of the database and the names of the buckets. Without them
 * wrangler would create the buckets of an interrupted deployment again and fail, and would look for a missing database.
 */
export function configurationWith(
  { folder, config }: Project,
  account: string,
  databaseId: string | undefined,
  bucketNames: readonly string[],
): string {
  const { main, assets, d1_databases: databases, r2_buckets: buckets } = config;
  const at = (path: string | undefined) => path && resolve(folder, path);
  const migrations = at(databases[0]!.migrations_dir ?? "migrations");
  return JSON.stringify({
    ...config,
    account_id: account,
    main: at(main),
    assets: assets && { ...assets, directory: at(assets.directory) },
    d1_databases: [{ ...databases[0], database_id: databaseId, migrations_dir: migrations }, ...databases.slice(1)],
    r2_buckets: buckets.map((bucket, index) => Object.assign({}, bucket, { bucket_name: bucketNames[index] })),
  });
}
