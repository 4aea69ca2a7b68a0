/**
 * `npm start`: the whole service on this machine, with a demo Vault to look at.
 * Secrets, then migrations, then the server, then the demo; each step leaves alone what an earlier start has made.
 */
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createDemo } from "./demo.ts";
import { ensureSecrets } from "./secrets.ts";
import { applyMigrations, LOCAL, WRANGLER } from "./wrangler.ts";

const port = Number(process.env.PORT ?? 8787);
const base = `http://127.0.0.1:${port}`;

if (!Number.isInteger(port) || port < 1 || port > 65535) exit("PORT is not a port number");
// Whoever listens there already would be given the admin token.
if (!(await isFree(port))) exit(`Port ${port} is in use. PORT=8788 npm start takes another.`);
const { ADMIN_TOKEN } = secrets();
await applyMigrations().catch((error: Error) => exit(error.message));

const options = [
  "--ip=127.0.0.1",
  `--port=${port}`,
  "--inspector-port=0",
  "--log-level=warn",
  "--show-interactive-dev-session=false",
  // Without it wrangler warns that it triggers no cron. It serves /__scheduled beside /cdn-cgi/local/scheduled, which does the same.
  "--test-scheduled",
];
const server = spawn(process.execPath, [WRANGLER, "dev", ...options], {
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, ...LOCAL },
});
let stopping = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
server.on("exit", (code) => process.exit(stopping ? 0 : (code ?? 1)));

await listening();
const demo = await createDemo(base, ADMIN_TOKEN, ".wrangler/demo.json").catch((error: Error) => {
  stop();
  exit(
    `The demo could not be made: ${error.message}\nIs .dev.vars the one that .wrangler/state was made with? Without it, delete .wrangler to start anew.`,
  );
});
console.log(greeting());

function isFree(wanted: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(wanted, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function secrets(): { ADMIN_TOKEN: string } {
  try {
    return ensureSecrets(".dev.vars");
  } catch (error) {
    return exit((error as Error).message);
  }
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

/** At most 24 lines of 100 columns. No comment follows a command: zsh would pass it on. */
function greeting(): string {
  const { token, vault, item, file } = demo;
  return `Item Vault runs at ${base}. Ctrl-C ends it; the data stays in .wrangler/state.
Paste into another terminal in this folder. The token opens the demo Vault of this machine only.

export ITEM_VAULT=${base}/v1 VAULT=${vault}
export ITEM=${item} FILE=${file}
export TOKEN=${token}
AUTH="Authorization: Bearer $TOKEN" ITEMS=$ITEM_VAULT/vaults/$VAULT/items

List the Items, read one, change a field, attach a File, download one, see who did what:
curl -sS -H "$AUTH" $ITEMS
curl -sS -H "$AUTH" $ITEMS/$ITEM
curl -sS -H "$AUTH" $ITEMS/$ITEM -X PATCH \\
  -d '[{"op":"replace","path":"/fields/username/value","value":"grace"}]'
curl -sS -H "$AUTH" "$ITEMS/$ITEM/files?name=README.md" --data-binary @README.md
curl -sS -H "$AUTH" $ITEMS/$ITEM/files/$FILE/content
curl -sS -H "$AUTH" $ITEM_VAULT/activity
`;
}
