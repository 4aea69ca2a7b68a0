/**
 * `npm start` runs the service on this machine with a demo Vault.
 * It creates the secrets, applies the migrations, builds the static files and the command line, starts the server and creates the
 * demo. Each step keeps what an earlier start has created.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { build } from "./build.ts";
import { createDemo, createSignInLink, loadLogin } from "./demo.ts";
import { ensureSecrets } from "./secrets.ts";
import { applyMigrations, LOCAL, WRANGLER } from "./wrangler.ts";

const port = Number(process.env.PORT ?? 8787);
const base = `http://127.0.0.1:${port}`;

if (!Number.isInteger(port) || port < 1 || port > 65535) exit("PORT is not a port number");
// Otherwise the demo would send the admin token to the process that listens on the port.
if (!(await isPortFree(port))) exit(`Port ${port} is in use. PORT=8788 npm start uses another one.`);
const { ADMIN_TOKEN, TOKENS_NOT_BEFORE } = loadSecrets();
await Promise.all([applyMigrations(), build()]).catch((error: Error) => exit(error.message));

const options = [
  "--ip=127.0.0.1",
  `--port=${port}`,
  "--inspector-port=0",
  "--log-level=warn",
  "--show-interactive-dev-session=false",
  // Without this option wrangler warns that it does not run the cron trigger. The option adds /__scheduled, which does the same as
  // /cdn-cgi/local/scheduled.
  "--test-scheduled",
  // wrangler reads only the required secrets from .dev.vars.
  ...(TOKENS_NOT_BEFORE ? ["--var", `TOKENS_NOT_BEFORE:${TOKENS_NOT_BEFORE}`] : []),
];
const server = spawn(process.execPath, [WRANGLER, "dev", ...options], {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, ...LOCAL },
});
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
server.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));

await waitForServer();
const demo = await createDemo(base, ADMIN_TOKEN, ".wrangler/demo.json").catch(async (error: Error) => {
  const fault = await findSettingsFault();
  stop();
  if (fault !== undefined) exit(`A setting in wrangler.toml or .dev.vars is malformed: ${fault}`);
  exit(
    `The demo could not be created: ${error.message}\nThe data in .wrangler/state needs the .dev.vars that it was created with. If that file is lost, delete .wrangler.`,
  );
});
console.log(greeting(await loadLogin(base, demo), await createSignInLink(base, ADMIN_TOKEN, demo)));

function isPortFree(candidate: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(candidate, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function loadSecrets(): ReturnType<typeof ensureSecrets> {
  try {
    return ensureSecrets(".dev.vars");
  } catch (error) {
    return exit((error as Error).message);
  }
}

async function waitForServer(): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const ready = await fetch(`${base}/heartbeat`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  stop();
  exit("The server did not start within a minute.");
}

/** Out: what /health says about a malformed setting, which the demo fails at; `undefined` when the settings are well-formed. */
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
function greeting({ title, version }: { readonly title: string; readonly version: number }, link: string): string {
  const { token, vault, item, file } = demo;
  const reference = `"op://Demo/${title}/password"`;
  return `Item Vault runs at ${base}. Ctrl-C stops it; the data stays in .wrangler/state.
${link}
The link opens the console, once and within 10 minutes; npx item-vault console makes another.
Its API: ${base}/docs/. The command line: docs/cli.md. In another terminal, here:

export ITEM_VAULT_HOST=${base}
export ITEM_VAULT_TOKEN=${token}

npx item-vault read ${reference}
PASSWORD=${reference} npx item-vault run -- sh -c 'echo "\${#PASSWORD}: $PASSWORD"'
npx item-vault import docs/examples/passwords.csv --vault Demo
npx item-vault item list

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
