import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { parseEnv } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ItemVaultError } from "@item-vault/client";
import { runCli } from "../../packages/cli/src/frame/cli.ts";
import type { Command } from "../../packages/cli/src/frame/command.ts";
import { CliError } from "../../packages/cli/src/frame/failure.ts";
import { dotenvOf } from "../../packages/cli/src/output/dotenv.ts";
import { jsonOf } from "../../packages/cli/src/output/format.ts";
import { yamlOf } from "../../packages/cli/src/output/yaml.ts";
import { tableOf } from "../../packages/cli/src/output/table.ts";
import { printable } from "../../packages/cli/src/frame/printable.ts";
import { cut, widthOf } from "../../packages/cli/src/output/text.ts";
import { isObeyedVariable } from "../../src/model/variables.ts";
import { createVariableNames } from "../../packages/transfer/src/dotenv.ts";
import { CHARACTER } from "../support/characters.ts";
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
    const folder = mkdtempSync(join(tmpdir(), "item-vault-dotenv-"));
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
