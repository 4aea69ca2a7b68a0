import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { optionsOf } from "../../packages/cli/src/frame/advice.ts";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { admin, makeToken, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";

/** What a stranger reads when an argument or a name is wrong: in the words of the command line, with what to type next. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-words-"));
const shown = COMMANDS.filter(({ hidden }) => !hidden);

let vault: string;
let token: string;
let name: string;
beforeAll(async () => {
  name = `Cases ${crypto.randomUUID()}`;
  vault = await makeVault(name);
  ({ token } = await makeToken({ [vault]: "rw" }, "uuid"));
  await makeItem("Strg DB");
});

async function makeItem(title: string): Promise<string> {
  const fields = [{ purpose: "PASSWORD", value: "horse" }];
  const body = { title, category: "LOGIN", vault: { id: vault }, fields };
  return ((await sendRequest("POST", `v1/vaults/${vault}/items`, token, body)) as { id: string }).id;
}

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runHere(args, { env: { ITEM_VAULT_TOKEN: token, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, ...env }, cwd: folder });

const write = (path: string, text: string) => (writeFileSync(join(folder, path), text), path);

const create = (...fields: string[]) => run(["item", "create", "--title", "x", ...fields.flatMap((field) => ["--field", field])]);

describe("an option", () => {
  const each = shown.flatMap((command) =>
    Object.entries(optionsOf(command)).map(([option, spec]) => ({ command, option, spec })),
  );
  const lineOf = (command: (typeof shown)[number], ...more: string[]) => [...command.name.split(" "), ...more];

  it("without its value, or before another option, is answered with the value that it needs", async () => {
    for (const { command, option, spec } of each.filter((one) => one.spec.type === "string"))
      for (const more of [[], ["--timeout=1"], ["-1"]]) {
        const { code, stderr } = await run(lineOf(command, `--${option}`, ...more));
        expect([code, stderr]).toEqual([
          2,
          expect.stringContaining(`${command.name}: --${option} needs a value: ${spec.value}\n`),
        ]);
      }
  });

  it("that takes no value is answered so when it gets one", async () => {
    for (const { command, option } of each.filter((one) => one.spec.type === "boolean"))
      for (const more of [[`--${option}=true`], [`--${option}`, "yes"]]) {
        const { code, stderr } = await run(lineOf(command, ...more));
        expect([code, stderr]).toEqual([2, expect.stringContaining(`${command.name}: --${option} takes no value\n`)]);
      }
  });

  it("with an empty value is refused, unless an empty text means something", async () => {
    for (const { option, more } of [
      { option: "--title", more: ["item", "create"] },
      { option: "--title", more: ["item", "edit", "Strg DB"] },
      { option: "--name", more: ["file", "put", "Strg DB", "x"] },
      { option: "--vault", more: ["item", "list"] },
    ])
      expect(await run([...more, option, ""])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`${option} is empty\n`),
      });
    expect(await run(["item", "edit", "Strg DB", "--username", ""])).toMatchObject({ code: 0 });
  });

  it("of the command of run is answered with the hyphens before that command", async () => {
    for (const args of [
      ["npm", "start", "--foo"],
      ["npm", "start", "-f"],
    ])
      expect(await run(["run", ...args])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("\nWrite `--` before the command that is to run.\n"),
      });
  });
});

describe("a refusal of the service", () => {
  const issuer = `Issuer ${crypto.randomUUID()}`;
  beforeAll(
    async () => void (await admin("POST", "issuers", { name: issuer, issuer: `https://example.com/${crypto.randomUUID()}` })),
  );

  it.each([
    [["token", "create", "t", "--vault", "VAULT", "--expires-in", "5000d"], "--expires-in is more than 365 days"],
    [["token", "create", "t", "--vault", "VAULT", "--expires-in", "0s"], "--expires-in is less than 1 second"],
    [["token", "create", "t", "--vault", "VAULT", "--stale", "1h"], "--stale is more than 5 minutes"],
    [
      ["token", "create", "t", "--backups-only", "--vault", "VAULT"],
      "--backups-only does not go with --vault, --binding, --stale or --delegate",
    ],
    [["token", "create", "t", "--binding", "--vault", "VAULT=rw"], "--vault has a permission other than r"],
    [
      ["rule", "create", "--issuer", issuer, "--claim", "sub=x", "--vault", "VAULT", "--lifetime", "2h"],
      "--lifetime is more than 1 hour",
    ],
    [["issuer", "create", "x", "--url", "foo"], "--url is not a URL"],
    [["activity", "--before", "foo"], "--before is not the id of an entry"],
    [["admin", "restore", "--vault", "VAULT", "--item", "x", "--yes"], "--item is not a"],
    [["rule", "get", "foo"], "Invalid Rule UUID\n`item-vault rule list` shows the ids."],
  ])("names the options of the command line: %j", async (args, words) => {
    const { code, stderr } = await run(args.map((word) => word.replace("VAULT", vault)));
    expect([code, stderr]).toEqual([2, expect.stringContaining(`item-vault: ${words}`)]);
  });

  it("names the vault that the command line has named, not its id", async () => {
    const reader = await makeToken({ [vault]: "r" }, "uuid");
    for (const more of [["--vault", name], []])
      expect(await run(["item", "create", "--title", "x", ...more], { ITEM_VAULT_TOKEN: reader.token })).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`the token may not write to vault "${name}"\n`),
      });
  });
});

describe("--field", () => {
  it.each(["generate:0", "generate:65", "generate:5000", "generate:20,foo", "generate:", "generate:20,"])(
    "names the lengths and sets for %s",
    async (source) => {
      const { code, stderr } = await create(`password=${source}`);
      const words = "--field password: generate takes a length of 1 to 64 and the sets letters, digits, symbols\n";
      expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    },
  );

  it("names the types for one that there is not, or the one that is like it", async () => {
    expect((await create("code[NOTHING]=generate")).stderr).toContain(
      `--field code: there is no type NOTHING\nThe types are ${FIELD_TYPE_NAMES.join(", ")}.\n`,
    );
    expect((await create("code[opt]=generate")).stderr).toContain('there is no type opt\nDid you mean "OTP"?\n');
  });

  it("is named by its label when the service refuses the value or the purpose", async () => {
    write("junk", "junk\n");
    expect((await create("a=generate", "day[DATE]=@junk")).stderr).toContain("--field day: is not a date");
    const twice = await run(["item", "create", "--title", "x", "--username", "a", "--field", "username=@junk"]);
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining("--field username: another field") });
  });

  it("refuses another type where the purpose fixes it, and changes nothing", async () => {
    const { code, stderr } = await run(["item", "edit", "Strg DB", "--field", "password[OTP]=generate"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The field "password" has the type CONCEALED')]);
    expect((await run(["read", `op://${vault}/Strg DB/password`])).stdout).toBe("horse\n");
  });
});

it("JSON of a new Item with a mistyped attribute is refused, and one of another program is not", async () => {
  const item = { title: "J", category: "LOGIN" };
  for (const [json, words] of [
    [{ ...item, fieds: [] }, '"fieds" is not an attribute of the item\nDid you mean "fields"?'],
    [{ ...item, fields: [{ label: "a", vlaue: "x" }] }, '"vlaue" is not an attribute of field 1\nDid you mean "value"?'],
  ] as const)
    expect(await run(["item", "create", write("j.json", JSON.stringify(json))])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(words),
    });
  const foreign = { ...item, additional_information: "x", fields: [{ label: "a", value: "x", reference: "op://a/b/c" }] };
  expect(await run(["item", "create", write("j.json", JSON.stringify(foreign))])).toMatchObject({ code: 0 });
});

describe("a credential", () => {
  it.each([
    [["token", "create", "t"], "The token would have no vaults"],
    [["child", "create", "t"], "--vault VAULT[=rwd] is missing"],
    [["rule", "create", "--issuer", "x", "--claim", "sub=x"], "The rule would give no vaults"],
    [["person", "create", "ada@example.com"], "The person would have no vaults"],
  ])("without vaults, which can do nothing, is not issued: %j", async (args, words) => {
    expect(await run(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(words) });
  });

  it("has no lifetime without a unit, because a number may be meant as days", async () => {
    for (const option of ["--expires-in", "--stale"]) {
      const { code, stderr } = await run(["token", "create", "t", "--vault", vault, option, "5"]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} takes a time with a unit, for example 90d`)]);
    }
  });
});

it("tables show times in UTC, and say so", async () => {
  expect((await run(["vault", "get", name])).stdout).toMatch(/^Updated +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/m);
});

describe("an import", () => {
  it.each([
    [["import", "empty.csv"], "empty.csv is empty\n"],
    [["import", "other.csv"], "The columns of other.csv match no known program\nName them, for example --map 'Login=username'"],
    [["import", "other.csv", "--format", "csv"], "name the columns, for example --map 'Login=username'"],
    [["import", "other.bin"], "The format of other.bin was not recognized\nChoose with --format:"],
    [["import", "other.csv", "--format", "foo"], "import: --format takes 1pux, item-vault"],
    [["import", "other.csv", "--from-connect", "http://127.0.0.1:1"], "Give a file or --from-connect, not both"],
    [["import"], "Give a file, or --from-connect URL"],
  ])("that cannot begin says what is wrong and what to type: %j", async (args, words) => {
    write("empty.csv", "");
    write("other.csv", "eins,zwei\na,b\n");
    write("other.bin", "hello");
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});

it("a value that is too large is answered with the command that stores it", async () => {
  write("large", "x".repeat(2_000_000));
  expect(await run(["item", "create", "--title", "L", "--field", "a=@large"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("`item-vault file put`"),
  });
});

describe("a name that nothing has", () => {
  it("is answered with the vault that was searched and a title like it, also in another case", async () => {
    for (const typed of ["Strg D", "strg db", "Srtg DB"])
      expect(await run(["item", "get", typed])).toMatchObject({
        code: 4,
        stderr: `item-vault: There is no item "${typed}" in vault "${name}"\nDid you mean "Strg DB"?\n`,
      });
    expect((await run(["item", "get", "nothing like it"])).stderr).toContain("`item-vault item list` lists");
  });

  it("is answered with the archived Item that has it", async () => {
    const id = await makeItem("Old");
    await run(["item", "archive", "Old"]);
    for (const args of [
      ["get", "Old"],
      ["delete", "Old"],
      ["edit", "Old", "--title", "x"],
    ])
      expect(await run(["item", ...args])).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(
          `\nAn archived item has this title: use its id ${id}, or run \`item-vault item unarchive ${id}\`.\n`,
        ),
      });
  });

  it("of a vault is answered with a vault like it that the token reads, else with the list", async () => {
    for (const args of [
      ["item", "list", "--vault"],
      ["vault", "get"],
      ["export", "--format", "1pux", "-o", "x", "--vault"],
    ]) {
      expect(await run([...args, name.slice(0, -1)])).toMatchObject({
        code: 4,
        stderr: expect.stringContaining(` that the token reads\nDid you mean "${name}"?\n`),
      });
      expect((await run([...args, "Nothing"])).stderr).toContain("`item-vault vault list` lists");
    }
  });

  it("of a token, a rule's issuer, a person and a File is answered with what lists them", async () => {
    for (const [args, list] of [
      [["token", "get", "nothing at all"], "token list"],
      [["issuer", "get", "nothing at all"], "issuer list"],
      [["person", "delete", "nothing@example.com"], "person list"],
      [["file", "get", "Strg DB", "nothing at all"], "file list"],
      [["vault", "edit", "nothing at all", "--name", "x"], "vault list --admin"],
    ] as const)
      expect(await run(args)).toMatchObject({ code: 4, stderr: expect.stringContaining(`\`item-vault ${list}\` lists`) });
  });

  it("of a vault is answered with the id for a token that only writes", async () => {
    const writer = await makeToken({ [vault]: "w" }, "uuid");
    const env = { ITEM_VAULT_TOKEN: writer.token };
    expect(await run(["item", "create", "--title", "W"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("The token reads no vault\nA token that only writes needs --vault with the id"),
    });
    expect((await run(["item", "create", "--title", "W", "--vault", name], env)).stderr).toContain("named by their ids");
    expect(await run(["item", "create", "--title", "W", "--vault", vault], env)).toMatchObject({ code: 0 });
  });
});

describe("a reference", () => {
  it.each([
    ["op://VAULT/Strg DB/pasword", 4, "`item-vault item get 'Strg DB' --vault VAULT` lists its fields and files."],
    ["op://VAULT/Nothing/password", 4, "`item-vault item list --vault VAULT --archived` lists the items"],
    ["op://Nothing here/x/y", 4, "`item-vault vault list` lists the vaults"],
    ["op://VAULT//password", 2, "the item of the reference is empty"],
  ])("that names nothing is answered with what lists the names: %s", async (reference, code, words) => {
    const text = reference.replace("VAULT", vault);
    expect(await run(["read", text])).toMatchObject({ code, stderr: expect.stringContaining(words.replace("VAULT", vault)) });
    if (code === 2) return;
    write("template", `{{ ${text} }}`);
    for (const args of [
      ["inject", "-i", "template"],
      ["run", "--", "true"],
    ])
      expect((await run(args, { SECRET: text })).stderr).toContain(words.replace("VAULT", vault));
  });
});
