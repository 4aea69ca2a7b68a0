import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Host } from "@item-vault/host";
import { loadConfiguration } from "@item-vault/host/configuration";
import { generateSecrets, readSecrets } from "../admin/deploy/secrets.ts";
import type { Call } from "../frame/command.ts";
import { CliError, EXIT } from "../frame/failure.ts";
import { reasonOf } from "../frame/reasons.ts";
import { tell } from "../output/format.ts";
import { parseServerSettings, type ServerSettings } from "./options.ts";
import { relaunchProtected } from "./relaunch.ts";
import type { SERVER_OPTIONS } from "./table.ts";

/** `server`: runs the Worker that the command line carries, until a signal. */

/** The folder of the Worker: beside the packed command line, and in a checkout where `npm run build` writes it. */
const RELEASES = ["worker", "../../dist/worker"].map((path) => join(dirname(fileURLToPath(import.meta.url)), path));

/** What /health says of one dependency. */
interface Dependency {
  readonly service: string;
  readonly status: string;
  readonly message: string;
}

/** Dependencies without which no request would be answered. */
const REQUIRED: ReadonlySet<string> = new Set(["settings", "keys", "schema", "d1"]);

export async function run({ io, options }: Call<typeof SERVER_OPTIONS>): Promise<number> {
  const release = releaseOf(options.from);
  const { vars, secrets } = loadConfiguration(join(release, "wrangler.toml"));
  const settings = parseServerSettings(io, options, Object.keys(vars));
  if (process.getuid?.() === 0 && !options["allow-root"])
    throw new CliError("The server does not run as root", {
      exit: "usage",
      hint: "Start it as an account of its own, to which the directory belongs. In a container whose root is none outside: --allow-root.",
    });
  relaunchProtected(); // this process reads and writes nothing before
  process.umask(0o077); // no other account reads what the server writes
  const say = (message: string): void => void tell(io, `item-vault: ${message}`);
  return serve({ settings, release, required: secrets.required, checks: options.check ?? false, say });
}

interface Serving {
  readonly settings: ServerSettings;
  readonly release: string;
  /** The names of the secrets that the file must have. */
  readonly required: readonly string[];
  readonly checks: boolean;
  readonly say: (message: string) => void;
}

async function serve({ settings, release, required, checks, say }: Serving): Promise<number> {
  const report = (what: string, error: unknown): void => say(`${what} failed (${(error as Error | undefined)?.name})`); // a message may quote a secret
  let loaded: Record<string, string> | undefined;
  const load = async () => (loaded = await loadVariables(settings, required, checks, say));
  // After the check of Node, because an earlier one has no SQLite.
  const { openHost } = await import("@item-vault/host");
  const told = (error: unknown): never => {
    throw failureOf(error, settings);
  };
  const host = await openHost({
    ...settings,
    release,
    loadVariables: load,
    checks,
    report,
    fail(error) {
      say(`the disk did not store what was written, so the server ends: ${error.message}`);
      process.exit(EXIT.failed);
    },
  }).catch(told);
  const reload = async (): Promise<void> => {
    const changed = await load();
    const fault = (await faultsOf(host, changed)).find(({ service }) => REQUIRED.has(service));
    if (fault) throw new CliError(fault.message);
    host.worker.setVariables(changed);
  };
  process.on("unhandledRejection", (error) => report("Work", error)); // as in workerd, it ends nobody else's request
  try {
    const pending = host.worker.pendingMigrations;
    if (pending.length > 0) say(`the next start applies ${pending.join(", ")}`);
    const faults = await faultsOf(host, loaded!);
    for (const { service, message } of faults) say(`${service}: ${message}`);
    if (checks && faults.length === 0) say("the settings, the secrets and the data are in order");
    if (checks || faults.some(({ service }) => REQUIRED.has(service))) return faults.length === 0 ? EXIT.ok : EXIT.found;
    // Before the line below: a signal that nobody listens for ends the process at once.
    const ended = Promise.race(["SIGINT", "SIGTERM"].map((signal) => once(process, signal)));
    process.on("SIGHUP", () => {
      reload().then(
        () => say("the secrets were read again"),
        (error: Error) => say(`the secrets stay as they were: ${error.message}`),
      );
    });
    say(`listening on ${await host.start().catch(told)}`);
    await ended;
    say("stopping"); // a second signal ends the process at once
    // By a signal, because the usual end of a process waits for reads of a disk that hangs.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), STOP_MS_MAX).unref();
    return EXIT.ok;
  } finally {
    await host.stop();
  }
}

/** Ten seconds for requests that have begun, and two to close the files. */
const STOP_MS_MAX = 12_000;

function releaseOf(from: string | undefined): string {
  const folders = from === undefined ? RELEASES : [resolve(from)];
  const release = folders.find((folder) => existsSync(join(folder, "code/index.js")));
  if (release !== undefined) return release;
  throw from === undefined
    ? new CliError("The Worker is not built yet", { hint: "Run `npm run build` in the checkout." })
    : new CliError(`${from} has no built Worker`, { exit: "usage", hint: "--from takes the folder `worker` of a release." });
}

/** Returns the secrets of the file, which is made for a new directory, and the settings. Only one process does so at a time. */
async function loadVariables(
  { data, secretsPath, closed, variables }: ServerSettings,
  required: readonly string[],
  checks: boolean,
  say: (message: string) => void,
): Promise<Record<string, string>> {
  if (!existsSync(secretsPath)) {
    if (checks || existsSync(join(data, "item-vault.db")))
      throw new CliError(`${data} has data, and its secrets are not in ${secretsPath}`, {
        exit: "conflict",
        hint: "Its data can only be decrypted with the original ROOT_KEYS. Name their file with --root-keys.",
      });
    await generateSecrets(required, secretsPath);
    // Before anything is sealed under them.
    const { syncFolder } = await import("@item-vault/host");
    syncFolder(dirname(secretsPath));
    say(`made the secrets: ${secretsPath}. Keep a copy offline: without ROOT_KEYS nothing can be decrypted.`);
  }
  const secrets = await readSecrets(secretsPath, closed);
  const missing = required.filter((name) => !secrets.get(name));
  if (missing.length > 0) throw new CliError(`${secretsPath} has no ${missing.join(", ")}`, { exit: "usage" });
  return { ...variables, ...Object.fromEntries(secrets) };
}

/** Returns the dependencies that /health reports as faulty with these variables. A migration that the next start applies does not count. */
async function faultsOf({ worker }: Host, variables: Readonly<Record<string, string>>): Promise<readonly Dependency[]> {
  const response = await worker.health(variables);
  const { dependencies } = (await response.json()) as { dependencies: readonly Dependency[] };
  const isPending = worker.pendingMigrations.length > 0;
  return dependencies.filter(({ service, status }) => status !== "ACTIVE" && !(service === "schema" && isPending));
}

const DAMAGED = "It is damaged: restore a backup into an empty directory (docs/server.md).";
const FORBIDDEN = "Look at the owner and the permissions of the directory and its files.";

/** By the primary result code of SQLite: READONLY, CORRUPT, CANTOPEN and NOTADB. */
const HINTS_OF_SQLITE: Readonly<Record<number, string>> = { 8: FORBIDDEN, 11: DAMAGED, 14: FORBIDDEN, 26: DAMAGED };

/** Failures of the start in words. */
function failureOf(error: unknown, { data, listen }: ServerSettings): unknown {
  if ((error as Error).name === "OperatorError") return new CliError((error as Error).message, { exit: "conflict" });
  const { code = "", errcode = 0, message } = error as { code?: string; errcode?: number; message: string };
  if (code === "ERR_SQLITE_ERROR")
    return new CliError(`The database in ${data} cannot be used: ${message}`, {
      hint: HINTS_OF_SQLITE[errcode & 0xff] ?? "Look at the disk.",
    });
  if ((error as NodeJS.ErrnoException).syscall === "listen")
    return new CliError(`Cannot listen on ${listen.host}:${listen.port}: ${reasonOf(error)}`, {
      hint: "Name another address and port with --listen.",
    });
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? error
    : new CliError(`${data} cannot be used: ${reasonOf(error)}`, { hint: "Look at the path of --data and its permissions." });
}
