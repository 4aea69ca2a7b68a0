import { beforeAll, describe, expect, inject, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands.ts";
import { VERSION } from "../../packages/cli/src/frame/version.ts";
import { freshVault, makeItems, type TestVault } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";

/** Wrong spellings of a command line: each is understood, or its message says what to type instead. */

let world: TestVault;
let env: Record<string, string>;
beforeAll(async () => {
  world = await freshVault();
  await makeItems(world, "Data base");
  env = { ITEM_VAULT_TOKEN: world.token, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
});

const shown = COMMANDS.filter(({ hidden }) => !hidden);

describe("help and version", () => {
  it.each(shown.map(({ name }) => name))("of %s is shown by help before it and by --help before it", async (name) => {
    const words = name.split(" ");
    const wanted = await runHere([...words, "--help"]);
    expect(wanted).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(`Usage: item-vault ${name} `) });
    for (const args of [
      ["help", ...words],
      ["--help", ...words],
      ["-h", ...words],
    ])
      expect(await runHere(args)).toEqual(wanted);
  });

  it("of a group is shown by help before it and after it", async () => {
    const wanted = await runHere(["item", "--help"]);
    expect(wanted.stdout).toContain("item list");
    for (const args of [["help", "item"], ["item", "help"], ["item"]]) expect(await runHere(args)).toEqual(wanted);
  });

  it.each(["version", "--version", "-V"])("%s prints the version", async (word) =>
    expect(await runHere([word])).toMatchObject({ code: 0, stdout: `${VERSION}\n` }),
  );

  it("of an unknown command is a suggestion", async () =>
    expect(await runHere(["help", "raed"])).toMatchObject({ code: 2, stderr: expect.stringContaining("`item-vault read`") }));
});

describe("options before the command", () => {
  it.each([
    [["--format", "json"]],
    [["--format=json"]],
    [["--host", "HOST", "--format", "json", "--archived"]],
    [["--timeout", "60", "-v", "VAULT", "--format", "json"]],
  ])("are those of the command: %j", async (before) => {
    const options = before.map((word) => ({ HOST: inject("url"), VAULT: world.vault })[word] ?? word);
    const { code, stdout } = await runHere([...options, "item", "list"], { env });
    expect([code, (JSON.parse(stdout) as { title: string }[]).map(({ title }) => title)]).toEqual([0, ["Data base"]]);
  });

  it("do not hide a mistyped command", async () => {
    const { code, stderr } = await runHere(["--format", "json", "item", "lst"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("`item-vault item list`")]);
  });
});

/** A line, and what its message says to type. None of the lines sends a request. */
const LINES: readonly (readonly [line: readonly string[], instead: string])[] = [
  [["item", "list", "-o", "json"], "`--format json`"],
  [["item", "list", "-o=json"], "`--format json`"],
  [["item", "list", "--output", "yaml"], "`--format yaml`"],
  [["item", "list", "--output=JSON"], "`--format json`"],
  [["item", "list", "--json"], "`--format json`"],
  [["item", "get", "x", "--dotenv"], "`--format dotenv`"],
  [["activity", "--json"], "`--format json`"],
  [["item", "list", "--fromat", "json"], "`--format json`"],
  [["item", "list", "--tags", "x"], "`--tag TAG`"],
  [["item", "list", "--VAULT", "x"], "`--vault VAULT`"],
  [["item", "list", "-vault", "x"], "`--vault`"],
  [["item", "list", "-tag=x"], "`--tag`"],
  [["read", "--out_file", "x", "op://a/b/c"], "`--out-file FILE`"],
  [["vault", "list", "--reveal"], "`item get`"],
  [["item", "create", "--title", "X", "--password", "hunter2"], "`--field password=prompt`"],
  [["item", "create", "--title", "X", "--email=hunter2"], "`--field email=prompt`"],
  [["item", "create", "--title", "X", "username=hunter2"], "`--username NAME`"],
  [["item", "create", "title=hunter2"], "`--title TITLE`"],
  [["item", "create", "title = hunter2"], "`--title TITLE`"],
  [["item", "create", "--title", "X", "password=hunter2"], "`--field password=prompt`"],
  [["item", "create", "--title", "X", "password[concealed]=hunter2"], "`--field password=prompt`"],
  [["item", "edit", "X", "title=hunter2"], "`--title TITLE`"],
  [["item", "create", "--title=", "hunter2"], "quotes"],
  [["item", "create", "--title", "My", "hunter2"], "quotes"],
  [["item", "create", "--title", "=", "hunter2"], "`--title=VALUE`"],
  [["item", "list", "--vault", "=", "hunter2"], "`--vault=VALUE`"],
  [["item", "list", "-v=hunter2"], "`-v VALUE`"],
  [["item", "get", "My", "hunter2"], "quotes"],
  [["item", "get", "x", "vault=hunter2"], "`--vault VAULT`"],
  [["item", "get", "x", "—vault", "hunter2"], "two hyphens"],
  [["item", "create", "--title", "X", "--field", "pin=hunter2"], "`--field pin=prompt`"],
  [["item", "create", "--title", "X", "--field", "pin = hunter2"], "`--field pin=prompt`"],
  [["item", "create", "--title", "X", "--field", "pin[string]=hunter2"], "`--field pin=prompt`"],
  [["item", "create", "--title", "X", "--field", "pin"], "`--field LABEL=prompt`"],
  [["item", "create", "--title", "X", "--field", "pin=generate:hunter2"], "`pin=generate[:LENGTH[,SET…]]`"],
  [["token", "create", "x", "vault=hunter2"], "`--vault VAULT[=rwd]`"],
  [["item", "create", "-t", "X"], "`--title TITLE` or `--tag TAG`"],
  [["item", "create", "--title", "X", "-u", "hunter2"], "`--url URL` or `--username NAME`"],
  [["item", "get", "X", "--fields", "label"], "--field is an option of `item create`, `item edit`"],
  [["token", "create", "--name", "x"], "`item-vault token create <name>`"],
  [["login", "--token", "hunter2"], "ITEM_VAULT_TOKEN"],
  [["logout", "now"], "takes no arguments"],
  [["run", "ls"], "Write `--` before"],
  [["item", "create", "X"], "use --title"],
  [["op://a/b/c"], "`item-vault read`"],
  [["get", "op://a/b/c"], "`item-vault read`"],
  [["list"], "`item-vault item list`"],
  [["list", "items"], "`item-vault item list`"],
  [["items", "get", "x"], "`item-vault item get`"],
  [["get", "item", "x"], "`item-vault item get`"],
  [["item", "show", "x"], "item` are list, get, create"],
  [["tokens"], "token` are create, list"],
];

describe("a wrong spelling", () => {
  it.each(LINES)("%j is answered with what to type, and with no value of it", async (line, instead) => {
    const { code, stdout, stderr } = await runHere(line, {
      env: { ITEM_VAULT_HOST: "http://127.0.0.1:1", ITEM_VAULT_TOKEN: "t" },
    });
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(instead)]);
    expect(stderr).not.toContain("hunter2");
  });

  it.each(shown.map(({ name }) => name))("of each option of %s is answered with the option", async (name) => {
    const { options } = shown.find((command) => command.name === name)!;
    for (const option of Object.keys(options)) {
      const { code, stderr } = await runHere([...name.split(" "), `--${option.toUpperCase()}`]);
      expect([option, code, stderr]).toEqual([option, 2, expect.stringContaining(`\`--${option}`)]);
    }
  });

  it.each(["=z", "=RW", " = rw", ":rw", "=read", "=r,w", "="])(
    "of the permissions %j names those that exist",
    async (written) => {
      const vault = (
        JSON.parse((await runHere(["vault", "get", world.vault, "--format", "json"], { env })).stdout) as { name: string }
      ).name;
      for (const of of [vault, world.vault]) {
        const { code, stderr } = await runHere(["token", "create", "x", "--vault", of + written], { env });
        expect([of, code, stderr]).toEqual([
          of,
          2,
          expect.stringContaining("The permissions are l list, r read (default), w write, d destroy"),
        ]);
      }
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
  const ways: Record<string, (token: string) => Promise<{ code: number | null; stderr: string; stdout: string }>> = {
    ITEM_VAULT_TOKEN: (token) => runHere(["whoami"], { env: { ITEM_VAULT_TOKEN: token } }),
    OP_CONNECT_TOKEN: (token) => runHere(["whoami"], { env: { OP_CONNECT_TOKEN: token } }),
    ITEM_VAULT_ADMIN_TOKEN: (token) => runHere(["vault", "list", "--admin"], { env: { ITEM_VAULT_ADMIN_TOKEN: token } }),
    "--from-connect": (token) => runHere(["import", "--from-connect", inject("url")], { env: { OP_CONNECT_TOKEN: token } }),
    login: (token) => runHere(["login"], { input: token }),
  };

  it.each(Object.keys(ways))(
    "of %s with what does not belong to it is answered with what to leave out, and is not shown",
    async (way) => {
      for (const [written, instead] of WRONG) {
        const { code, stdout, stderr } = await ways[way]!(written(world.token));
        expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(instead)]);
        expect(stderr).not.toContain(world.token.slice(0, 10));
      }
    },
  );
});

describe("a host with a path before that of the API", () => {
  it.each([["whoami"], ["read", "op://a/b/c"], ["vault", "list", "--admin"]])(
    "is answered with what to leave out: %s",
    async (...args) => {
      const host = `${new URL(inject("url")).origin}/vault`;
      const { code, stderr } = await runHere([...args, "--host", host], { env });
      expect([code, stderr]).toEqual([4, expect.stringContaining("has no path /vault\nLeave the path out of the host")]);
    },
  );
});
