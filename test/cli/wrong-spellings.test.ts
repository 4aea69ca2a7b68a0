import { beforeAll, describe, expect, inject, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { VERSION } from "../../packages/cli/src/frame/version.ts";
import { ADMIN, ends, runHere } from "./support/here.ts";
import { vaultOf, type World } from "./support/login.ts";

/** Wrong spellings of a command line: each is understood, or its message says what to type instead. */

const NAME = `Spelled ${crypto.randomUUID()}`;
let world: World;
let env: Record<string, string>;
beforeAll(async () => {
  world = await vaultOf(NAME);
  await world.create({ title: "Data base" });
  env = { ...world.env, ...ADMIN };
});

const shown = COMMANDS.filter(({ hidden }) => !hidden);

describe("help and version", () => {
  it.each(shown.map(({ name }) => name))("of %s is shown by help before it and by --help before it", async (name) => {
    const wanted = await runHere(`${name} --help`);
    expect(wanted).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(`Usage: item-vault ${name} `) });
    for (const before of ["help", "--help", "-h"]) expect(await runHere(`${before} ${name}`)).toEqual(wanted);
  });

  it("of a group is shown by help before it and after it", async () => {
    const wanted = await runHere("item --help");
    expect(wanted.stdout).toContain("item list");
    for (const line of ["help item", "item help", "item"]) expect(await runHere(line)).toEqual(wanted);
  });

  it.each(["version", "--version", "-V"])("%s prints the version", async (word) => {
    expect(await runHere(word)).toMatchObject({ code: 0, stdout: `${VERSION}\n` });
  });
});

describe("options before the command", () => {
  it.each(["--format json", "--format=json", "--host HOST --format json --archived", "--timeout 60 -v VAULT --format json"])(
    "are those of the command: %s",
    async (before) => {
      const options = before.replace("HOST", inject("url")).replace("VAULT", world.vault);
      const { code, stdout } = await runHere(`${options} item list`, { env });
      expect([code, (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title)]).toEqual([0, ["Data base"]]);
    },
  );
});

/** A line, and what its message says to type. None of the lines sends a request. */
const LINES: readonly (readonly [line: string, instead: string])[] = [
  ["item list -o json", "`--format json`"],
  ["item list -o=json", "`--format json`"],
  ["item list --output yaml", "`--format yaml`"],
  ["item list --output=JSON", "`--format json`"],
  ["item list --json", "`--format json`"],
  ["item get x --dotenv", "`--format dotenv`"],
  ["activity --json", "`--format json`"],
  ["item list --fromat json", "`--format json`"],
  ["item list --tags x", "`--tag TAG`"],
  ["item list --VAULT x", "`--vault VAULT`"],
  ["item list -vault x", "`--vault`"],
  ["item list -tag=x", "`--tag`"],
  ["read --out_file x op://a/b/c", "`--out-file FILE`"],
  ["vault list --reveal", "`item get`"],
  ["item create --title X --password hunter2", "`--field password=prompt`"],
  ["item create --title X --email=hunter2", "`--field email=prompt`"],
  ["item create --title X username=hunter2", "`--username NAME`"],
  ["item create title=hunter2", "`--title TITLE`"],
  ["item create 'title = hunter2'", "`--title TITLE`"],
  ["item create --title X password=hunter2", "`--field password=prompt`"],
  ["item create --title X password[concealed]=hunter2", "`--field password=prompt`"],
  ["item edit X title=hunter2", "`--title TITLE`"],
  ["item create --title= hunter2", "quotes"],
  ["item create --title My hunter2", "quotes"],
  ["item create --title = hunter2", "`--title=VALUE`"],
  ["item list --vault = hunter2", "`--vault=VALUE`"],
  ["item list -v=hunter2", "`-v VALUE`"],
  ["item get My hunter2", "quotes"],
  ["item get x vault=hunter2", "`--vault VAULT`"],
  ["item get x —vault hunter2", "two hyphens"],
  ["item create --title X --field pin=hunter2", "`--field pin=prompt`"],
  ["item create --title X --field 'pin = hunter2'", "`--field pin=prompt`"],
  ["item create --title X --field pin[string]=hunter2", "`--field pin=prompt`"],
  ["item create --title X --field pin", "`--field LABEL=prompt`"],
  ["item create --title X --field pin=generate:hunter2", "`pin=generate[:LENGTH[,SET…]]`"],
  ["token create x vault=hunter2", "`--vault VAULT[=rwd]`"],
  ["item create -t X", "`--title TITLE` or `--tag TAG`"],
  ["item create --title X -u hunter2", "`--url URL` or `--username NAME`"],
  ["item get X --fields label", "--field is an option of `item create`, `item edit`"],
  ["token create --name x", "`item-vault token create <name>`"],
  ["login --token hunter2", "ITEM_VAULT_TOKEN"],
  ["logout now", "takes no arguments"],
  ["run ls", "Write `--` before"],
  ["item create X", "use --title"],
  ["op://a/b/c", "`item-vault read`"],
  ["get op://a/b/c", "`item-vault read`"],
  ["list", "`item-vault item list`"],
  ["list items", "`item-vault item list`"],
  ["items get x", "`item-vault item get`"],
  ["get item x", "`item-vault item get`"],
  ["item show x", "item` are list, get, create"],
  ["tokens", "token` are create, list"],
  ["help raed", "`item-vault read`"],
  ["--format json item lst", "`item-vault item list`"],
];

describe("a wrong spelling", () => {
  it.each(LINES)("%s is answered with what to type, and with no value of it", async (line, instead) => {
    const ran = await runHere(line, { env: { ITEM_VAULT_HOST: "http://127.0.0.1:1", ITEM_VAULT_TOKEN: "t" } });
    expect(ran).toMatchObject({ ...ends(2, instead), stdout: "" });
    expect(ran.stderr).not.toContain("hunter2");
  });

  it.each(shown)("of each option of $name is answered with the option", async ({ name, options }) => {
    for (const option of Object.keys(options))
      expect(await runHere(`${name} --${option.toUpperCase()}`)).toMatchObject(ends(2, `\`--${option}`));
  });

  it.each(["=z", "=RW", " = rw", ":rw", "=read", "=r,w", "="])(
    "of the permissions %j names those that exist",
    async (written) => {
      const words = "The permissions are l list, r read (default), w write, d destroy";
      for (const of of [NAME, world.vault])
        expect(await runHere(["token", "create", "x", "--vault", of + written], { env })).toMatchObject(ends(2, words));
    },
  );
});

describe("a token", () => {
  const WRONG: readonly (readonly [written: (token: string) => string, instead: string])[] = [
    [(token) => `"${token}"`, "without quotes"],
    [(token) => `'${token}'`, "without quotes"],
    [(token) => `“${token}”`, "without quotes"],
    [(token) => `Bearer ${token}`, "the token alone"],
    [(token) => `bearer ${token}`, "the token alone"],
    [(token) => `Authorization: Bearer ${token}`, "the token alone"],
    [(token) => `ITEM_VAULT_TOKEN=${token}`, "after the ="],
    [(token) => `export OP_CONNECT_TOKEN=${token}`, "after the ="],
    [(token) => `${token.slice(0, 20)} ${token.slice(20)}`, "again, as a whole"],
    [(token) => `${token.slice(0, 20)}\n${token.slice(20)}`, "again, as a whole"],
    [(token) => `${token.slice(0, -1)}…`, "again, as a whole"],
  ];

  it.each([
    ["whoami", "ITEM_VAULT_TOKEN"],
    ["whoami", "OP_CONNECT_TOKEN"],
    ["vault list --admin", "ITEM_VAULT_ADMIN_TOKEN"],
    [`import --from-connect ${inject("url")}`, "OP_CONNECT_TOKEN"],
    ["login", "stdin"],
  ])("with what does not belong to it is answered with what to leave out, and is not shown: %s with %s", async (line, name) => {
    for (const [written, instead] of WRONG) {
      const text = written(world.token);
      const ran = await runHere(line, name === "stdin" ? { input: text } : { env: { [name]: text } });
      expect(ran).toMatchObject({ ...ends(2, instead), stdout: "" });
      expect(ran.stderr).not.toContain(world.token.slice(0, 10));
    }
  });
});

it.each(["whoami", "read op://a/b/c", "vault list --admin"])(
  "a host with a path before that of the API is answered with what to leave out: %s",
  async (line) => {
    const host = `${new URL(inject("url")).origin}/vault`;
    const words = "has no path /vault\nLeave the path out of the host";
    expect(await runHere(`${line} --host ${host}`, { env })).toMatchObject(ends(4, words));
  },
);
