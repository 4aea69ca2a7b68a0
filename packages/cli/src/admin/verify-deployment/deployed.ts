import { hash } from "node:crypto";
import { CliError } from "../../frame/failure.ts";
import { type Api, type Binding, NO_WORKER } from "../deploy/cloudflare.ts";

/** What Cloudflare's API shows of a deployed Worker. */

export interface DeployedBinding extends Binding {
  /** The value of a variable that is a text. */
  readonly text?: string;
  /** The value of any other variable. */
  readonly json?: unknown;
  /** Of a Durable Object. */
  readonly class_name?: string;
  /** Of a Durable Object: the Worker whose code it runs; absent for this one. */
  readonly script_name?: string;
}

export interface Settings {
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

/** Errors: throws a CliError when the account has no such Worker, and when Cloudflare refuses the login. */
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
    // Two modules of one name: which of them runs is not known.
    const key = hashes.has(name) ? `${name}, again as ${field}` : name;
    hashes.set(key, typeof part === "string" ? hash("sha256", part) : await hashOf(part));
  }
  return hashes;
}
