import { readFile } from "node:fs/promises";
import { CliError } from "../../frame/failure.ts";
import type { Api } from "./api.ts";
import { findDatabase } from "./database.ts";
import type { Found } from "./found.ts";
import { waitForHealth } from "./health.ts";
import type { Project } from "./project.ts";
import { makeSecrets, type SecretPlan } from "./secrets.ts";
import { resolvedConfig } from "./wrangler-config.ts";
import { withFile, type Wrangler } from "./wrangler.ts";

/**
 * The steps of a deployment, the first and every later one. In this order no Worker serves before it has what it needs: the schema and the
 * secrets are there before the first version, and a release serves the schema of the next one (decision 0036).
 */

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

export interface Step {
  readonly name: string;
  /** What the step would do, one line each; none: it has nothing to do. */
  readonly plan: (deployment: Deployment) => readonly string[];
  readonly run: (deployment: Deployment, made: Made) => Promise<void>;
}

const list = (names: readonly string[]): string => names.join(", ");

export const STEPS: readonly Step[] = [
  {
    name: "secrets",
    plan: ({ secrets, secretsFile }) =>
      PLANS.flatMap(([from, text]) => {
        const names = secrets.filter((secret) => secret.from === from).map(({ name }) => name);
        return names.length === 0 ? [] : [`${text.replace("FILE", secretsFile)}: ${list(names)}`];
      }),
    async run({ secrets, secretsFile }, made) {
      made.values = await makeSecrets(secrets, secretsFile);
    },
  },
  {
    name: "database",
    plan: ({ found, project }) => (found.database ? [] : [`create the D1 database ${project.config.database.name}`]),
    async run(deployment, made) {
      const { database } = deployment.project.config;
      await withConfig(deployment, made, (config) => deployment.wrangler.run(["d1", "create", database.name, ...config]));
      made.databaseId = (await findDatabase(deployment.api, database))?.uuid;
      if (made.databaseId === undefined) throw new CliError(`The database ${database.name} was created and is not listed`);
    },
  },
  {
    name: "migrations",
    plan: ({ found: { pending } }) => (pending.length === 0 ? [] : [`apply ${list(pending)}`]),
    async run(deployment, made) {
      const { name } = deployment.project.config.database;
      const args = ["d1", "migrations", "apply", name, "--remote"];
      await withConfig(deployment, made, (config) => deployment.wrangler.run([...args, ...config]));
    },
  },
  {
    name: "worker",
    plan: ({ project, found }) => [
      ...found.buckets.filter(({ exists }) => !exists).map(({ name }) => `create the R2 bucket ${name}`),
      ...found.missingQueues.map((name) => `create the queue ${name}`),
      `deploy version ${project.version} as ${project.config.name}`,
    ],
    async run(deployment, made) {
      made.url = await deployWorker(deployment, made);
    },
  },
  {
    name: "health",
    plan: () => ["wait until /health shows the version without an error"],
    async run({ url, project, patience }, made) {
      made.url = url ?? made.url;
      made.warnings = made.url === undefined ? [] : await waitForHealth(made.url, project.version, patience);
    },
  },
];

/** Texts of the plan by where a secret comes from. */
const PLANS = [
  ["generated", "generate into FILE and set"],
  ["file", "set from FILE"],
  ["variable", "set to the value of the variable of the deployed Worker"],
  ["nowhere", "NOT SET, so the deployment stops here"],
] as const;

/** Calls `use` with the options that name the configuration. */
function withConfig<T>({ project, found, api }: Deployment, { databaseId }: Made, use: (options: string[]) => Promise<T>) {
  const resources = { account: api.account, databaseId, buckets: found.buckets.map(({ name }) => name) };
  const text = resolvedConfig(project.config, project.folder, resources);
  return withFile("wrangler.json", text, (path) => use(["--config", path]));
}

/** Uploads the Worker with the secrets that it does not have. wrangler creates missing buckets and queues. Out: its address. */
async function deployWorker(deployment: Deployment, made: Made): Promise<string | undefined> {
  const secrets = made.values ?? {};
  const some = Object.keys(secrets).length > 0;
  return withConfig(deployment, made, (config) =>
    withFile("secrets.json", JSON.stringify(secrets), (secretsPath) =>
      withFile("output", "", async (output) => {
        const args = ["deploy", ...config, ...(some ? ["--secrets-file", secretsPath] : [])];
        await deployment.wrangler.run(args, { WRANGLER_OUTPUT_FILE_PATH: output });
        return addressIn(await readFile(output, "utf8"));
      }),
    ),
  );
}

/** A host name, alone or before a path or a remark; other targets are schedules and queues. */
const HOST = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]+)(?=$|[/ ])/i;

/** The first address in the output file of wrangler: lines of JSON, of which that of the type `deploy` has the addresses. */
function addressIn(output: string): string | undefined {
  const lines = output.split("\n").filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as { type: string; targets?: string[] });
  const targets = entries.find(({ type }) => type === "deploy")?.targets ?? [];
  const host = targets.map((target) => HOST.exec(target)?.[1]).find((found) => found !== undefined);
  return host === undefined ? undefined : `https://${host}`;
}
