/**
 * `npm run check:document`: gives the API's document to linters and generators that other people use. Prints a line for each, with what
 * it complains of, and fails when any prints a warning or an error, or when what a generator writes does not compile.
 * They are installed in a temporary folder, by the lock file in check-document/, without their install scripts.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { document } from "../openapi/document.ts";

interface Tool {
  readonly package: string;
  /** The arguments of Node in the temporary folder, which has the document as `openapi.json`. */
  readonly run: readonly string[];
  /** The lines that the tool prints when it has nothing to complain of. Some exit with 0 after a warning, so any other line is one. */
  readonly usual: readonly RegExp[];
  /** The file that a generator writes, from which its other files are imported. */
  readonly writes?: string;
}

const VALIDATE = `import parser from "@apidevtools/swagger-parser"; await parser.validate("openapi.json"); console.log("valid");`;
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
    writes: "types.ts",
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

/** Runs Node in the folder. Returns the lines that are not usual, what is missing, and why the process failed; nothing when all is well. */
function complaintsOf(folder: string, args: readonly string[], usual: readonly RegExp[]): string[] {
  const { status, signal, stdout, stderr, error } = spawnSync(process.execPath, args, {
    cwd: folder,
    env: ENVIRONMENT,
    encoding: "utf8",
    timeout: TIMEOUT_MS,
  });
  const lines = stripVTControlCharacters(stdout + stderr).split("\n");
  return [
    ...lines.filter((line) => line.trim() !== "" && !usual.some((pattern) => pattern.test(line))),
    ...usual.filter((pattern) => !lines.some((line) => pattern.test(line))).map((pattern) => `It printed no line ${pattern}.`),
    ...(status === 0 ? [] : [error?.message ?? `It ended with ${status ?? signal}.`]),
  ];
}

/** Prints the result of one tool. Returns whether it accepts the document. */
function accepts(folder: string, tool: Tool): boolean {
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules", tool.package, "package.json"), "utf8")) as {
    version: string;
  };
  const complaints = complaintsOf(folder, tool.run, tool.usual);
  if (tool.writes !== undefined) complaints.push(...complaintsOf(folder, [...TSC, tool.writes], []));
  const accepted = tool.writes === undefined ? "no warning" : "no warning, and what it writes compiles";
  console.log(`${tool.package} ${version}: ${complaints.length === 0 ? accepted : "REFUSED"}`);
  for (const line of complaints) console.log(`    ${line}`);
  return complaints.length === 0;
}

const folder = mkdtempSync(join(tmpdir(), "item-vault-document-"));
try {
  cpSync("scripts/check-document", folder, { recursive: true });
  writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(document, undefined, 2)}\n`);
  const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", install, { cwd: folder, stdio: "inherit" });
  if (status !== 0) throw new Error("npm could not install the linters and generators");
  const refusals = TOOLS.filter((tool) => !accepts(folder, tool));
  if (refusals.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
