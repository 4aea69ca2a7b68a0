import { spawn, spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { ItemVaultError } from "@item-vault/client";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runCli } from "../../packages/cli/src/frame/cli.ts";
import type { Command } from "../../packages/cli/src/frame/command.ts";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { printable } from "../../packages/cli/src/frame/printable.ts";
import { dotenvOf } from "../../packages/cli/src/output/dotenv.ts";
import { jsonOf } from "../../packages/cli/src/output/format.ts";
import { tableOf } from "../../packages/cli/src/output/table.ts";
import { cut, widthOf } from "../../packages/cli/src/output/text.ts";
import { yamlOf } from "../../packages/cli/src/output/yaml.ts";
import { createVariableNames } from "../../packages/transfer/src/dotenv.ts";
import { isObeyedVariable } from "../../src/model/variables.ts";
import { CHARACTER } from "../support/characters.ts";
import { startApi } from "./support/api.ts";
import { newFolder } from "./support/files.ts";
import { runHere } from "./support/here.ts";
import { vaultOf } from "./support/login.ts";

/** How values of the service are written to a terminal and to a .env file. */

/** Whether a line can hold the value. */
const holds = (value: string) => !/[\r\0]|\\$/.test(value) && !(value.includes("'") && /["$`\\]/.test(value));

const UNICODE = fc.string({ unit: CHARACTER });

describe("printable", () => {
  it.each([
    ["\u001B[2J", String.raw`\x1b[2J`],
    ["a\nb\tc\r", String.raw`a\nb\tc\r`],
    ["\u202Egpj.exe", String.raw`\u{202e}gpj.exe`],
    ["\u009B31m", String.raw`\x9b31m`],
    ["\u{E0041}", String.raw`\u{e0041}`],
    ["\uD800", String.raw`\u{d800}`],
    ["👩‍👩‍👧 é 漢字", "👩‍👩‍👧 é 漢字"],
  ])("writes %j as %j", (text, shown) => expect(printable(text)).toBe(shown));

  it("leaves no character that a terminal obeys", () => {
    fc.assert(
      fc.property(UNICODE, (text) => {
        expect(printable(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u);
      }),
    );
  });
});

describe("widthOf", () => {
  it.each([
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 1],
    ["漢字", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["한국", 4],
    ["👍", 2],
    ["👩‍👩‍👧", 2],
    ["❤️", 2],
    ["…", 1],
  ])("counts %s as %d columns", (text, width) => expect(widthOf(text)).toBe(width));
});

describe("tableOf", () => {
  it("aligns columns by what the terminal shows", () => {
    expect(tableOf(["A", "B"], [["漢字", "x"], ["abc", "y"]])).toBe("A     B\n漢字  x\nabc   y\n"); // oxfmt-ignore
  });

  it("is never wider than the terminal, if that has room for its columns", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(UNICODE, UNICODE, UNICODE), { minLength: 1 }),
        fc.integer({ min: 28, max: 100 }),
        (rows, columns) => {
          for (const line of tableOf(["NAME", "TITLE", "TAGS"], rows, columns).split("\n"))
            expect(widthOf(line)).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });

  it("cuts columns of names only, the widest first", () => {
    expect(tableOf(["ID", "TITLE", "TAGS"], [["i".repeat(26), "t".repeat(30), "tag, tag"]], 50)).toBe(
      `ID${" ".repeat(26)}TITLE${" ".repeat(9)}TAGS\n${"i".repeat(26)}  ${"t".repeat(11)}…  tag, tag\n`,
    );
  });

  it("cuts a text between characters", () => expect([cut("漢字漢字", 6), cut("abc", 3)]).toEqual(["漢字…", "abc"]));

  it("writes nothing without rows", () => expect(tableOf(["A"], [])).toBe(""));
});

describe("dotenvOf", () => {
  const anyValue = fc.oneof(
    UNICODE,
    fc.string({ unit: fc.constantFrom("'", '"', "$", "`", "\\", "\n", "#", "=", " ", "a", "\\n") }),
  );
  const value = anyValue.filter((text) => holds(text) && text.isWellFormed());

  it("writes values that util.parseEnv and sh read back", () => {
    const folder = newFolder();
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
        const variables = values.map((each, place) => ({ name: `V${place}`, value: each, label: "v" }));
        const text = dotenvOf(variables);
        expect(parseEnv(text)).toEqual(Object.fromEntries(variables.map((each) => [each.name, each.value])));
        writeFileSync(join(folder, "env"), text);
        const print = `. ./env; printf '%s\\0' ${variables.map(({ name }) => `"$${name}"`).join(" ")}`;
        const { stdout } = spawnSync("sh", ["-c", print], { cwd: folder, encoding: "utf8" });
        expect(stdout.split("\0").slice(0, -1)).toEqual(values);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses a value that no line can hold, and names its label only", () => {
    fc.assert(
      fc.property(
        anyValue.filter((text) => !holds(text)),
        (text) => {
          expect(() => dotenvOf([{ name: "V", value: text, label: "pin" }])).toThrow(
            /^A \.env file cannot hold the value of "pin"/,
          );
        },
      ),
    );
  });
});

describe("json and yaml", () => {
  const TEXTS = ["no", "y", "1e3", "0777", "1:30", "2026-01-01", "~", "=", "<<", "1_000", "a\nb \n\n", " \n", "\ta\nb", "a\tb", "x\r\ny\u0085", "\uFEFF", "\u009B31m", "\u{E0041}", "\u007F"]; // oxfmt-ignore
  const text = fc.oneof(UNICODE, fc.constantFrom(...TEXTS)).filter((each) => each.isWellFormed());

  it("have every text as it is, in YAML 1.1 too, and no character that a terminal obeys", () => {
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const value = { texts, fields: texts.map((label) => ({ label })) };
        const [json, yaml] = [jsonOf(value, 2), yamlOf(value)];
        expect(JSON.parse(json)).toEqual(value);
        for (const version of ["1.1", "1.2"] as const) expect(parse(yaml, { version })).toEqual(value);
        expect(json + yaml).not.toMatch(/[^\n\t\P{Cc}]|[\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u);
      }),
      { examples: [[TEXTS]] },
    );
  });

  it.each(["=", "<<", "1:30", "1:30:00", "0o7", "0x1f", "012", "1_000", "+1", ".5", "-.inf", "~", "no", "Y", "off", "True", "null", "2026-01-01", "1e3", " a", "a\tb", "\n"])(
    "quote %j, which a parser may take for something else",
    (value) => expect(yamlOf({ [value]: value, value })).toBe(`${JSON.stringify(value)}: ${JSON.stringify(value)}\nvalue: ${JSON.stringify(value)}\n`),
  ); // oxfmt-ignore
});

const failing = (error: Error): Command => ({
  name: "x",
  summary: "",
  args: "",
  options: {},
  examples: [],
  load: () => Promise.resolve({ run: () => Promise.reject(error) }),
});

/** What a command line writes to stdout and stderr. */
async function outputOf(commands: readonly Command[], argv: readonly string[]) {
  const written: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const code = await runCli(commands, argv, { stdin: Readable.from([]), stdout: stream, stderr: stream, env: {} });
  return { code, text: Buffer.concat(written).toString() };
}

describe("messages", () => {
  it("have no character that a terminal obeys, and one of the service is one line", async () => {
    const ours = new CliError("\u001B[2J\u202E exists", { hint: "Use an id:\n  \u009B" });
    const theirs = new ItemVaultError("gone\nitem-vault: done\u0007", { kind: "x", status: 404 });
    expect((await outputOf([failing(ours)], ["x"])).text).toBe("item-vault: \\x1b[2J\\u{202e} exists\nUse an id:\n  \\x9b\n");
    expect((await outputOf([failing(theirs)], ["x"])).text).toBe("item-vault: gone\\nitem-vault: done\\x07\n");
  });

  it("of a command that does not exist end with code 2, also in a group", async () => {
    const commands = [{ ...failing(new Error()), name: "item get" }];
    const codes = ["item", "item --help", "item gte x", "item --vault v get x", "itme"].map(
      async (line) => (await outputOf(commands, line.split(" "))).code,
    );
    expect(await Promise.all(codes)).toEqual([0, 0, 2, 2, 2]);
  });
});

const namesOf = (labels: readonly string[]): string[] => labels.map(createVariableNames());

describe("names of variables", () => {
  it.each([
    [["api key", "API-Key", "api_key"], ["API_KEY", "API_KEY_2", "API_KEY_3"]],
    [["2fa", "één", "__X_"], ["_2FA", "EEN", "__X_"]],
    [["_", "-", "名前"], ["FIELD", "FIELD_2", "FIELD_3"]],
  ])("are capitals for the labels %j: %j", (labels, names) => expect(namesOf(labels)).toEqual(names)); // oxfmt-ignore

  it.each(["PATH", "path", "IFS", "ENV", "BASH_ENV", "bash-env", "PROMPT_COMMAND", "LD_PRELOAD", "ld library path", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "Node Options", "PYTHON", "PYTHONPATH", "GIT_SSH_COMMAND", "SSH_ASKPASS"])(
    "are none that a shell or a program obeys: %j",
    (label) => {
      const name = label.toUpperCase().replaceAll(/[ -]/g, "_");
      expect(isObeyedVariable(name)).toBe(true);
      expect(namesOf([label])).toEqual([`FIELD_${name}`]);
    },
  ); // oxfmt-ignore

  it.each(["PATHS", "MY_PATH", "ENVIRONMENT", "NODE_ENV", "GITHUB_TOKEN", "SSHKEY", "__"])(
    "stay where they only look like one: %s",
    (label) => expect(namesOf([label])).toEqual([label]),
  );

  it("are read by a shell, which stays as it was", async () => {
    const { token, vault, create } = await vaultOf();
    const labels = ["PATH", "IFS", "ENV", "_", "LD_PRELOAD", "名前"];
    await create({ title: "Hostile", fields: labels.map((label) => ({ label, value: `/nowhere/${label}` })) });
    const { stdout } = await runHere(["item", "get", "Hostile", "--vault", vault, "--format", "dotenv"], {
      env: { ITEM_VAULT_TOKEN: token },
    });
    const script = `${stdout}\ntrue; ls / >/dev/null && echo "$FIELD_PATH $FIELD_IFS $FIELD_LD_PRELOAD $FIELD $FIELD_2"`;
    const { stdout: shown } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
    expect(shown).toBe("/nowhere/PATH /nowhere/IFS /nowhere/LD_PRELOAD /nowhere/_ /nowhere/名前\n");
  });
});

/** `item get --format vars`: the values of an Item by label. */

async function varsOf(item: object) {
  const { env, create } = await vaultOf();
  await create({ title: "Worker", category: "API_CREDENTIAL", ...item });
  return runHere(["item", "get", "Worker", "--format", "vars"], { env });
}

it("vars are the values that references with the labels have, without Files and empty values", async () => {
  const { vault, env, create, send } = await vaultOf();
  const fields = [
    { id: "f1", label: "API_KEY", type: "CONCEALED", value: 'a "quote", a line\nbreak and \u202E' },
    { id: "f2", label: "code", type: "OTP", value: "GEZDGNBVGY3TQOJQ", section: { id: "s" } },
    { id: "f3", label: "", value: "by its id" },
    { id: "f4", label: "empty", value: "" },
    { id: "f5", label: "__proto__", value: "own" },
  ];
  const { id } = await create({ title: "Worker", sections: [{ id: "s", label: "Admin" }], fields });
  await send("POST", `/items/${id}/files?name=ca.pem`, "a certificate");
  const ran = await runHere(["item", "get", "Worker", "--format", "vars"], { env });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect(ran.stdout).not.toContain("\u202E");
  const expected = { API_KEY: fields[0]!.value, code: "GEZDGNBVGY3TQOJQ", f3: "by its id", ["__proto__"]: "own" };
  expect(JSON.parse(ran.stdout)).toEqual(expected);
  for (const [label, value] of Object.entries(expected))
    expect(await runHere(["read", "-n", `op://${vault}/Worker/${label}`], { env })).toMatchObject({ code: 0, stdout: value });
});

it("vars leave out what no label names, and stderr has the labels without the values", async () => {
  const ran = await varsOf({
    sections: [{ id: "s", label: "Admin" }],
    fields: [
      { id: "f1", label: "Twice", value: "canary-1" },
      { id: "f2", label: "TWICE", value: "canary-2" },
      { id: "f3", label: "host", value: "first" },
      { id: "f4", label: "host", value: "canary-3", section: { id: "s" } },
      { id: "f5", label: "half", value: "" },
      { id: "f6", label: "half", value: "canary-4" },
    ],
  });
  expect(ran).toMatchObject({
    code: 0,
    stderr: 'Left out, because other fields have their labels: "Twice", "TWICE", "host", "half"\n',
  });
  expect(JSON.parse(ran.stdout)).toEqual({ host: "first" });
});

it("wrangler uploads each value as a secret of that name, by the line in docs/cli.md", async () => {
  const { env, create } = await vaultOf();
  const secrets = { DATABASE_URL: "postgres://app:p%40ss@db/shop", PRIVATE_KEY: "-----BEGIN\nmulti 'line' \"text\"\\\n" };
  const fields = Object.entries(secrets).map(([label, value]) => ({ label, value, type: "CONCEALED" }));
  await create({ title: "Shop secrets", fields });
  const result = { success: true, errors: [], messages: [], result: { id: "v2" } };
  const { url, requests } = await startApi(() => ({ body: result }));
  const [, title, wrangler] = /^item-vault item get '(.+)' --format vars \| npx (wrangler versions secret bulk .*)$/m.exec(
    readFileSync("docs/cli.md", "utf8"),
  )!;
  const vars = await runHere(["item", "get", title!, "--format", "vars"], { env });
  const cwd = newFolder();
  symlinkSync(resolve("node_modules"), join(cwd, "node_modules"));
  const child = spawn("sh", ["-c", `node_modules/.bin/${wrangler}`], {
    cwd,
    env: {
      PATH: process.env["PATH"]!,
      HOME: cwd,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      WRANGLER_SEND_METRICS: "false",
      no_proxy: "127.0.0.1",
      CLOUDFLARE_API_BASE_URL: url,
      CLOUDFLARE_API_TOKEN: "t",
      CLOUDFLARE_ACCOUNT_ID: "a",
    },
  });
  child.stdin.end(vars.stdout);
  const [output, code] = await Promise.all([textOf(child.stdout), new Promise((ended) => child.on("close", ended))]);
  expect([code, output]).toEqual([0, expect.stringContaining("2 secrets created")]);
  expect(requests.map(({ name }) => name)).toEqual(["PATCH /accounts/a/workers/workers/shop/versions/latest"]);
  const uploaded = Object.entries(secrets).map(([name, value]) => [name, { type: "secret_text", text: value }]);
  expect(JSON.parse(requests[0]!.body)).toMatchObject({ env: Object.fromEntries(uploaded) });
});
