import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { nearestOf, optionsOf } from "../../packages/cli/src/frame/advice.ts";
import { FIELD_TYPE_NAMES } from "../../src/model/field-types.ts";
import { admin, makeToken } from "../sdk/support/vault.ts";
import { folderOf } from "./support/files.ts";
import { ADMIN, ends, runHere, wordsOf } from "./support/here.ts";
import { vaultOf, type World } from "./support/login.ts";

/** What a stranger reads when an argument or a name is wrong: in the words of the command line, with what to type next. */

const folder = folderOf({
  junk: "junk\n",
  "empty.csv": "",
  "other.csv": "eins,zwei\na,b\n",
  "other.bin": "hello",
  large: "x".repeat(2_000_000),
});
const shown = COMMANDS.filter(({ hidden }) => !hidden);
const name = `Cases ${crypto.randomUUID()}`;
const issuer = `Issuer ${crypto.randomUUID()}`;

let world: World;
beforeAll(async () => {
  world = await vaultOf(name);
  await makeItem("Strg DB");
  await admin("POST", "issuers", { name: issuer, issuer: `https://example.com/${crypto.randomUUID()}` });
});

const makeItem = (title: string) => world.create({ title, fields: [{ purpose: "PASSWORD", value: "horse" }] });

/** Puts the id and the name of the vault and the name of an issuer into a text. */
const filled = (text: string) => text.replaceAll("VAULT", world.vault).replaceAll("NAME", name).replaceAll("ISSUER", issuer);

const run = (line: string | readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const words = typeof line === "string" ? wordsOf(line) : line;
  return runHere(words.map(filled), { env: { ...world.env, ...ADMIN, ...env }, cwd: folder });
};

const create = (...fields: string[]) => run(["item", "create", "--title", "x", ...fields.flatMap((field) => ["--field", field])]);

describe("an option", () => {
  const each = shown.flatMap((command) =>
    Object.entries(optionsOf(command)).map(([option, spec]) => ({ command, option, spec })),
  );

  it("without its value, or before another option, is answered with the value that it needs", async () => {
    for (const { command, option, spec } of each.filter((one) => one.spec.type === "string"))
      for (const more of ["", "--timeout=1", "-1"]) {
        const words = `${command.name}: --${option} needs a value: ${spec.value}\n`;
        expect(await run(`${command.name} --${option} ${more}`)).toMatchObject(ends(2, words));
      }
  });

  it("that takes no value is answered so when it gets one", async () => {
    for (const { command, option } of each.filter((one) => one.spec.type === "boolean"))
      for (const more of ["=true", " yes"]) {
        const words = `${command.name}: --${option} takes no value\n`;
        expect(await run(`${command.name} --${option}${more}`)).toMatchObject(ends(2, words));
      }
  });

  it("with an empty value is refused, unless an empty text means something", async () => {
    for (const line of ["item create --title", "item edit 'Strg DB' --title", "file put 'Strg DB' x --name", "item list --vault"])
      expect(await run(`${line} ''`)).toMatchObject(ends(2, `${wordsOf(line).at(-1)} is empty\n`));
    expect(await run("item edit 'Strg DB' --username ''")).toMatchObject({ code: 0 });
  });
});

describe("a line that is refused", () => {
  it.each([
    ["run npm start --foo", "\nWrite `--` before the command that is to run.\n"],
    ["run npm start -f", "\nWrite `--` before the command that is to run.\n"],
    ["read", "read: expected item-vault read"],
    ["read --nothing op://a/b/c", "--nothing"],
    ["frobnicate", "Run `item-vault --help`."],
    ["reda op://a/b/c", "Did you mean `item-vault read`?"],
    ["item lst --vault Demo", "Did you mean `item-vault item list`?"],
    ["itme list", "Did you mean `item-vault item list`?"],
    // What the service refuses is named by the options of the command line.
    ["token create t --vault VAULT --expires-in 5000d", "item-vault: --expires-in is more than 365 days"],
    ["token create t --vault VAULT --expires-in 0s", "item-vault: --expires-in is less than 1 second"],
    ["token create t --vault VAULT --stale 1h", "item-vault: --stale is more than 5 minutes"],
    ["token create t --backups-only --vault VAULT", "--backups-only does not go with --vault, --binding, --stale or --delegate"],
    ["token create t --binding --vault VAULT=rw", "item-vault: --vault has a permission other than r"],
    ["rule create --issuer 'ISSUER' --claim sub=x --vault VAULT --lifetime 2h", "item-vault: --lifetime is more than 1 hour"],
    ["issuer create x --url foo", "item-vault: --url is not a URL"],
    ["item create --title x --username a --field username=@junk", "--field username: another field"],
    ["activity --before foo", "item-vault: --before is not the id of an entry"],
    ["admin restore --vault VAULT --item x --yes", "item-vault: --item is not a"],
    ["rule get foo", "item-vault: Invalid Rule UUID\n`item-vault rule list` shows the ids."],
    // A credential without vaults can do nothing. A lifetime without a unit may be meant as days.
    ["token create t", "The token would have no vaults"],
    ["child create t", "--vault VAULT[=rwd] is missing"],
    ["rule create --issuer x --claim sub=x", "The rule would give no vaults"],
    ["person create ada@example.com", "The person would have no vaults"],
    ["token create t --vault VAULT --expires-in 5", "--expires-in takes a time with a unit, for example 90d"],
    ["token create t --vault VAULT --stale 5", "--stale takes a time with a unit, for example 90d"],
    ["import empty.csv", "empty.csv is empty\n"],
    ["import other.csv", "The columns of other.csv match no known program\nName them, for example --map 'Login=username'"],
    ["import other.csv --format csv", "name the columns, for example --map 'Login=username'"],
    ["import other.bin", "The format of other.bin was not recognized\nChoose with --format:"],
    ["import other.csv --format foo", "import: --format takes 1pux, item-vault"],
    ["import other.csv --from-connect http://127.0.0.1:1", "Give a file or --from-connect, not both"],
    ["import", "Give a file, or --from-connect URL"],
  ])("says what is wrong and what to type: %s", async (line, words) => {
    expect(await run(line)).toMatchObject({ ...ends(2, words), stdout: "" });
  });
});

describe("a mistyped command", () => {
  const names = shown.map((command) => command.name);
  /** `servre` is one mistake away from `serve` too. */
  const distinct = names.filter((one) => one !== "server");

  it.each(distinct)("is answered with %s, when one letter of it is missing or two are exchanged", (right) => {
    const missing = right.slice(0, -2) + right.slice(-1);
    for (const typed of [missing, missing + right.at(-2)!])
      expect(names.includes(typed) ? right : nearestOf(names, typed)).toBe(right);
  });
});

it("a refused write names the vault that the command line has named, not its id", async () => {
  const reader = await makeToken({ [world.vault]: "r" }, "uuid");
  for (const more of ["--vault 'NAME'", ""])
    expect(await run(`item create --title x ${more}`, { ITEM_VAULT_TOKEN: reader.token })).toMatchObject(
      ends(3, `the token may not write to vault "${name}"\n`),
    );
});

describe("--field", () => {
  const LENGTHS = "--field password: generate takes a length of 1 to 64 and the sets letters, digits, symbols\n";

  it.each([
    ...["0", "65", "5000", "20,foo", "", "20,"].map((recipe) => [[`password=generate:${recipe}`], LENGTHS] as const),
    [["code[NOTHING]=generate"], `--field code: there is no type NOTHING\nThe types are ${FIELD_TYPE_NAMES.join(", ")}.\n`],
    [["code[opt]=generate"], 'there is no type opt\nDid you mean "OTP"?\n'],
    [["a=generate", "day[DATE]=@junk"], "--field day: is not a date"],
  ] as const)("is named by its label, with what it takes: %j", async (fields, words) => {
    expect(await create(...fields)).toMatchObject(ends(2, words));
  });

  it("refuses another type where the purpose fixes it, and changes nothing", async () => {
    const ran = await run("item edit 'Strg DB' --field password[OTP]=generate");
    expect(ran).toMatchObject(ends(2, 'The field "password" has the type CONCEALED'));
    expect((await run("read 'op://VAULT/Strg DB/password'")).stdout).toBe("horse\n");
  });

  it("with a value that is too large is answered with the command that stores it", async () => {
    expect(await create("a=@large")).toMatchObject(ends(1, "`item-vault file put`"));
  });
});

const createFrom = (json: object) => {
  writeFileSync(join(folder, "j.json"), JSON.stringify({ title: "J", category: "LOGIN", ...json }));
  return run("item create j.json");
};

it("JSON of a new Item with a mistyped attribute is refused, and one of another program is not", async () => {
  const ofItem = '"fieds" is not an attribute of the item\nDid you mean "fields"?';
  expect(await createFrom({ fieds: [] })).toMatchObject(ends(2, ofItem));
  const ofField = '"vlaue" is not an attribute of field 1\nDid you mean "value"?';
  expect(await createFrom({ fields: [{ label: "a", vlaue: "x" }] })).toMatchObject(ends(2, ofField));
  const foreign = { additional_information: "x", fields: [{ label: "a", value: "x", reference: "op://a/b/c" }] };
  expect(await createFrom(foreign)).toMatchObject({ code: 0 });
});

it("tables show times in UTC, and say so", async () => {
  expect((await run("vault get 'NAME'")).stdout).toMatch(/^Updated +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/m);
});

describe("a name that nothing has", () => {
  it.each([
    ["item get 'Strg D'", `"Strg D" in vault "NAME"\nDid you mean "Strg DB"?\n`],
    ["item get 'strg db'", `"strg db" in vault "NAME"\nDid you mean "Strg DB"?\n`],
    ["item get 'Srtg DB'", `"Srtg DB" in vault "NAME"\nDid you mean "Strg DB"?\n`],
    ["item get 'nothing like it'", "`item-vault item list` lists"],
    ...["item list --vault", "vault get", "export --format 1pux -o x --vault"].flatMap((line) => [
      [`${line} '${name.slice(0, -1)}'`, ` that the token reads\nDid you mean "NAME"?\n`],
      [`${line} Nothing`, "`item-vault vault list` lists"],
    ]),
    ["token get 'nothing at all'", "`item-vault token list` lists"],
    ["issuer get 'nothing at all'", "`item-vault issuer list` lists"],
    ["person delete nothing@example.com", "`item-vault person list` lists"],
    ["file get 'Strg DB' 'nothing at all'", "`item-vault file list` lists"],
    ["vault edit 'nothing at all' --name x", "`item-vault vault list --admin` lists"],
  ] as [string, string][])("is answered with a name like it, or with what lists the names: %s", async (line, words) => {
    expect(await run(line)).toMatchObject(ends(4, filled(words)));
  });

  it("is answered with the archived Item that has it", async () => {
    const { id } = await makeItem("Old");
    await run("item archive Old");
    const words = `\nAn archived item has this title: use its id ${id}, or run \`item-vault item unarchive ${id}\`.\n`;
    for (const line of ["item get Old", "item delete Old", "item edit Old --title x"])
      expect(await run(line)).toMatchObject(ends(4, words));
  });

  it("of a vault is answered with the id for a token that only writes", async () => {
    const env = { ITEM_VAULT_TOKEN: (await makeToken({ [world.vault]: "w" }, "uuid")).token };
    const words = "The token reads no vault\nA token that only writes needs --vault with the id";
    expect(await run("item create --title W", env)).toMatchObject(ends(2, words));
    expect((await run("item create --title W --vault 'NAME'", env)).stderr).toContain("named by their ids");
    expect(await run("item create --title W --vault VAULT", env)).toMatchObject({ code: 0 });
  });
});

describe("a reference", () => {
  it.each([
    ["op://VAULT/Strg DB/pasword", 4, "`item-vault item get 'Strg DB' --vault VAULT` lists its fields and files."],
    ["op://VAULT/Nothing/password", 4, "`item-vault item list --vault VAULT --archived` lists the items"],
    ["op://Nothing here/x/y", 4, "`item-vault vault list` lists the vaults"],
    ["op://VAULT//password", 2, "the item of the reference is empty"],
  ])("that names nothing is answered with what lists the names: %s", async (reference, code, words) => {
    expect(await run(["read", reference])).toMatchObject(ends(code, filled(words)));
    if (code === 2) return;
    writeFileSync(join(folder, "template"), `{{ ${filled(reference)} }}`);
    for (const line of ["inject -i template", "run -- true"])
      expect((await run(line, { SECRET: filled(reference) })).stderr).toContain(filled(words));
  });
});
