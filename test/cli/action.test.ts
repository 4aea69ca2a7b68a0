import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { CACHE } from "./support/process.ts";
import { ISSUED, startGitHub, startService } from "./support/workload.ts";

/** The action of action/action.yml: its script, run as the runner of GitHub Actions does, in bash. */

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly runs: { readonly steps: readonly { readonly env: Readonly<Record<string, string>>; readonly run: string }[] };
}

const action = parse(readFileSync("action/action.yml", "utf8")) as Action;
const [step] = action.runs.steps;

/** A folder for the PATH with this program. */
function programOf(name: string, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "item-vault-action-"));
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

const COMMAND_LINE = `exec ${process.execPath} ${resolve("packages/cli/bin/item-vault.js")} "$@"`;

async function runAction(inputs: Readonly<Record<string, string>>, program: string) {
  const file = join(mkdtempSync(join(tmpdir(), "item-vault-env-")), "env");
  const valueOf = (text: string) =>
    text.replaceAll(/\$\{\{ inputs\.(\w+) \}\}/g, (_, name: string) => inputs[name] ?? action.inputs[name]!.default!);
  const given = Object.fromEntries(Object.entries(step!.env).map(([name, text]) => [name, valueOf(text)]));
  const github = await startGitHub();
  const base = { PATH: `${program}:/usr/bin:/bin`, HOME: tmpdir(), XDG_CACHE_HOME: CACHE, GITHUB_ENV: file };
  const ended = await promisify(execFile)("bash", ["-e", "-c", step!.run], { env: { ...base, ...github.env, ...given } }).catch(
    (error: { readonly stdout: string; readonly stderr: string; readonly code: number }) => error,
  );
  const code = "code" in ended ? ended.code : 0;
  const variables = code === 0 ? readFileSync(file, "utf8") : undefined;
  return { code, stdout: ended.stdout, stderr: ended.stderr, variables, asked: github.requests };
}

it("sets the variables of Connect's clients, and masks the token", async () => {
  const service = await startService();
  const ran = await runAction({ host: service.url }, programOf("item-vault", COMMAND_LINE));
  expect(ran).toMatchObject({ code: 0, stdout: "", variables: `OP_CONNECT_HOST=${service.url}\nOP_CONNECT_TOKEN=${ISSUED}\n` });
  expect(ran.stderr).toContain(`::add-mask::${ISSUED}\n`);
});

it("takes the rule and the audience as they are, also what a shell would run", async () => {
  const service = await startService();
  const [rule, audience] = ["--$(id)", "https://other.example.com/`id`"];
  const ran = await runAction({ host: service.url, rule, audience }, programOf("item-vault", COMMAND_LINE));
  expect(ran.code).toBe(0);
  expect(new URLSearchParams(service.requests[0]!.body).get("rule")).toBe(rule);
  expect(ran.asked[0]!.url).toContain(`audience=${encodeURIComponent(audience)}`);
});

it("fails when the exchange fails", async () => {
  const service = await startService(() => ({ status: 401 }));
  const ran = await runAction({ host: service.url }, programOf("item-vault", COMMAND_LINE));
  expect(ran).toMatchObject({ code: 3, stderr: expect.stringContaining("refuses the token of this workload") });
});

it("installs nothing without the package, and says so", async () => {
  const ran = await runAction({ host: "https://vault.example.com" }, programOf("npx", "echo npx ran >&2"));
  expect(ran).toMatchObject({ code: 1, stdout: expect.stringMatching(/^::error::.*package/), stderr: "" });
});

it.each(["item-vault", "item-vault@0.9.0", "@item-vault/cli", "npm:item-vault", "cli.tgz"])(
  "runs no package by a name that the registry may have: %s",
  async (name) => {
    const ran = await runAction({ host: "https://vault.example.com", package: name }, programOf("npx", "echo npx ran >&2"));
    expect(ran).toMatchObject({ code: 1, stdout: expect.stringMatching(/^::error::.*package/), stderr: "" });
  },
);

it("runs the package that it is given", async () => {
  const ran = await runAction({ host: "https://vault.example.com", package: "./cli.tgz" }, programOf("npx", 'echo "$@"'));
  expect(ran.variables).toBe(
    "--yes --package ./cli.tgz item-vault token exchange --print-env --host=https://vault.example.com\n",
  );
});
