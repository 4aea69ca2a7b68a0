/**
 * `npm run check:document`: gives the API's document to linters and generators that other people use, and calls a local service with
 * clients that are made of it (check-document/calls/). Prints a line for each, with what it complains of. Fails if any prints a warning or
 * an error, if what a generator writes does not compile, or if a client gets a wrong answer.
 * They are installed in a temporary folder, by the lock file in check-document/, without their install scripts.
 */
import { execFile, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { build } from "esbuild";
import { document } from "../src/api/openapi/document.ts";
import { startWorker } from "../test/sdk/support/worker.ts";

interface Tool {
  readonly package: string;
  /** The arguments of Node in the temporary folder, which has the document as `openapi.json`. */
  readonly run: readonly string[];
  /** The lines that the tool prints when it has nothing to complain of. Some exit with 0 after a warning, so any other line is one. */
  readonly usual: readonly RegExp[];
  /** The file that a generator writes, from which its other files are imported. */
  readonly writes?: string;
  /** The program of `calls/` that imports what the generator writes, and calls the service. */
  readonly calls?: string;
}

const VALIDATE = `import parser from "@apidevtools/swagger-parser"; await parser.validate("openapi.json"); console.log("valid");`;
const TYPES_FOR_AXIOS = `import { execFileSync } from "node:child_process"; import { writeFileSync } from "node:fs";
writeFileSync("axios-types.d.ts", execFileSync(process.execPath, ["node_modules/openapicmd/bin/run", "typegen", "openapi.json"], { maxBuffer: 1e8 }));
console.log("written");`;
const bin = (name: string, ...args: string[]): string[] => [`node_modules/.bin/${name}`, ...args];

const TOOLS: readonly Tool[] = [
  {
    package: "@redocly/cli",
    run: bin("redocly", "lint", "--extends=recommended", "openapi.json"),
    // The problems of check-document/.redocly.lint-ignore.yaml. The number changes when one of them is no longer a problem.
    usual: [/^validating openapi/, /^openapi\.json: validated in /, /^Woohoo! /, /^2 problems are explicitly ignored\.$/],
  },
  {
    package: "@stoplight/spectral-cli",
    run: bin("spectral", "lint", "--fail-severity=hint", "openapi.json"),
    usual: [/^No results with a severity of 'hint' or higher found!$/],
  },
  {
    package: "@apidevtools/swagger-parser",
    run: ["--input-type=module", "--eval", VALIDATE],
    usual: [/^valid$/],
  },
  {
    package: "openapi-typescript",
    run: bin("openapi-typescript", "openapi.json", "--output=types.ts"),
    usual: [/^✨ /, /^🚀 /],
    calls: "openapi-fetch",
  },
  {
    package: "openapi-typescript-codegen",
    run: ["node_modules/openapi-typescript-codegen/bin/index.js", "--input=openapi.json", "--output=codegen"],
    usual: [],
    calls: "openapi-typescript-codegen",
  },
  {
    package: "typed-openapi",
    run: bin("typed-openapi", "openapi.json", "--output=typed-openapi.ts"),
    usual: [/^Found \d+ endpoints$/, /^Generating client\.\.\. /, /^Done in /],
    calls: "typed-openapi",
  },
  {
    package: "openapicmd",
    run: ["--input-type=module", "--eval", TYPES_FOR_AXIOS],
    usual: [/^written$/],
    calls: "openapi-client-axios",
  },
  {
    package: "@hey-api/openapi-ts",
    run: bin("openapi-ts", "--input=openapi.json", "--output=hey-api", "--no-log-file"),
    usual: [/^@hey-api\/openapi-ts v/, /^\[Job 1\] ~ /, /^\[Job 1\] +\[1\] openapi\.json$/, /^\[Job 1\] ✓ /],
    writes: "hey-api/index.ts",
  },
  {
    package: "orval",
    // Its default is a client that imports axios.
    run: bin("orval", "--input=openapi.json", "--output=orval.ts", "--client=fetch"),
    usual: [/^🍻 /, /^🎉 /],
    writes: "orval.ts",
  },
];

/** Most tools take a second. One that hangs must not take the results of those after it. */
const TIMEOUT_MS = 120_000;
const ENVIRONMENT = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
const TSC = [resolve("node_modules/typescript/bin/tsc"), "--noEmit", "--strict"];
/** As a project with a bundler compiles. `--typeRoots`: without the types of what the generators themselves use. */
const TSC_OF_CALLS = [
  ...TSC,
  "--target",
  "es2022",
  "--module",
  "esnext",
  "--moduleResolution",
  "bundler",
  "--allowImportingTsExtensions",
  "--resolveJsonModule",
  "--typeRoots",
  "none",
];
/** Bytes that a tool prints at most. */
const OUTPUT_MAX = 10_000_000;

/** Runs Node in the folder. Returns the lines that are not usual, what is missing, and why the process failed; nothing if all is well. */
async function complaintsOf(
  folder: string,
  args: readonly string[],
  usual: readonly RegExp[],
  variables: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const options = { cwd: folder, env: { ...ENVIRONMENT, ...variables }, timeout: TIMEOUT_MS, maxBuffer: OUTPUT_MAX };
  const [failure, output] = await new Promise<[string | undefined, string]>((done) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done([error === null ? undefined : `It ended with ${error.code ?? error.signal}.`, stdout + stderr]),
    );
  });
  const lines = stripVTControlCharacters(output).split("\n");
  return [
    ...lines.filter((line) => line.trim() !== "" && !usual.some((pattern) => pattern.test(line))),
    ...usual.filter((pattern) => !lines.some((line) => pattern.test(line))).map((pattern) => `It printed no line ${pattern}.`),
    ...(failure === undefined ? [] : [failure]),
  ];
}

/** Compiles a program of `calls/` and runs it. Returns what is wrong with it. */
async function complaintsOfCalls(
  folder: string,
  program: string,
  variables: Readonly<Record<string, string>>,
): Promise<string[]> {
  const source = join("calls", `${program}.ts`);
  const complaints = await complaintsOf(folder, [...TSC_OF_CALLS, source], []);
  if (complaints.length > 0) return complaints;
  const outfile = join(folder, `${program}.mjs`);
  await build({
    absWorkingDir: folder,
    entryPoints: [source],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    packages: "external",
  });
  return complaintsOf(folder, [outfile], [], variables);
}

/** Prints the result of one tool. Returns whether the tool accepts the document. */
async function accepts(folder: string, tool: Tool, variables: Readonly<Record<string, string>>): Promise<boolean> {
  const { writes, calls } = tool;
  const complaints = await complaintsOf(folder, tool.run, tool.usual);
  if (writes !== undefined) complaints.push(...(await complaintsOf(folder, [...TSC, writes], [])));
  if (calls !== undefined) complaints.push(...(await complaintsOfCalls(folder, calls, variables)));
  const accepted = [
    "no warning",
    ...((writes ?? calls) ? ["what it writes compiles"] : []),
    ...(calls ? [`${nameOf(folder, calls)} calls`] : []),
  ];
  console.log(`${nameOf(folder, tool.package)}: ${complaints.length === 0 ? accepted.join(", ") : "REFUSED"}`);
  for (const line of complaints) console.log(`    ${line}`);
  return complaints.length === 0;
}

/** Returns a package with its version. */
function nameOf(folder: string, name: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")) as { version: string };
  return `${name} ${version}`;
}

/** A service on this machine, with an empty vault for each program that calls it. */
async function startService() {
  const adminToken = randomBytes(32).toString("base64");
  const secrets = {
    ADMIN_TOKEN: adminToken,
    ROOT_KEYS: randomBytes(32).toString("base64"),
    METRICS_TOKEN: randomBytes(32).toString("base64"),
  };
  // wrangler reads the secrets from the environment, and warns of each that is missing.
  Object.assign(process.env, secrets);
  process.env.WRANGLER_LOG ??= "error";
  const { url, close } = await startWorker(secrets);
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${adminToken}` };
    const response = await fetch(new URL(path, url), { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`The service answered ${response.status} to POST ${path}`);
    return (await response.json()) as { id: string; token: string };
  };
  const newVault = async () => {
    const { id } = await post("/v1/admin/vaults", { name: "Production" });
    const { token } = await post("/v1/admin/tokens", { name: "check", vaults: { [id]: "rw" } });
    return { SERVICE_URL: new URL(url).origin, SERVICE_TOKEN: token, SERVICE_VAULT: id };
  };
  return { newVault, close };
}

const folder = mkdtempSync(join(tmpdir(), "item-vault-document-"));
const service = await startService();
try {
  cpSync("scripts/check-document", folder, { recursive: true });
  writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(document, undefined, 2)}\n`);
  const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", install, { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error("npm could not install the linters and generators");
  for (const tool of TOOLS) if (!(await accepts(folder, tool, await service.newVault()))) process.exitCode = 1;
} finally {
  await service.close();
  rmSync(folder, { recursive: true });
}
