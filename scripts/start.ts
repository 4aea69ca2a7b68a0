/**
 * `npm start` runs the service on this machine with a demo Vault. `npm start -- --restore DIR` runs it with what a folder of
 * `npm run backup -- --to DIR` has, in place of the demo.
 * It creates the secrets, applies the migrations, builds the static files and the command line, starts the server and creates the
 * demo. Each step keeps what an earlier start has created.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import * as paths from "node:path";
import { LIMITS } from "../src/model/limits.ts";
import { build } from "./build.ts";
import { ADDRESS, createDemo, createSignInLink, DEMO, type Demo, loadLogin } from "./demo.ts";
import { ensureSecrets } from "./secrets.ts";
import { applyMigrations, LOCAL, WRANGLER } from "./wrangler.ts";

const port = Number(process.env.PORT ?? 8787);
/** Where `wrangler dev` keeps D1 and R2. */
const STATE = ".wrangler/state";
/** wrangler resolves what it names, and .dev.vars, from its folder. */
const CONFIGURATION = "wrangler.start.toml";
/** Is there while the data is that of a restore, so that `npm start` makes no demo. It has the path of the restored folder. */
const RESTORED = ".wrangler/restored";
/** A token belongs on a terminal, and not into a log. */
const TOKEN_OF_FILE = `$(node -p 'require("./.wrangler/demo.json").token')`;
/** `EXIT.found` of the command line, which is not importable before the client is built. */
const FOUND = 7;
const base = `http://127.0.0.1:${port}`;

if (!Number.isInteger(port) || port < 1 || port > 65535) exit("PORT is not a port number");
// Otherwise the demo would send the admin token to the process that listens on the port.
if (!(await isPortFree(port))) exit(`Port ${port} is in use. PORT=8788 npm start uses another one.`);
const folder = restoreFolder();
const { adminToken, variables } = loadSecrets();
if (folder !== undefined) makeRoom(folder);
await Promise.all([applyMigrations(), build()]).catch((error: Error) => exit(error.message));

const options = [
  "--ip=127.0.0.1",
  `--port=${port}`,
  "--inspector-port=0",
  "--log-level=warn",
  "--show-interactive-dev-session=false",
  // Not --test-scheduled: its /__scheduled answers every page of every origin. wrangler says instead that it runs no cron trigger.
  ...configurationOf(variables),
];
const server = spawn(process.execPath, [WRANGLER, "dev", ...options], {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, ...LOCAL },
});
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
process.on("exit", () => rmSync(ADDRESS, { force: true }));
server.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));

await waitForServer();
if (folder !== undefined) await restore(folder);
writeFileSync(ADDRESS, `${process.pid} ${base}`);
if (isRestored()) console.log(await greetingOfRestored());
else await startDemo();

async function startDemo(): Promise<void> {
  const demo = await createDemo(base, adminToken, DEMO).catch(async (error: Error) => {
    const fault = await findSettingsFault();
    stop();
    if (fault !== undefined) exit(`A setting in wrangler.toml or .dev.vars is malformed: ${fault}`);
    exit(
      `The demo could not be created: ${error.message}\nThe data in .wrangler/state needs the .dev.vars that it was created with. If that file is lost, delete .wrangler.`,
    );
  });
  console.log(greeting(demo, await loadLogin(base, demo), await signInLines(demo.token)));
}

/**
 * Writes a configuration beside wrangler.toml. Returns the option that names it. The code is not minified, so that the frames in log lines
 * have the names of functions and files. wrangler reads from .dev.vars only what its configuration names, so the names of all variables are
 * added. As arguments, the values would be in the list of processes.
 */
function configurationOf(names: readonly string[]): string[] {
  const text = readFileSync("wrangler.toml", "utf8").replace(/^minify = .*\n/m, "");
  const missing = names.filter((name) => !new RegExp(`^${RegExp.escape(name)} = `, "m").test(text));
  const added = missing.map((name) => `${JSON.stringify(name)} = ""\n`).join("");
  const written = text.replace(/^\[vars\]\n/m, (line) => line + added);
  if (written === text && missing.length > 0)
    exit(`wrangler.toml has no [vars], so ${missing.join(", ")} of .dev.vars cannot be set`);
  writeFileSync(CONFIGURATION, written);
  return [`--config=${CONFIGURATION}`];
}

/** The folder of `--restore`. */
function restoreFolder(): string | undefined {
  const [option, path, ...more] = process.argv.slice(2);
  if (option === undefined) return undefined;
  if (option !== "--restore" || path === undefined || more.length > 0)
    exit("Expected `npm start` or `npm start -- --restore DIR`");
  if (!existsSync(paths.join(path, "vaults"))) exit(`${path} has no backups: it is a folder of \`npm run backup -- --to DIR\``);
  return path;
}

/** A deployment is restored into an empty one (contract 21.25). What is there is moved away, but for a restore of the same folder, which goes on. */
function makeRoom(from: string): void {
  const path = paths.resolve(from);
  if (isRestored() && readFileSync(RESTORED, "utf8") === path) return;
  if (existsSync(STATE)) {
    const kept = `.wrangler/before-${new Date().toISOString().replaceAll(":", "-")}`;
    mkdirSync(kept);
    for (const name of [STATE, DEMO]) if (existsSync(name)) renameSync(name, paths.join(kept, paths.basename(name)));
    console.log(`The data of before was moved to ${kept}.`);
  }
  mkdirSync(".wrangler", { recursive: true });
  writeFileSync(RESTORED, path);
}

function isRestored(): boolean {
  return existsSync(RESTORED);
}

/** `item-vault admin restore --from`. The service stops when it fails; the same command continues. */
async function restore(from: string): Promise<void> {
  const command = [
    "--conditions=source",
    "--disable-warning=ExperimentalWarning",
    "packages/cli/src/main.ts",
    "admin",
    "restore",
  ];
  const child = spawn(process.execPath, [...command, "--from", from, "--yes"], {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ITEM_VAULT_HOST: base, ITEM_VAULT_ADMIN_TOKEN: adminToken },
  });
  const code = await new Promise((end) => void child.on("close", end));
  // The command has named what the backup has damaged; everything else is restored.
  if (code === 0 || code === FOUND) return;
  stop();
  exit(
    "Nothing or a part was restored. ROOT_KEYS in .dev.vars has to be that of the deployment of the backup. The same command continues.",
  );
}

/** A link signs in whoever opens it first: it belongs on a terminal, and not into a log. */
async function signInLines(token?: string): Promise<string> {
  if (!process.stdout.isTTY) return "To open the console, run: npm run console";
  return `${await createSignInLink(base, adminToken, token)}
The link opens the console, once and within ${LIMITS.signInCode / 60} minutes; npm run console makes another.`;
}

async function greetingOfRestored(): Promise<string> {
  return `Item Vault runs at ${base} with restored data. Ctrl-C stops it; the data stays in .wrangler/state.
${await signInLines()}
No token was restored. In another terminal, here, with ADMIN_TOKEN of .dev.vars as ITEM_VAULT_ADMIN_TOKEN:

export ITEM_VAULT_HOST=${base}
npx --no item-vault vault list --admin
npx --no item-vault token create laptop --vault NAME=rw
`;
}

function isPortFree(candidate: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(candidate, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function loadSecrets(): ReturnType<typeof ensureSecrets> {
  try {
    return ensureSecrets(".dev.vars", folder !== undefined);
  } catch (error) {
    return exit((error as Error).message);
  }
}

async function waitForServer(): Promise<void> {
  for (let waited = 0; waited < 120_000; waited += 100) {
    const ready = await fetch(`${base}/heartbeat`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  stop();
  exit("The server did not start within two minutes. Run the same command again: it continues.");
}

/** Returns the message of /health about a malformed setting, with which the demo fails; `undefined` when the settings are well-formed. */
async function findSettingsFault(): Promise<string | undefined> {
  const response = await fetch(`${base}/health`);
  const { dependencies } = (await response.json()) as { dependencies: { service: string; status: string; message: string }[] };
  return dependencies.find(({ service, status }) => service === "settings" && status === "ERROR")?.message;
}

function stop(): void {
  stopping = true;
  server.kill("SIGINT");
}

function exit(message: string): never {
  console.error(message);
  process.exit(1);
}

/**
 * The text must fit into a terminal: at most 24 lines of 100 columns, but for the link and the token. No comment follows a command, because an interactive
 * zsh passes it to the command as arguments.
 */
function greeting(demo: Demo, { title, version }: { readonly title: string; readonly version: number }, signIn: string): string {
  const { token, vault, item, file } = demo;
  const reference = `"op://Demo/${title}/password"`;
  return `Item Vault runs at ${base}. Ctrl-C stops it; the data stays in .wrangler/state.
${signIn}
Its API: ${base}/docs/. The command line: docs/cli.md. In another terminal, here:

export ITEM_VAULT_HOST=${base}
export ITEM_VAULT_TOKEN=${process.stdout.isTTY ? token : TOKEN_OF_FILE}

npx --no item-vault read ${reference}
PASSWORD=${reference} npx --no item-vault run -- sh -c 'echo "\${#PASSWORD}: $PASSWORD"'
npx --no item-vault import docs/examples/passwords.csv --vault Demo
npx --no item-vault item list

The same over HTTP: read the Item, change a field, undo that, download its File:
AUTH="Authorization: Bearer $ITEM_VAULT_TOKEN"
ITEM=${base}/v1/vaults/${vault}/items/${item}
curl -sS -H "$AUTH" $ITEM
curl -sS -H "$AUTH" $ITEM -X PATCH \\
  -d '[{"op":"replace","path":"/fields/username/value","value":"grace"}]'
curl -sS -H "$AUTH" $ITEM/versions/${version}/restore -X POST
curl -sS -H "$AUTH" $ITEM/files/${file}/content
`;
}
