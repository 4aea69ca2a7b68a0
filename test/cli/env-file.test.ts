import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { GLOBAL_OPTIONS, type Options } from "../../packages/cli/src/frame/command.ts";
import { fileOf, newFolder } from "./support/files.ts";
import { runHere } from "./support/here.ts";
import { vaultWithLogin } from "./support/login.ts";
import { runCli } from "./support/process.ts";

/** The files of `run --env`, and what Node reads of a command line. */

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
beforeAll(async () => {
  made = await vaultWithLogin();
});

const envFile = (content: string | Uint8Array) => fileOf(content, "one.env");
const utf16 = (text: string) => Buffer.from(text, "utf16le");
/** A path that something was made at. */
const newPath = (make: (path: string) => unknown) => {
  const path = join(newFolder(), "d.env");
  make(path);
  return path;
};
const print = (expression: string) => ["--", process.execPath, "-p", expression];
/** Runs `run` with a reference, so that the output of its command is masked and therefore goes through this process. */
const runWith = (path: string, expression = "'started'") =>
  runHere(["run", "--env", path, ...print(expression)], { env: { ...made.env, SECRET: made.reference("password") } });

const OBEYS_NODE_OPTIONS = "item-vault: NODE_OPTIONS can make programs run other code: check where the value comes from\n";

const runWithOptions = (options: string, ...command: string[]) =>
  runCli(["run", "--env", envFile(`NODE_OPTIONS=${options}\n`), "--", ...command], { env: made.env });

describe("a file of --env", () => {
  it("has values that the command gets whole, also with quotes in quotes", async () => {
    const path = envFile(`A="{\\"type\\":\\"svc\\",\\"n\\":1}"\nB="pass\\"word"\nC='it'\\''s'\nexport D='Let\\'s' # c\n`);
    const ran = await runCli(["run", "-e", path, ...print("JSON.stringify(['A','B','C','D'].map((n) => process.env[n]))")]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toEqual(['{"type":"svc","n":1}', 'pass"word', "it's", "Let's"]);
  });

  it.each([
    ["UTF-8", (text: string) => Buffer.from(text)],
    ["little-endian UTF-16", utf16],
    ["big-endian UTF-16", (text: string) => utf16(text).swap16()],
  ])("may be in %s with a byte order mark", async (_, encode) => {
    const path = envFile(encode("\uFEFFA=grün😀\r\n"));
    expect(await runWith(path, "process.env.A")).toMatchObject({ code: 0, stdout: "grün😀\n", stderr: "" });
  });

  it("has NODE_OPTIONS for the command, and not for the program that has the token", async () => {
    const hook = fileOf("console.log([process.env.ITEM_VAULT_TOKEN])", "hook.cjs");
    const ran = await runWithOptions(`--require=${hook}`, "node", "-p", "1");
    expect(ran).toMatchObject({ code: 0, stdout: "[ undefined ]\n1\n", stderr: OBEYS_NODE_OPTIONS });
    const refused = await runWithOptions("--no-such-flag", "true");
    expect(refused).toMatchObject({ code: 0, stderr: OBEYS_NODE_OPTIONS });
  });

  it("has variables that programs obey: one line on stderr names them, also those of references, and none that the shell has set itself", async () => {
    const file = envFile("LD_LIBRARY_PATH=/nowhere\nA=1\nGIT_AUTHOR_NAME=op://$V/Database/password\n");
    const args = ["run", "--env", file, ...print("process.env.LD_LIBRARY_PATH")];
    const env = { ...made.env, V: made.vault, PYTHONPATH: made.reference("password"), PYTHONHOME: "/nowhere" };
    expect(await runHere(args, { env })).toMatchObject({
      code: 0,
      stdout: "/nowhere\n",
      stderr:
        "item-vault: LD_LIBRARY_PATH, PYTHONPATH, GIT_AUTHOR_NAME can make programs run other code: check where the value comes from\n",
    });
  });

  it("has lines that set no variable: stderr names each of them", async () => {
    const ran = await runWith(envFile("A=1\nB: 2\n\n# c\nsecret words\n"), "process.env.A");
    expect(ran).toMatchObject({ code: 0, stdout: "1\n" });
    expect(ran.stderr.match(/line \d sets no variable and is ignored\n/g)).toEqual(
      ["line 2", "line 5"].map((line) => `${line} sets no variable and is ignored\n`),
    );
    expect(ran.stderr).not.toContain("secret");
  });

  it.each<[string, () => string, RegExp]>([
    ["is missing", () => join(newFolder(), "none.env"), /none\.env cannot be read: it does not exist/],
    ["is a folder", () => newPath(mkdirSync), /d\.env cannot be read: it is a folder/],
    ["is below a file", () => join(envFile("A=1"), "x.env"), /x\.env cannot be read: a part of its path is a file/],
    ["has no end", () => "/dev/zero", /\/dev\/zero is larger than 4 MiB/],
    ["has 10 MB", () => envFile(`A=${"x".repeat(10_000_000)}`), /\.env is larger than 4 MiB/],
    ["is in Latin-1", () => envFile(Buffer.from("A=p\xE4ss\n", "latin1")), /\.env is not UTF-8 text/],
    ["ends within a character", () => envFile(Buffer.from("A=grün").subarray(0, -2)), /\.env is not UTF-8 text/],
    ["is UTF-16 and ends within a character", () => envFile(utf16("\uFEFFA=1").subarray(0, -1)), /\.env is not UTF-16LE text/],
    ["is big-endian UTF-16 with half a pair", () => envFile(utf16("\uFEFFA=\uD83D").swap16()), /\.env is not UTF-16BE text/],
    ["is UTF-16 without a mark", () => envFile(utf16("A=1\n")), /\.env is UTF-16 text without a byte order mark/],
    ["is big-endian UTF-16 without a mark", () => envFile(utf16("A=1\n").swap16()), /\.env is UTF-16 text without a/],
    ["has a NUL", () => envFile("A=1\nB=se\0cret\n"), /\.env: line 2 has a NUL character, which no variable can hold/],
    ["has an open quote", () => envFile("A=1\n\nB='secret\n"), /\.env: line 3 has a quote that is not closed/],
    ["has text after a quoted value", () => envFile("A='it's secret'\n"), /\.env: line 1 has text after a quoted value/],
    [
      "has a quote that may be the last",
      () => envFile("A='C:\\secret\\'\nB='#'\n"),
      /\.env: line 1 has a backslash before a quote/,
    ],
  ])("that %s is refused by name, and nothing is started", async (_, path, message) => {
    const ran = await runWith(path());
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
    expect(ran.stderr).toMatch(/\nThe command was not started\.\n$/);
    expect(ran.stderr).not.toMatch(/secret(?!\.)/);
  });
});

describe("--env-file, which Node reads behind a script too,", () => {
  it.each([
    ["run", "--env-file", "FILE", "--", "true"],
    ["run", "--env-file=FILE", "--", "true"],
    ["run", "--env-file-if-exists", "FILE", "--", "true"],
    ["inject", "--env-file", "FILE"],
    ["--env-file", "FILE", "run", "--", "true"],
    ["--env-file=FILE"],
    ["vault", "list", "--env-file"],
  ])("is refused in `%s %s %s`, with the name of the option", async (...words) => {
    const args = words.filter(Boolean).map((word) => word.replace("FILE", envFile("A=1\n")));
    expect(await runHere(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("run --env FILE") });
  });

  it("is the command's own after `--`", async () => {
    const ran = await runCli(["run", "--", "node", `--env-file=${envFile("A=of Node\n")}`, "-p", "process.env.A"]);
    expect(ran).toMatchObject({ code: 0, stdout: "of Node\n", stderr: "" });
  });
});

/** Starts a script with options behind it, as the launcher is started. Returns whether Node reads none of them. */
function isIgnoredByNode(options: readonly string[]): boolean {
  const script = fileOf("process.stdout.write(process.execArgv.join() + (process.env.SEEN ?? ''))", "script.cjs");
  const hook = fileOf("process.env.SEEN = 'seen'", "node-hook.cjs");
  const existing = envFile(`SEEN=seen\nNODE_OPTIONS=--require=${hook}\n`);
  const lines = [existing, join(newFolder(), "missing")].flatMap((path) => [
    options.flatMap((name) => [name, path]),
    options.map((name) => `${name}=${path}`),
  ]);
  return lines.every((words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: "utf8" });
    return status === 0 && stdout === "" && stderr === "";
  });
}

describe("Node", () => {
  const options: Options = Object.assign({}, GLOBAL_OPTIONS, ...COMMANDS.map((command) => command.options));
  const shorts = Object.values(options).flatMap(({ short }) => (short === undefined ? [] : [`-${short}`]));
  const names = [...Object.keys(options).map((name) => `--${name}`), ...shorts];

  it("reads no option of a command from the words behind the script", () => {
    expect(names).toEqual(expect.arrayContaining(["--env", "-e", "--host", "--watch"]));
    expect(isIgnoredByNode(names)).toBe(true);
  });

  it.each(["--env-file", "--env-file-if-exists"])("is seen reading %s there", (name) =>
    expect(isIgnoredByNode([...names, name])).toBe(false),
  );
});
