import { CliError } from "../../frame/failure.ts";
import { findDatabase } from "./database.ts";
import { type Deployment, type Made, withConfig } from "./deployment.ts";
import { waitForHealth } from "./health.ts";
import { makeSecrets } from "./secrets.ts";
import { changedVariables, uploadWorker } from "./upload.ts";

/**
 * The steps of a deployment, the first and every later one. In this order no Worker serves before it has what it needs: the schema and the
 * secrets are there before the first version, and a release serves the schema of the next one (decision 0036).
 */

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
    plan({ found, project }) {
      const gone = found.worker ? ", because that of the deployed Worker is gone: restore a backup into it" : "";
      return found.database ? [] : [`create the D1 database ${project.config.database.name}${gone}`];
    },
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
      ...changedVariables(project, found),
      `deploy version ${project.version} as ${project.config.name}`,
    ],
    async run(deployment, made) {
      made.url = await uploadWorker(deployment, made);
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
  ["nowhere", "NOT SET, so the deployment stops here"],
] as const;
