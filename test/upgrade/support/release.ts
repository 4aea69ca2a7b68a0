import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import { bundleCode } from "../../../scripts/build/worker.ts";
import { standaloneConfiguration } from "../../../scripts/wrangler.ts";
import { type Answer, purposeOf, type StoredRequest } from "./ask.ts";
import type { Sample } from "./sample.ts";

/** A kept release: its bundle, a sample of storage that it wrote, and its answers. `test/upgrade/<version>/` holds one. */

export const RELEASES = "test/upgrade";

export interface Release {
  readonly version: string;
  /** The commit that the bundle was built from. */
  readonly commit: string;
  /** When the answers were recorded, in Unix milliseconds. */
  readonly keptAt: number;
  /** They were made for this sample and are used for nothing else. */
  readonly secrets: Readonly<Record<"ADMIN_TOKEN" | "METRICS_TOKEN" | "ROOT_KEYS", string>>;
  readonly sample: Sample;
  readonly reads: Readonly<Record<string, { readonly request: StoredRequest; readonly answer: Answer }>>;
  /** `GET /v1/activity`, newest first. */
  readonly activity: readonly unknown[];
  /** `GET /v1/admin/tokens`. */
  readonly tokens: readonly { readonly id: string }[];
}

/** The folders of wrangler's state that are kept. The others hold caches and counters. */
const KEPT_STATE = ["d1", "r2", "do"];

const BUNDLE = "index.js";

/** A `Release`. Compressed: it is long, and nobody reads it. */
const RECORD = "record.json.gz";

export const isKept = (version: string): boolean => existsSync(join(RELEASES, version, RECORD));

/** The versions of the kept releases. */
export const releases = (): string[] =>
  readdirSync(RELEASES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isKept(entry.name))
    .map(({ name }) => name)
    .toSorted();

export const readRelease = (version: string, kept = RELEASES): Release =>
  JSON.parse(gunzipSync(readFileSync(join(kept, version, RECORD))).toString(), purposeOf) as Release;

/**
 * Stores a release. `build`: the folder of the built Worker. `state`: the folder of its state; no Worker may be running. `kept`: the folder
 * of the kept releases.
 */
export function writeRelease(release: Release, build: string, state: string, kept = RELEASES): void {
  const folder = join(kept, release.version);
  mkdirSync(folder, { recursive: true });
  for (const name of KEPT_STATE) cpSync(join(state, "v3", name), join(folder, "state", "v3", name), { recursive: true });
  for (const path of filesIn(join(folder, "state"))) if (path.endsWith(".sqlite")) compact(path);
  writeFileSync(join(folder, `${BUNDLE}.gz`), gzipSync(readFileSync(join(build, BUNDLE)), { level: 9 }));
  cpSync(join(build, "wrangler.toml"), join(folder, "wrangler.toml"));
  writeFileSync(join(folder, RECORD), gzipSync(JSON.stringify(release), { level: 9 }));
}

/** Bundles the sources into a new folder, as `item-vault admin deploy` uploads them where there is no checkout. */
export async function bundleCurrent(folder: string): Promise<void> {
  const { code } = await bundleCode();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, BUNDLE), code);
  writeFileSync(join(folder, "wrangler.toml"), standaloneConfiguration());
}

/** Copies the bundle of a release into a new folder. */
export function restoreBuild(version: string, folder: string, kept = RELEASES): void {
  const from = join(kept, version);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, BUNDLE), gunzipSync(readFileSync(join(from, `${BUNDLE}.gz`))));
  cpSync(join(from, "wrangler.toml"), join(folder, "wrangler.toml"));
}

/** Copies the state of a release into a new folder. */
export const restoreState = (version: string, folder: string, kept = RELEASES): void =>
  cpSync(join(kept, version, "state"), folder, { recursive: true });

/** Moves the write-ahead log into the database file, so that a single file is kept. */
function compact(path: string): void {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = DELETE; VACUUM");
  database.close();
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
