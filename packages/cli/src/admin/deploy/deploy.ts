import type { Call } from "../../frame/command.ts";
import { secondsOf } from "../../frame/duration.ts";
import { CliError, failureOf } from "../../frame/failure.ts";
import { write } from "../../frame/io.ts";
import { canAsk, confirm } from "../../frame/prompt.ts";
import type { DEPLOY_OPTIONS } from "./table.ts";
import { connect, wranglerLogin } from "./api.ts";
import type { Deployment, Made } from "./deployment.ts";
import { inspect } from "./found.ts";
import { loadProject } from "./project.ts";
import { planSecrets, requireSecrets } from "./secrets.ts";
import { STEPS } from "./steps.ts";
import { createWrangler } from "./wrangler.ts";

/** `admin deploy`: reads what the account has, shows the plan, and carries it out step by step. */

type DeployCall = Call<typeof DEPLOY_OPTIONS>;

export async function run(call: DeployCall): Promise<void> {
  const { io, options } = call;
  const deployment = await prepare(call);
  await write(io.stdout, describe(deployment));
  if (options["dry-run"]) return;
  requireSecrets(deployment.secrets, deployment.secretsFile, deployment.found.worker !== undefined);
  // Without a terminal the command was started by a build, which has nobody to ask.
  if (canAsk(io)) await confirm(io, "Continue?", options.yes);
  const made: Made = { databaseId: deployment.found.database?.id };
  for (const step of STEPS.filter(({ plan }) => plan(deployment).length > 0)) {
    await write(io.stderr, `${step.name}…\n`);
    await step.run(deployment, made).catch((error: unknown) => {
      throw stopped(step.name, error);
    });
  }
  await write(io.stdout, outcome(deployment, made));
}

/** Reads everything; nothing is changed. */
async function prepare({ io, options }: DeployCall): Promise<Deployment> {
  const secretsFile = options.secrets ?? "production.vars";
  const patience = secondsOf("--wait", options.wait ?? "60s") * 1000;
  const project = await loadProject(options.from, io.env);
  const wrangler = createWrangler(io, project.folder);
  const api = await connect(io, await wranglerLogin(io, wrangler), project.config.account);
  const found = await inspect(api, project);
  const secrets = await planSecrets(project.config.secrets, found, secretsFile, canAsk(io));
  return { project, found, secrets, secretsFile, api, wrangler, url: options.url?.replace(/\/$/, ""), patience };
}

const WIDTH = Math.max(...STEPS.map(({ name }) => name.length));

function describe(deployment: Deployment): string {
  const { project, found, api } = deployment;
  const kind = found.worker ? "a later deployment: the Worker exists" : "the first deployment: there is no such Worker";
  const lines = STEPS.flatMap(({ name, plan }) => {
    const planned = plan(deployment);
    return (planned.length > 0 ? planned : ["nothing to do"]).map(
      (line, index) => `  ${(index ? "" : name).padEnd(WIDTH)}  ${line}`,
    );
  });
  return [`Item Vault ${project.version} as ${project.config.name} in account ${api.account}, ${kind}`, ...lines, PLAN, ""].join(
    "\n",
  );
}

/** docs/operations.md has the arithmetic, under "The free plan". test/docs/costs.test.ts compares the numbers with its table of costs. */
const PLAN =
  "The free plan of Workers ends at about 98,000 reads or 12,500 changes a day, files of 1 MiB and 500 MB: docs/operations.md.";

function stopped(step: string, error: unknown): unknown {
  const failure = failureOf(error);
  if (!failure) return error;
  const { message, hint, exit } = failure;
  const next = "Start the same command again: it goes on with this step.";
  return new CliError(`The step \`${step}\` failed: ${message}`, { exit, hint: hint === undefined ? next : `${hint}\n${next}` });
}

function outcome({ secrets, secretsFile, found }: Deployment, { url, warnings = [] }: Made): string {
  const generated = secrets.some(({ from }) => from === "generated");
  return [
    ...warnings.map((warning) => `Warning: ${warning}`),
    url === undefined ? "Deployed, without an address: wrangler.toml has no route." : `Deployed: ${url}`,
    ...(generated
      ? [`Keep a copy of ${secretsFile} offline, apart from every backup of the database. Nobody can replace its ROOT_KEYS.`]
      : []),
    ...(found.worker || url === undefined ? [] : [nextSteps(url, secretsFile)]),
    "",
  ].join("\n");
}

const nextSteps = (url: string, secretsFile: string): string => `Next, make a vault and a token:
  export ITEM_VAULT_HOST=${url}
  export ITEM_VAULT_ADMIN_TOKEN=$(sed -n 's/^ADMIN_TOKEN=//p' ${secretsFile})
  item-vault vault create Production
  item-vault token create ci --vault Production=r`;
