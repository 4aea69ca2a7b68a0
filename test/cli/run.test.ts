import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { admin, sendRequest } from "../sdk/support/vault.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { fileOf, newFolder } from "./support/files.ts";
import { ends, runHere } from "./support/here.ts";
import { type Interceptor, startProxy } from "./support/interceptor.ts";
import { vaultOf, vaultWithLogin } from "./support/login.ts";
import { type Running, runCli, startCli } from "./support/process.ts";

let made: Awaited<ReturnType<typeof vaultWithLogin>>;
let proxy: Interceptor;
beforeAll(async () => {
  [made, proxy] = await Promise.all([vaultWithLogin(), startProxy()]);
});
afterAll(() => proxy.close());

const setPassword = (token: string, vault: string, item: string, value: string) =>
  sendRequest("PATCH", `v1/vaults/${vault}/items/${item}`, token, [{ op: "replace", path: "/fields/password/value", value }]);

function executable(content: string): string {
  const path = fileOf(content);
  chmodSync(path, 0o755);
  return path;
}

function linkToItself(): string {
  const path = join(newFolder(), "loop");
  symlinkSync(path, path);
  return path;
}

/** Modules that run before the command line. The first one leaves no open file for the command; the others stand for a machine without memory. */
const HOOKS = {
  EMFILE: hookOf("try { for (;;) require('node:fs').openSync('/dev/null'); } catch { return spawn(...args); }"),
  ENOMEM: hookOf("throw Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM', errno: -12 });"),
  EAGAIN: hookOf(
    "const child = new children.ChildProcess(); process.nextTick(() => child.emit('error', Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN', errno: -11 }))); return child;",
  ),
};
function hookOf(body: string): string {
  return `const children = require('node:child_process'); const { spawn } = children;
children.spawn = (...args) => { ${body} };
require('node:module').syncBuiltinESMExports();`;
}

/** A program of Node as the command of `run`. */
const program = (source: string) => ["--", process.execPath, "-e", source];
const print = (expression: string) => program(`process.stdout.write(String(${expression}))`);
const envOf = (env: Record<string, string> = {}) => ({ ...made.env, SECRET: made.reference("password"), ...env });
/** Runs `run` in this process, which masks the output of its command. */
const run = (args: string[], env?: Record<string, string>) => runHere(["run", ...args], { env: envOf(env) });
/** The same in a process of its own, for exit codes and for output that the command writes itself. */
const runProcess = (args: string[], env?: Record<string, string>) => runCli(["run", ...args], { env: envOf(env) });
const printLength = ["--", "sh", "-c", "printf %s ${#SECRET}"];
const waitFor = (running: Running, text: string) =>
  vi.waitFor(() => expect(running.output.stdout + running.output.stderr).toContain(text), UNDER_LOAD);

describe("the command that run starts", () => {
  it("gets the values of the references in its environment, and its other variables as they are", async () => {
    const length = print("[process.env.SECRET.length, process.env.OTHER]");
    expect(await run(length, { OTHER: "$HOME a" })).toMatchObject({ code: 0, stdout: "13,$HOME a" });
  });

  it("gets none of the tokens", async () => {
    const tokens = { OP_CONNECT_TOKEN: "one", ITEM_VAULT_ADMIN_TOKEN: "two", ITEM_VAULT_ID_TOKEN: "three" };
    const names = print("Object.keys(process.env).filter((name) => name.includes('TOKEN'))");
    expect(await run(names, tokens)).toMatchObject({ code: 0, stdout: "" });
  });

  it("gets the variables of env files: a later file goes first, and a file goes before the environment", async () => {
    const one = `A=file\nB=one # comment\nURL="pg://op://$V/Database/username@host"\nC='$HOME'\n`;
    const files = [one, "B=two\n"].flatMap((content) => ["--env", fileOf(content)]);
    const shown = print("['A','B','C'].map((n) => process.env[n]) + process.env.URL.length");
    const ran = await run([...files, ...shown], { A: "shell", V: made.vault });
    expect(ran).toMatchObject({ code: 0, stdout: `file,two,$HOME${"pg://ada@host".length}` });
  });

  it("has its exit code returned, and 128 + n for signal n", async () => {
    expect(await runProcess(["--", "sh", "-c", "exit 42"])).toMatchObject({ code: 42 });
    expect(await runProcess(["--", "sh", "-c", "kill -KILL $$"])).toMatchObject({ code: 137 });
  });

  it.each([
    ["has no name", () => ""],
    ["does not exist", () => "no-such-command"],
    ["has no interpreter", () => executable("#!/no/such/interpreter\n")],
  ])("that %s is a 127", async (_, command) => {
    const stderr = "item-vault: The command, or the interpreter of its script, does not exist\n";
    expect(await run(["--", command()])).toMatchObject({ code: 127, stdout: "", stderr });
  });

  const LONG = "x".repeat(200_000);
  it.each<[string, () => string[], RegExp, Record<string, string>?]>([
    ["is not executable", () => [fileOf("text")], /permission denied \(EACCES\)/],
    ["is a folder", () => [newFolder()], /permission denied \(EACCES\)/],
    ["is below a file", () => [`${fileOf("text")}/x`], /not a directory \(ENOTDIR\)/],
    ["is a link to itself", () => [linkToItself()], /too many symbolic links encountered \(ELOOP\)/],
    ["has a name that is too long", () => ["x".repeat(5_000)], /name too long \(ENAMETOOLONG\)/],
    ["has a NUL in its name", () => ["a\0b"], /invalid name or argument \(ERR_INVALID_ARG_VALUE\)/],
    [
      "has a variable that is too long",
      () => ["true"],
      /E2BIG\); the largest is the variable BIG, with 200,004 bytes$/m,
      { BIG: LONG },
    ],
    ["has an argument that is too long", () => ["true", "x", LONG], /E2BIG\); the largest is argument 2, with 200,000 bytes$/m],
  ])("that %s is a 126, and stderr has the reason", async (_, command, reason, env = {}) => {
    const ran = await run(["--", ...command()], env);
    expect(ran).toMatchObject({ code: 126, stdout: "", stderr: expect.stringMatching(/^item-vault: The command cannot run: /) });
    expect(ran.stderr).toMatch(reason);
  });

  it.each(["EMFILE", "ENOMEM", "EAGAIN"])("is a 126 when the machine refuses it with %s", async (code) => {
    const hook = fileOf(HOOKS[code as keyof typeof HOOKS], "hook.cjs");
    const through = ["sh", "-c", 'ulimit -n 100; exec "$@"', "sh"];
    const ran = await runCli(["run", "--", "true"], { env: envOf({ NODE_OPTIONS: `--require=${hook}` }), through });
    expect(ran).toMatchObject(ends(126, new RegExp(`cannot run: .* \\(${code}\\)\n$`)));
  });

  it("does not start when a reference has no value", async () => {
    const ran = await run(print("'started'"), { MISSING: made.reference("nothing") });
    expect(ran).toMatchObject({ code: 4, stdout: "" });
  });

  it("gets the signals that run gets", async () => {
    const source =
      "process.on('SIGTERM', () => { console.log('got it'); process.exit(7); }); console.log('ready'); setInterval(() => {}, 1000)";
    const running = startCli(["run", ...program(source)], { env: envOf() });
    await waitFor(running, "ready");
    running.child.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 7, stdout: "ready\ngot it\n" });
  });

  it("starts without the service when its environment has no reference", async () => {
    const env = { ITEM_VAULT_HOST: "http://127.0.0.1:1" };
    expect(await runCli(["run", ...print("'ran'")], { env })).toMatchObject({ code: 0, stdout: "ran" });
  });
});

describe("the references of run", () => {
  const shown = ["--no-masking", "--", "sh", "-c", 'test "$SECRET" = "$WANTED"'];

  it.each([
    ["a reference of the shell", (reference: string) => reference, "ada"],
    ["a plain value of the shell", () => "plain", "ada"],
  ])("of an env file go before %s", async (_, own, wanted) => {
    const file = fileOf(`SECRET=${made.reference("username")}\n`);
    const env = { SECRET: own(made.reference("password")), WANTED: wanted };
    expect(await run(["--env", file, ...shown], env)).toMatchObject({ code: 0 });
  });

  it("of the shell give way to a plain value of an env file, and are not asked for", async () => {
    const env = { SECRET: made.reference("nothing"), WANTED: "plain" };
    expect(await run(["--env", fileOf("SECRET=plain\n"), ...shown], env)).toMatchObject({ code: 0 });
  });

  it.each<[string, (reference: string) => string]>([
    ["a blank at the end", (reference) => `${reference} `],
    ["a blank at the beginning", (reference) => ` ${reference}`],
    ["line breaks and tabs around it", (reference) => `\r\n\t${reference}\t\n`],
    ["a scheme in capitals", (reference) => reference.replace("op:", "OP:")],
    ["a variable, and blanks around it", (reference) => ` ${reference.replace(made.vault, "$V")}\n`],
  ])("are one that has %s: nothing of it gets into the value", async (_, written) => {
    const { create, vault, env } = made;
    const fields = ["my", "my pass"].map((label) => ({ label, type: "CONCEALED", value: `value of ${label}` }));
    const { id } = await create({ title: "Two", fields });
    const value = written(`op://${vault}/${id}/my pass`);
    const file = fileOf(`IN_FILE="${value.replaceAll("\r", "\\r")}"\n`);
    const both = print(
      "JSON.stringify([process.env.IN_SHELL, process.env.IN_FILE].map((text) => text.replace('value of', 'it')))",
    );
    const ran = await runHere(["run", "--env", file, ...both], { env: { ...env, IN_SHELL: value, V: vault } });
    expect(ran).toMatchObject({ code: 0, stdout: '["it my pass","it my pass"]', stderr: "" });
  });

  it.each([
    "op://v/i/my pass!",
    "op://v/i/my pass\nmore",
    "op://v/i/user:op://v/i/password",
    "OP://v/i",
    "op://v/i/a }} {{ op://v/i/b",
  ])("of the shell are whole variables: %j is refused with its name, and is not asked for", async (value) => {
    const ran = await run(print("'started'"), { MALFORMED: value });
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^item-vault: MALFORMED: /) });
  });

  it.each([`"op://v/i/f"`, "pg://OP://v/i/f@host", "{{ op://v/i/f }}", "x\nop://v/i/f"])(
    "are none in the middle of a variable of the shell: stderr names the variable that has %j, and the command gets it as it is",
    async (value) => {
      const ran = await run(print("process.env.QUOTED"), { QUOTED: value, ITEM_VAULT_ADMIN_TOKEN: value });
      expect(ran).toMatchObject({ code: 0, stdout: value });
      expect(ran.stderr).toBe("item-vault: QUOTED contains op:// but does not begin with it: it is passed on unchanged\n");
    },
  );

  it("of a file are refused where a blank may be the end or a part of a name", async () => {
    const ran = await run(["--env", fileOf("NAMED=op://v/i/my pass!\n"), ...print("'started'")]);
    expect(ran).toMatchObject({ ...ends(2, "NAMED: The reference may end at the space"), stdout: "" });
  });

  it("are none in a file where the template has them as text, and stderr has nothing", async () => {
    const file = fileOf(`TEXT='{{ "op://v/i/f" }} loop://a/b'\n`);
    const expected = { stdout: "op://v/i/f loop://a/b", stderr: "" };
    expect(await run(["--env", file, ...print("process.env.TEXT")])).toMatchObject(expected);
  });

  it("name no File that is no text, and the command does not start", async () => {
    const { vault, env, create, send } = await vaultOf();
    const { id } = await create({ title: "Server" });
    await send("POST", `/items/${id}/files?name=key.der`, new Uint8Array([0xff, 0xfe, 0]));
    const ran = await run(print("'started'"), { ...env, SECRET: `op://${vault}/Server/key.der` });
    expect(ran).toMatchObject({ ...ends(1, "is a binary file, which `item-vault read -o FILE` writes"), stdout: "" });
  });
});

describe("the output of the command", () => {
  it("has its secrets masked, also when they arrive in pieces, in stdout and stderr", async () => {
    const source =
      "const s = process.env.SECRET; process.stdout.write('a ' + s.slice(0, 5)); setTimeout(() => console.log(s.slice(5) + ' z'), 50); console.error(s)";
    const masked = "<concealed by item-vault>";
    expect(await run(program(source))).toMatchObject({ stdout: `a ${masked} z\n`, stderr: `${masked}\n` });
  });

  it("shows values that are too short or too common to be masked, and stderr names their variables", async () => {
    const { vault, env, create } = await vaultOf();
    const values = { blank: " ", one: "a", word: "true", port: "8080", pin: "x4-z", long: "correct horse", empty: "" };
    const fields = Object.entries(values);
    await create({ title: "Short", fields: fields.map(([id, value]) => ({ id, value, type: "CONCEALED" })) });
    const variables = Object.fromEntries(fields.map(([id]) => [`V_${id.toUpperCase()}`, `op://${vault}/Short/${id}`]));
    const file = fileOf("V_URL=pg://op://$V/Short/word@host:op://$V/Short/port\n");
    const script = "console.log('a true banana on 8080,', 'x4-z x4-zz', process.env.V_LONG)";
    const ran = await runHere(["run", "--env", file, ...program(script)], { env: { ...env, ...variables, V: vault } });
    expect(ran).toMatchObject({
      code: 0,
      stdout: "a true banana on 8080, <concealed by item-vault> x4-zz <concealed by item-vault>\n",
      stderr: "item-vault: not masked, because the values are short or common: V_BLANK, V_ONE, V_WORD, V_PORT, V_URL\n",
    });
  });

  it.each([
    ["says nothing", 'sleep 600 & printf "$! corr"', /^ corr$/], // the beginning of a secret
    ["keeps only stderr open", 'sleep 600 >/dev/null & printf "$!"', /^$/],
    ["never stops writing", '(trap "" PIPE; while :; do echo noise; sleep 0.1; done) & printf "$!\\n"', /^(?:noise\n)+$/],
  ])("ends after its command, although a background process %s", async (_, script, rest) => {
    const ran = await runProcess(["--", "sh", "-c", script]);
    const [background = "no number"] = /\d+/.exec(ran.stdout) ?? [];
    process.kill(Number(background), "SIGKILL"); // throws if `run` has waited for its end
    expect(ran).toMatchObject(ends(0, /^item-vault: the command has ended, but a background process/));
    expect(ran.stdout.replace(/\d+\n?/, "")).toMatch(rest);
  });

  it("loses no byte of a process substitution, which ends after the command", async () => {
    const script = 'for i in {1..20000}; do echo "line $i"; done > >(cat; echo the end)';
    const { stdout, stderr } = await runProcess(["--", "bash", "-c", script]);
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`);
    expect([stdout === `${lines.join("")}the end\n`, stderr]).toEqual([true, ""]);
  });

  it("is not touched with --no-masking", async () => {
    expect(await runProcess(["--no-masking", "--", "sh", "-c", 'printf %s "$SECRET"'])).toMatchObject({
      stdout: "correct horse",
    });
  });

  it("may be closed by its reader", async () => {
    const running = startCli(["run", ...program("setInterval(() => console.log('line '.repeat(1000)), 1)")], { env: envOf() });
    await waitFor(running, "line");
    running.child.stdout.destroy();
    const { code, signal } = await running.ended;
    expect([code, signal]).not.toEqual([null, "SIGKILL"]);
  });

  it("may be closed by its reader while the command goes on: run waits for its end", async () => {
    const source =
      "console.log('line'); process.stdout.on('error', () => {}); setTimeout(() => { console.log('more'); setTimeout(() => process.exit(9), 300) }, 300)";
    const running = startCli(["run", ...program(source)], { env: envOf() });
    await waitFor(running, "line");
    running.child.stdout.destroy();
    expect(await running.ended).toMatchObject({ code: 9 });
  });
});

describe("the requests of run", () => {
  it("are one for 100 references", async () => {
    const { vault, token, create } = await vaultOf();
    const fields = Array.from({ length: 100 }, (_, place) => ({ id: `f${place}`, type: "CONCEALED", value: `value ${place}` }));
    await create({ title: "Many", fields });
    const references = Object.fromEntries(fields.map(({ id }) => [id.toUpperCase(), `op://${vault}/Many/${id}`]));
    const env = { ...references, ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    proxy.requests.length = 0;
    const length = print("Array.from({ length: 100 }, (_, place) => process.env['F' + place]).join().length");
    expect(await runHere(["run", ...length], { env })).toMatchObject({ code: 0, stdout: "889" });
    expect(proxy.requests).toEqual(["POST /v1/resolve"]);
  });
});

describe("--fallback", () => {
  it("uses the values of an earlier run when the service is away, tells their age, and never after a refusal", async () => {
    const path = join(newFolder(), "fallback");
    const env = { ITEM_VAULT_HOST: proxy.url };
    const args = ["--fallback", path, ...printLength];
    expect(await run(args, env)).toMatchObject({ code: 0, stdout: "13", stderr: "" });
    expect(readFileSync(path, "latin1")).not.toContain("correct horse");

    await proxy.close();
    const { token } = await vaultOf();
    const [away, tooOld, incomplete, ofAnother] = await Promise.all([
      run(args, env),
      run(["--max-age", "0s", ...args], env),
      run(args, { ...env, MORE: made.reference("username") }),
      run(args, { ...env, ITEM_VAULT_TOKEN: token }),
    ]);
    expect(away).toMatchObject({
      code: 0,
      stdout: "13",
      stderr: expect.stringMatching(/using values that are \d+ seconds? old/),
    });
    for (const refused of [tooOld, incomplete, ofAnother]) expect(refused).toMatchObject({ code: 6, stdout: "" });

    await proxy.open();
    for (const status of [401, 403]) {
      proxy.fail(status);
      expect(await run(args, env)).toMatchObject({ code: 3, stdout: "" });
    }
    proxy.fail(undefined);
  });
});

describe("a file of --fallback that cannot be written", () => {
  it.each([
    ["run", (path: string) => run(["--fallback", path, ...printLength]), "13"],
    [
      "inject",
      (path: string) => runHere(["inject", "--fallback", path], { env: envOf(), input: `x: ${made.reference("username")}` }),
      "x: ada",
    ],
  ])("does not stop %s, which tells it on stderr without a secret", async (_, start, stdout) => {
    const ran = await start(join(newFolder(), "missing", "fallback"));
    expect(ran).toMatchObject({
      code: 0,
      stdout,
      stderr: expect.stringMatching(/were not kept .* cannot be written: its folder does not exist/),
    });
    expect(ran.stderr).not.toMatch(/correct horse|ada/);
  });
});

describe("--watch", () => {
  const source =
    "process.on('SIGTERM', () => process.exit(0)); console.log('secret of', process.env.SECRET.length); setInterval(() => {}, 1000)";

  it("starts the command again after a write that changes a secret, and after no other write", async () => {
    const { vault, token, env, item, create, reference } = await vaultWithLogin();
    const running = startCli(["run", "--watch", ...program(source)], { env: { ...env, SECRET: reference("password") } });
    await waitFor(running, "secret of 13");
    await create({ title: "Unrelated" });
    await setPassword(token, vault, item, "new");
    await waitFor(running, "secret of 3\n");
    expect(running.output.stderr.match(/restarting the command/g)).toHaveLength(1);
    running.child.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  it("starts a command again that has gone on after Ctrl-C, and none that a second one has ended", async () => {
    const { vault, token, env, item, reference } = await vaultWithLogin();
    const patient = `process.on('SIGINT', () => { console.log('asked'); if (process.env.SECRET.length === 3) process.exit(5); }); ${source}`;
    const running = startCli(["run", "--watch", ...program(patient)], { env: { ...env, SECRET: reference("password") } });
    await waitFor(running, "secret of 13");
    running.child.kill("SIGINT");
    await waitFor(running, "asked");
    await setPassword(token, vault, item, "new");
    await waitFor(running, "secret of 3\n");
    running.child.kill("SIGINT");
    expect(await running.ended).toMatchObject({ code: 5 });
  });

  it("lets the command go on when its token is revoked, and says so", async () => {
    const { tokenId, env, reference } = await vaultWithLogin();
    const running = startCli(["run", "--watch", ...program(source)], {
      env: { ...env, SECRET: reference("password"), ITEM_VAULT_HOST: proxy.url },
    });
    await waitFor(running, "secret of 13");
    await vi.waitFor(() => expect(proxy.requests).toContain("GET /v1/events"), UNDER_LOAD);
    await admin("DELETE", `tokens/${tokenId}`);
    // The stream would end within 15 seconds. A connection that breaks makes the client open it again at once.
    await proxy.close();
    await proxy.open();
    await waitFor(running, "refuses the token of ITEM_VAULT_TOKEN");
    running.child.kill("SIGTERM");
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});
