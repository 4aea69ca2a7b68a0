import type { Api } from "./api.ts";
import type { Found } from "./found.ts";
import type { Project } from "./project.ts";
import type { SecretPlan } from "./secrets.ts";
import { resolvedConfig } from "./wrangler-config.ts";
import { withFile, type Wrangler } from "./wrangler.ts";

/** What the steps of a deployment share. */

export interface Deployment {
  readonly project: Project;
  readonly found: Found;
  readonly secrets: readonly SecretPlan[];
  /** The file of the secrets. */
  readonly secretsFile: string;
  readonly api: Api;
  readonly wrangler: Wrangler;
  /** The address that the user has given. */
  readonly url: string | undefined;
  /** Milliseconds to wait for /health. */
  readonly patience: number;
}

/** What the steps before have made. */
export interface Made {
  databaseId?: string | undefined;
  /** The secrets that the Worker does not have yet. */
  values?: Readonly<Record<string, string>>;
  url?: string | undefined;
  warnings?: readonly string[];
}

/** Calls `use` with the options of wrangler that name its configuration. */
export function withConfig<T>({ project, found, api }: Deployment, { databaseId }: Made, use: (options: string[]) => Promise<T>) {
  const resources = { account: api.account, databaseId, buckets: found.buckets.map(({ name }) => name) };
  const text = resolvedConfig(project.config, project.folder, resources);
  return withFile("wrangler.json", text, (path) => use(["--config", path]));
}
