import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { unreadable } from "../../frame/paths.ts";
import { parseConfiguration, type WranglerConfig } from "./wrangler-config.ts";

/** What is deployed: a folder with a wrangler.toml, the sources or the bundle of the Worker, and the migrations. */

export interface Project {
  readonly folder: string;
  /** The version of the release, which /health reports. */
  readonly version: string;
  readonly config: WranglerConfig;
  /** The names of the migrations, in their order. */
  readonly migrations: readonly string[];
}

/** Where the packed command line carries the Worker. */
const PACKED = join(dirname(fileURLToPath(import.meta.url)), "worker");

/**
 * Loads the folder `from`; without it the checkout that the current folder is, and else the Worker that the packed command line carries.
 * Errors: throws a CliError when there is none, or when its files are not those of Item Vault.
 */
export async function loadProject(from: string | undefined, env: Io["env"]): Promise<Project> {
  const folder = from === undefined ? ownFolder() : resolve(from);
  const [text, manifest] = await Promise.all(["wrangler.toml", "package.json"].map((name) => readText(join(folder, name))));
  const config = await parseConfiguration(text!, env["WRANGLER_CI_OVERRIDE_NAME"]);
  const { version } = JSON.parse(manifest!) as { version: string };
  const found = await readdir(join(folder, config.database.migrations)).catch(() => []);
  const migrations = found.filter((name) => name.endsWith(".sql")).toSorted();
  if (migrations.length === 0) throw new CliError(`${folder} has no migrations`, { exit: "usage" });
  return { folder, version, config, migrations };
}

function ownFolder(): string {
  const found = [process.cwd(), PACKED].find(isItemVault);
  if (found !== undefined) return found;
  throw new CliError("There is nothing to deploy here", {
    exit: "usage",
    hint: "Start the command in the folder of a release or checkout of Item Vault, or give that folder with --from.",
  });
}

/** A folder of another project has a wrangler.toml, too. */
const isItemVault = (folder: string): boolean =>
  ["wrangler.toml", "package.json", "migrations/0001_initial.sql"].every((name) => existsSync(join(folder, name)));

const readText = (path: string): Promise<string> =>
  readFile(path, "utf8").catch(unreadable(path, "--from takes a folder of Item Vault."));
