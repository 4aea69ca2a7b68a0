import { readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Health } from "@item-vault/client";
import type { Call } from "../../frame/command.ts";
import { secondsOf } from "../../frame/duration.ts";
import { CliError } from "../../frame/failure.ts";
import { write } from "../../frame/io.ts";
import { printable } from "../../frame/printable.ts";
import { canAsk, confirm } from "../../frame/prompt.ts";
import {
  type Api,
  type Binding,
  connect,
  createWrangler,
  NO_WORKER,
  withFiles,
  type Wrangler,
  wranglerLogin,
} from "./cloudflare.ts";
import { type Configuration, configurationWith, loadProject } from "./project.ts";
import { generateSecrets, lackingSecrets, requireSecrets } from "./secrets.ts";
import type { DEPLOY_OPTIONS } from "./table.ts";

/** `admin deploy`: looks at the account, stops where data would be lost, shows the steps, and carries them out (docs/design/programs.md). */

export async function run({ io, options }: Call<typeof DEPLOY_OPTIONS>): Promise<void> {
  const secretsFile = options.secrets ?? "production.vars";
  const patience = secondsOf("--wait", options.wait ?? "60s") * 1000;
  const project = await loadProject(options.from, io.env);
  const { config, version } = project;
  const wrangler = createWrangler(io, project.folder);
  const api = await connect(io, await wranglerLogin(io, wrangler), config.account_id);
  const worker = await api.read<{ readonly bindings: readonly Binding[] }>(
    `/workers/scripts/${config.name}/settings`,
    ...NO_WORKER,
  );
  const bindings = worker?.bindings ?? [];
  const storage = await inspect(api, config, bindings, options["new-database"] ?? false);
  const present = bindings.filter(({ type }) => type === "secret_text").map(({ name }) => name);
  const { values, missing } = await lackingSecrets(config.secrets?.required ?? [], present, secretsFile);
  await requireSecrets(missing, secretsFile, canAsk(io), () => isInUse(api, storage.databaseId));

  const commands = commandsOf(config, storage);
  const kind = worker ? "a later deployment" : "the first deployment: there is no such Worker";
  const plan = [
    `Item Vault ${version} as ${config.name} in account ${api.account}, ${kind}`,
    ...(missing.length > 0 ? [`  generate ${missing.join(", ")} into ${secretsFile}`] : []),
    ...commands.map((command) => `  wrangler ${command.join(" ")}`),
    `  wait until /health shows version ${version} without an error`,
  ];
  await write(io.stdout, `${plan.join("\n")}\n`);
  if (options["dry-run"]) return;
  // Without a terminal the command was started by a build, which has nobody to ask.
  if (canAsk(io)) await confirm(io, "Continue?", options.yes);

  // Before anything else: a stopped deployment continues with them.
  const secrets = { ...values, ...(await generateSecrets(missing, secretsFile)) };
  let url = options.url?.replace(/\/$/, "");
  for (const command of commands) {
    await write(io.stderr, `wrangler ${command.join(" ")}…\n`);
    const databaseId = storage.databaseId ?? (await findDatabase(api, config.d1_databases[0]!.database_name));
    const configuration = configurationWith(project, api.account, databaseId, storage.buckets);
    const address = await runWrangler(wrangler, command, configuration, command === DEPLOY ? secrets : {});
    url ??= address;
  }
  if (url !== undefined) await waitForHealth(url, version, patience);
  await write(io.stdout, `Deployed: ${url ?? "without an address, because wrangler.toml has no route"}\n`);
  if (missing.length > 0) await write(io.stdout, keepCopy(secretsFile));
  if (worker === undefined && url !== undefined) await write(io.stdout, nextSteps(url, secretsFile));
}

const NO_DATABASE = 7404;
const NO_BUCKET = 10006;

/** Returns the id of the database with an id or a name. */
const findDatabase = async (api: Api, idOrName: string): Promise<string | undefined> =>
  (await api.read<{ readonly uuid: string }>(`/d1/database/${encodeURIComponent(idOrName)}`, NO_DATABASE))?.uuid;

/**
 * Returns the id of the database, unless it has to be created, and the names of the buckets, as in wrangler.toml. Throws a CliError if the
 * deployed Worker uses other storage than wrangler.toml names. Unless `replaces`, also throws if a database or bucket of the Worker, or the
 * `database_id` of wrangler.toml, is gone: wrangler would create an empty one.
 */
async function inspect(api: Api, config: Configuration, bindings: readonly Binding[], replaces: boolean) {
  const requireKept = (what: string, used: string | undefined, exists: boolean, wanted: string | undefined, key: string) => {
    if (used === undefined) return;
    if (!exists && !replaces) throw goneStorage(`${what} ${used}`);
    if (exists && wanted !== used) throw otherStorage(`${what} ${used}`, `${key} = "${used}"`);
  };
  const { database_id: configured, database_name: name } = config.d1_databases[0]!;
  const used = bindings.find(({ type }) => type === "d1")?.id ?? configured;
  const known = configured === undefined ? undefined : await findDatabase(api, configured);
  const databaseId = known ?? (await findDatabase(api, name));
  const exists = used !== undefined && (used === databaseId || (await findDatabase(api, used)) !== undefined);
  requireKept("database", used, exists, databaseId, "database_id");
  const buckets: string[] = [];
  const lostBuckets: string[] = []; // wrangler takes a bucket of the deployed Worker for an existing one
  for (const { binding, bucket_name: named, jurisdiction } of config.r2_buckets) {
    const bound = bindings.find(({ type, name: of }) => type === "r2_bucket" && of === binding)?.bucket_name;
    // The API finds a bucket of a jurisdiction with a header of its own only.
    const isThere =
      bound !== undefined && (jurisdiction !== undefined || (await api.read(`/r2/buckets/${bound}`, NO_BUCKET)) !== undefined);
    const bucket = named ?? bound ?? `${config.name}-${binding.toLowerCase().replaceAll("_", "-")}`;
    requireKept("bucket", bound, isThere, bucket, "bucket_name");
    if (bucket === bound && !isThere) lostBuckets.push(bucket);
    buckets.push(bucket);
  }
  return { databaseId, buckets, lostBuckets };
}

type Storage = Awaited<ReturnType<typeof inspect>>;

const otherStorage = (what: string, line: string): CliError =>
  new CliError(`The deployed Worker uses the ${what}, and wrangler.toml names another one`, {
    exit: "conflict",
    hint: `The deployment would leave the data behind. To keep it, write ${line} into wrangler.toml.`,
  });

const goneStorage = (what: string): CliError =>
  new CliError(`The ${what} of this deployment is gone`, {
    exit: "conflict",
    hint: "In another account, set CLOUDFLARE_ACCOUNT_ID. To restore a backup into an empty one, start again with --new-database.",
  });

/** Returns whether the database has rows that need its own root keys: vaults, or the proofs by which the service refuses other keys. */
async function isInUse(api: Api, databaseId: string | undefined): Promise<boolean> {
  if (databaseId === undefined) return false;
  const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('vaults', 'root_keys')";
  for (const { name } of await api.query<{ readonly name: string }>(databaseId, tables))
    if ((await api.query(databaseId, `SELECT 1 FROM ${name} LIMIT 1`)).length > 0) return true;
  return false;
}

const DEPLOY = ["deploy"];

/**
 * Returns the commands of wrangler. The schema and the secrets exist before the first version, and a release serves the schema of the next
 * one. So no Worker serves without what it needs.
 */
const commandsOf = ({ d1_databases: [database] }: Configuration, { databaseId, lostBuckets }: Storage): string[][] => [
  ...(databaseId === undefined ? [["d1", "create", database!.database_name]] : []),
  ["d1", "migrations", "apply", database!.database_name, "--remote"],
  ...lostBuckets.map((name) => ["r2", "bucket", "create", name]),
  DEPLOY,
];

/** Runs a command with a configuration, and with secrets to set. Returns the address of the Worker that it has deployed. */
function runWrangler(
  wrangler: Wrangler,
  command: readonly string[],
  configuration: string,
  secrets: Readonly<Record<string, string>>,
) {
  const files = { "configuration.json": configuration, "secrets.json": JSON.stringify(secrets), output: "" };
  return withFiles(files, async ([config, values, output]) => {
    const sets = Object.keys(secrets).length > 0 ? ["--secrets-file", values!] : [];
    await wrangler([...command, "--config", config!, ...sets], { WRANGLER_OUTPUT_FILE_PATH: output! });
    return addressIn(await readFile(output!, "utf8"));
  });
}

/** A host name, alone or before a path or a remark; other targets are schedules and queues. */
const HOST = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]+)(?=$|[/ ])/i;

/** Returns the first address in the output file of wrangler: lines of JSON, of which one has the addresses. */
function addressIn(output: string): string | undefined {
  const lines = output.split("\n").filter(Boolean);
  const targets = lines.flatMap((line) => (JSON.parse(line) as { targets?: string[] }).targets ?? []);
  const host = targets.map((target) => HOST.exec(target)?.[1]).find((found) => found !== undefined);
  return host === undefined ? undefined : `https://${host}`;
}

const QUESTION_INTERVAL_MS = 2_000;

/**
 * Waits until /health shows the version with no dependency in ERROR (contract 13): a new address and a new version take a while to reach every
 * location. After `patience` milliseconds, throws a CliError with the last answer.
 */
async function waitForHealth(url: string, version: string, patience: number): Promise<void> {
  const until = Date.now() + patience;
  for (let fault = await faultOf(url, version); fault !== undefined; fault = await faultOf(url, version)) {
    if (Date.now() + QUESTION_INTERVAL_MS > until)
      throw new CliError(`${url}/health: ${printable(fault)}`, {
        exit: "unavailable",
        hint: "Correct this and start again. `npx wrangler rollback` deploys the version before.",
      });
    await wait(QUESTION_INTERVAL_MS);
  }
}

async function faultOf(url: string, version: string): Promise<string | undefined> {
  const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
  if (!response) return "no answer";
  const health = (await response.json().catch(() => ({}))) as Partial<Health>;
  if (!response.ok || !health.dependencies) return `status ${response.status}`;
  if (health.version !== version) return `version ${health.version} answers, and ${version} was deployed`;
  const errors = health.dependencies.filter(({ status }) => status === "ERROR");
  return errors.map(({ service, message }) => `${service}: ${message}`).join("; ") || undefined;
}

const keepCopy = (secretsFile: string): string =>
  `Keep a copy of ${secretsFile} offline, apart from every backup of the database. Nobody can replace its ROOT_KEYS.\n`;

const nextSteps = (url: string, secretsFile: string): string => `Next, make a vault and a token:
  export ITEM_VAULT_HOST=${url}
  export ITEM_VAULT_ADMIN_TOKEN=$(sed -n 's/^ADMIN_TOKEN=//p' ${secretsFile})
  item-vault vault create Production
  item-vault token create ci --vault Production=r
`;
