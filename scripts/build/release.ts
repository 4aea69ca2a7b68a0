import { spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { parse } from "smol-toml";
import { OPTIONAL_SECRETS } from "../../packages/cli/src/admin/deploy/generate.ts";
import type { Hashes, Release, ReleaseBinding } from "../../packages/cli/src/admin/verify-deployment/release.ts";

/** The content of `release.json` (docs/release.md): what a release consists of, with which a deployment and a package are compared. */

/** Contents by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export interface PackedFiles {
  readonly name: string;
  readonly version: string;
  readonly files: Files;
}

type Table = Readonly<Record<string, unknown>>;

/** What a release has of wrangler.toml, besides its bindings. */
interface Configuration {
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
  readonly vars?: Table;
  readonly secrets?: { readonly required?: readonly string[] };
}

/**
 * Takes the folder of the Worker as the command line carries it (worker.ts), and the packages. Throws when wrangler.toml has no
 * compatibility date.
 */
export function releaseOf(worker: Files, packages: readonly PackedFiles[]): Release {
  const text = (path: string) => Buffer.from(worker[path]!).toString();
  const table: Table = parse(text("wrangler.toml"));
  const { version } = JSON.parse(text("package.json")) as { version: string };
  const configuration = table as Configuration;
  const { compatibility_date: compatibilityDate, vars: variables = {} } = configuration;
  if (compatibilityDate === undefined) throw new Error("wrangler.toml has no compatibility_date");
  const commit = loadCommit(".");
  return {
    format: 1,
    version,
    ...(commit !== undefined && { commit }),
    worker: {
      compatibilityDate,
      compatibilityFlags: configuration.compatibility_flags ?? [],
      modules: hashesOf(within("code/", worker)),
      bindings: BINDINGS.flatMap((kind) => bindingsOf(table, kind)),
      variables,
      secrets: { required: configuration.secrets?.required ?? [], optional: OPTIONAL_SECRETS },
    },
    assets: hashesOf(within("assets/", worker)),
    packages: Object.fromEntries(
      packages.map(({ name, version: packed, files }) => [name, { version: packed, files: hashesOf(files) }]),
    ),
  };
}

/** The files of a folder, by their paths in it. */
export const within = (folder: string, files: Files): Files =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => path.startsWith(folder))
      .map(([path, content]) => [path.slice(folder.length), content]),
  );

const hashesOf = (files: Files): Hashes =>
  Object.fromEntries(
    Object.entries(files)
      .map(([path, content]) => [path, hash("sha256", content)] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

/** Where wrangler.toml has each kind of binding, which attribute names it, and what Cloudflare's API calls the kind. */
const BINDINGS = [
  { at: ["d1_databases"], named: "binding", type: "d1" },
  { at: ["r2_buckets"], named: "binding", type: "r2_bucket" },
  { at: ["durable_objects", "bindings"], named: "name", type: "durable_object_namespace" },
  { at: ["queues", "producers"], named: "binding", type: "queue" },
  { at: ["ratelimits"], named: "name", type: "ratelimit" },
] as const;

function bindingsOf(table: Table, { at, named, type }: (typeof BINDINGS)[number]): ReleaseBinding[] {
  const found = at.reduce<unknown>((value, name) => (value as Table | undefined)?.[name], table);
  return ((found ?? []) as Record<string, string | undefined>[]).map(({ [named]: name, class_name }) =>
    class_name === undefined ? { name: name!, type } : { name: name!, type, class_name },
  );
}

/** Returns the commit of a folder; `undefined` unless it is the root of a git checkout in which no file differs from the commit. */
export function loadCommit(folder: string): string | undefined {
  const git = (...args: readonly string[]) => {
    const { status, stdout } = spawnSync("git", ["--no-optional-locks", "-C", folder, ...args], { encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  const isClean = git("rev-parse", "--show-prefix") === "" && git("status", "--porcelain") === "";
  return isClean ? git("rev-parse", "HEAD") : undefined;
}
