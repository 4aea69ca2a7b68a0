/**
 * `npm start`: the whole service on this machine, with a demo Vault to look at.
 * Secrets, then tables, then the server, then the demo; each step leaves alone what an earlier start has made.
 */
import { spawn, spawnSync } from "node:child_process";
import { createDemo } from "./demo.ts";
import { ensureSecrets } from "./secrets.ts";

const WRANGLER = "node_modules/wrangler/bin/wrangler.js";
const port = Number(process.env.PORT ?? 8787);
const base = `http://127.0.0.1:${port}`;
const quiet = { ...process.env, WRANGLER_SEND_METRICS: "false", NO_UPDATE_NOTIFIER: "1" };

if (!Number.isInteger(port) || port < 1 || port > 65535) exit("PORT is not a port number");
const { ADMIN_TOKEN } = ensureSecrets(".dev.vars");
applySchema();

const server = spawn(
  process.execPath,
  [
    WRANGLER,
    "dev",
    "--ip=127.0.0.1",
    `--port=${port}`,
    "--inspector-port=0",
    "--log-level=warn",
    "--show-interactive-dev-session=false",
  ],
  { stdio: ["ignore", "inherit", "inherit"], env: quiet },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
server.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));

let stopping = false;
await listening();
const demo = await createDemo(base, ADMIN_TOKEN, ".wrangler/demo.json").catch((error: Error) => {
  stop();
  exit(`The demo could not be made: ${error.message}`);
});
console.log(greeting());

function applySchema(): void {
  const args = [WRANGLER, "d1", "execute", "DB", "--local", "--yes", "--file=schema.sql"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env: quiet, encoding: "utf8" });
  if (status !== 0) exit(`schema.sql could not be applied:\n${stdout}${stderr}`);
}

async function listening(): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const answered = await fetch(`${base}/heartbeat`).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  stop();
  exit("The server did not start within a minute.");
}

function stop(): void {
  stopping = true;
  server.kill("SIGINT");
}

function exit(message: string): never {
  console.error(message);
  process.exit(1);
}

function greeting(): string {
  const { token, vault, item } = demo;
  const items = `${base}/v1/vaults/${vault}/items`;
  const curl = `curl -sS -H 'Authorization: Bearer ${token}'`;
  const patch = `'[{"op":"replace","path":"/fields/username/value","value":"grace"}]'`;
  return `
Item Vault is running. Ctrl-C ends it; the data stays in .wrangler/state.

  base URL  ${base}
  vault     ${vault}
  token     ${token}

List the items:
${curl} ${items}

Read one, with its password:
${curl} ${items}/${item}

Change one field:
${curl} -X PATCH -H 'Content-Type: application/json' -d ${patch} ${items}/${item}
`;
}
