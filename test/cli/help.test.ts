import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { EXIT } from "../../packages/cli/src/frame/failure.ts";
import { EXPORT_FORMATS, IMPORT_FORMATS } from "../../packages/cli/src/transfer/formats.ts";
import { runHere } from "./support/here.ts";
import { hurryTime } from "./support/hurry.ts";
import { ASKING, lineOf } from "./support/lines.ts";

/** What the help says, to somebody who knows nothing else of the program. */

const shown = COMMANDS.filter(({ hidden }) => !hidden);
const helpOf = async (name: string) => (await runHere([...name.split(" "), "--help"])).stdout;

describe("the help", () => {
  it("of all commands has the variables and the exit codes, and that of a group does not", async () => {
    const { stdout } = await runHere(["--help"]);
    for (const part of ["ITEM_VAULT_HOST", "ITEM_VAULT_TOKEN", "ITEM_VAULT_ADMIN_TOKEN", "(admin)", "item-vault login"])
      expect(stdout).toContain(part);
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^  ${code}  \\w`, "m"));
    expect((await runHere(["item"])).stdout).not.toContain("Exit codes");
  });

  it("has an example of each command that a shell takes as it is, with each option that the command needs", () => {
    for (const { name, options, examples } of shown) {
      expect([name, examples.filter((example) => /<\w+>|[[\]…]/.test(example))]).toEqual([name, []]);
      const required = Object.entries(options).filter(([, option]) => option.required);
      const lacking = required.filter(([option, { short }]) =>
        examples.some((example) => !example.includes(`--${option} `) && !example.includes(` -${short} `)),
      );
      expect([name, lacking]).toEqual([name, []]);
    }
  });

  it("shows the options that a command needs in its first line, and a line without one is refused by its name", async () => {
    for (const command of shown)
      for (const [option, { required, value }] of Object.entries(command.options)) {
        if (!required) continue;
        const flag = `--${option} ${value}`;
        expect((await helpOf(command.name)).split("\n")[0]).toContain(` ${flag} `);
        const args = command.args.split(" ").filter((arg) => arg.startsWith("<"));
        const others = Object.entries(command.options).filter(([other, spec]) => spec.required && other !== option);
        const line = others.flatMap(([other, { choices = ["x"] }]) => [`--${other}`, choices[0]!]);
        expect(await runHere([...command.name.split(" "), ...args, ...line])).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`${command.name}: ${flag} is missing\n`),
        });
      }
  });

  it("marks the commands that need the admin token", async () => {
    hurryTime();
    const needing: string[] = [];
    const env = { ITEM_VAULT_HOST: "http://127.0.0.1:9", ITEM_VAULT_TOKEN: "t", ITEM_VAULT_TIMEOUT: "0.001" };
    for (const command of ASKING.filter(({ name }) => name !== "login" && name !== "token exchange")) {
      const { args, ...line } = lineOf(command);
      const { stderr } = await runHere(args, { input: line.input, env: { ...env, ...line.env } });
      if (stderr.includes("No admin token is set")) needing.push(command.name);
    }
    const marked = ASKING.filter(({ summary }) => summary.includes("(admin)")).map(({ name }) => name);
    expect(needing).toEqual(marked);
  });

  it("lists the formats of imports and exports", async () => {
    for (const [name, formats] of [
      ["import", IMPORT_FORMATS],
      ["export", EXPORT_FORMATS],
    ] as const) {
      const names = formats.map((format) => format.name);
      expect(COMMANDS.find((command) => command.name === name)!.options["format"]!.choices).toEqual(names);
      expect(await helpOf(name)).toContain(names.join(", "));
    }
  });

  it("says what the letters of permissions stand for", async () => {
    for (const name of ["token create", "child create", "rule create", "person create"])
      expect(await helpOf(name)).toContain("l list, r read (default), w write, d destroy");
  });
});
