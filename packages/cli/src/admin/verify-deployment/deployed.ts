import { hash } from "node:crypto";
import { CliError, failureOf } from "../../frame/failure.ts";
import { createFetch } from "../../frame/fetch.ts";
import type { Service } from "../../frame/settings.ts";
import { type Api, type Binding, NO_WORKER } from "../deploy/cloudflare.ts";

/** A deployed Worker: the script and settings in Cloudflare's API, and the static files at its address. */

export interface DeployedBinding extends Binding {
  /** The value of a variable that is a text. */
  readonly text?: string;
  /** The value of any other variable. */
  readonly json?: unknown;
  /** Only for a Durable Object. */
  readonly class_name?: string;
  /** Only for a Durable Object: the Worker whose code it runs; absent for this one. */
  readonly script_name?: string;
}

interface Settings {
  readonly bindings?: readonly DeployedBinding[];
  readonly compatibility_date?: string;
  readonly compatibility_flags?: readonly string[];
  /** Others, such as `logpush`. */
  readonly [name: string]: unknown;
}

export interface Deployed {
  /** The SHA-256 of each module by its name. */
  readonly modules: ReadonlyMap<string, string>;
  readonly settings: Settings;
  /** The ids of the versions that serve. */
  readonly serving: readonly string[];
  /** The id of the newest version, whose script and settings the API shows. */
  readonly newest: string | undefined;
}

/** Loads the script and the settings of a Worker. Throws a CliError if the account has no such Worker, or Cloudflare refuses the login. */
export async function loadDeployed(api: Api, worker: string): Promise<Deployed> {
  const path = `/workers/scripts/${encodeURIComponent(worker)}`;
  const settings = await api.read<Settings>(`${path}/settings`, ...NO_WORKER);
  if (!settings)
    throw new CliError(`The account ${api.account} has no Worker ${worker}`, {
      exit: "notFound",
      hint: "Name the Worker with --worker, and the account with CLOUDFLARE_ACCOUNT_ID.",
    });
  const [content, deployments, versions] = await Promise.all([
    api.download(`${path}/content/v2`),
    // Both lists begin with the newest.
    api.read<{ readonly deployments: readonly Deployment[] }>(`${path}/deployments`),
    api.read<{ readonly items: readonly { readonly id: string }[] }>(`${path}/versions`),
  ]);
  return {
    modules: await hashesOf(content),
    settings,
    serving: deployments?.deployments[0]?.versions.map(({ version_id: id }) => id) ?? [],
    newest: versions?.items[0]?.id,
  };
}

interface Deployment {
  readonly versions: readonly { readonly version_id: string }[];
}

/** The type of a part that no Worker runs: Cloudflare reads it for stack traces. wrangler uploads one from a checkout. */
const SOURCE_MAP = "application/source-map";

/** The name of the only module of an answer that is no form: a script without modules. */
const WITHOUT_MODULES = "index.js";

const hashOf = async (body: Blob | Response): Promise<string> => hash("sha256", new Uint8Array(await body.arrayBuffer()));

/** A form has a part for each module (as wrangler reads it in `init --from-dash`). */
async function hashesOf(content: Response): Promise<Map<string, string>> {
  if (content.headers.get("Content-Type")?.startsWith("multipart/") !== true)
    return new Map([[WITHOUT_MODULES, await hashOf(content)]]);
  const form = await content.formData().catch(() => {
    throw new CliError("Cloudflare did not answer with a script", { exit: "unavailable" });
  });
  const hashes = new Map<string, string>();
  for (const [field, part] of form) {
    const name = typeof part === "string" ? field : part.name || field;
    if (typeof part !== "string" && part.type === SOURCE_MAP && name.endsWith(".map")) continue;
    // Two modules have one name; it is unknown which of them runs.
    const key = hashes.has(name) ? `${name}, again as ${field}` : name;
    hashes.set(key, typeof part === "string" ? hash("sha256", part) : await hashOf(part));
  }
  return hashes;
}

/** Files that Cloudflare reads and does not serve. */
const NOT_SERVED = new Set(["_headers", "_redirects"]);

export const isServed = (path: string): boolean => !NOT_SERVED.has(path);

/** The most bytes of a static file (developers.cloudflare.com/workers/platform/limits/#static-assets). */
const FILE_BYTES_MAX = 25 * 1024 * 1024;

/** Files that are requested at a time. */
const FILES_AT_ONCE = 8;

/** The outcome of a request for a file. */
export type Served = { readonly sha256: string } | { readonly status: number };

/**
 * Requests the static files, given by their paths in the deployed folder. Returns the SHA-256 of each served file, and the status of any
 * other answer. Throws a CliError if the service does not answer, or is unavailable.
 */
export async function loadServed(service: Service, paths: readonly string[]): Promise<Map<string, Served>> {
  const found = new Map<string, Served>();
  for (let at = 0; at < paths.length; at += FILES_AT_ONCE) {
    const some = paths.slice(at, at + FILES_AT_ONCE);
    const served = await Promise.all(some.map((path) => loadFile(service, addressOf(path))));
    for (const [index, path] of some.entries()) found.set(path, served[index]!);
  }
  return found;
}

/** Returns the address at which Cloudflare serves a file (html_handling `auto-trailing-slash`, its default). */
const addressOf = (path: string): string => `/${path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "")}`;

async function loadFile(service: Service, path: string): Promise<Served> {
  const { status, bytes } = await ask(service, path);
  return status === 200 ? { sha256: hash("sha256", bytes) } : { status };
}

/** Returns the version that /health shows (contract 13.2), or undefined. Throws as `loadServed` does. */
export async function loadVersion(service: Service): Promise<string | undefined> {
  const { bytes } = await ask(service, "/health");
  try {
    const { version } = JSON.parse(bytes.toString("utf8")) as { version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

async function ask({ host, timeout }: Service, path: string): Promise<{ status: number; bytes: Buffer }> {
  const send = createFetch(timeout, { onlyItemVault: false });
  try {
    const response = await send(host + path, { redirect: "manual" });
    const { status } = response;
    const bytes = await readBody(response, host + path);
    if (status === 429 || status >= 500) throw new CliError(`${host}${path} answers ${status}`, { exit: "unavailable" });
    return { status, bytes };
  } catch (error) {
    throw failureOf(error) ?? new CliError(`The service at ${new URL(host).origin} does not answer`, { exit: "unavailable" });
  }
}

/** Throws a CliError for more bytes than a static file has: no deployed file has so many. */
async function readBody(response: Response, url: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > FILE_BYTES_MAX)
      throw new CliError(`${url} answers with more than ${FILE_BYTES_MAX} bytes`, { exit: "unavailable" });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
