import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { FAULTS, startDeafServer } from "../support/deaf.ts";
import { fileOf, modeOf, newFolder } from "../support/files.ts";
import { ADMIN, ends, prints, runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { vaultOf, type World } from "../support/login.ts";
import { type Ran, startCli } from "../support/process.ts";
import { EVERYTHING, makeOnePux, otherItem } from "./support/onepux.ts";

/** `import` and `export`, against the Worker. */

interface Listed {
  readonly id: string;
  readonly title: string;
  readonly version: number;
}

/** An empty vault, and a function that runs a command with a token for it. */
async function emptyVault() {
  const world = await vaultOf(`Vault ${crypto.randomUUID()}`);
  const run = (line: string, more: Readonly<Record<string, string>> = {}) => runHere(line, { env: { ...world.env, ...more } });
  const importOf = (source: string, options = "") => run(`import ${source} --vault ${world.vault} ${options}`);
  return { ...world, run, importOf, list: (): Promise<Listed[]> => world.send("GET", "/items?archived=true") };
}

type Empty = Awaited<ReturnType<typeof emptyVault>>;

const itemsIn = async ({ send }: World): Promise<number> => (await send("GET", "")).items;

const all = fileOf(makeOnePux(), "all.1pux");

/** A vault into which everything was imported. The tests only read it. */
let full: Empty;
let first: Ran;
beforeAll(async () => {
  full = await emptyVault();
  first = await full.importOf(all);
});

describe("import of 1PUX", () => {
  it("makes the Items with their Files, earlier passwords and archive, and changes nothing when it runs again", async () => {
    expect(first).toMatchObject({
      code: 0,
      stdout: [
        "Source: 1pux, 3 Items, 2 Files, 3 earlier versions",
        "Not carried over:",
        "  1  parts of addresses (street, city …), joined to one text",
        "  1  passkeys",
        "  1  Items in the trash (--include-trash reads them)",
        "  3  dates of creation and change (the service sets its own)",
        "Carried over in another form:",
        "  1  fields of a kind that the service does not have, kept as their JSON",
        "  1  values that are no OTP, kept as CONCEALED",
        "Imported: 3 created",
        "",
      ].join("\n"),
    });
    expect((await full.list()).map(({ title, version }) => `${version} ${title}`).toSorted()).toEqual([
      "2 Note password11111111111111111a", // an earlier password
      "3 Note document11111111111111111a", // archived, a File
      "4 Login “with” \u0000 everything 🔑", // two earlier passwords, a File
    ]);
    const { contentVersion } = await full.send("GET", "");
    expect(await full.importOf(all)).toMatchObject(prints(0, "Imported: 3 already there\n"));
    expect((await full.send("GET", "")).contentVersion).toBe(contentVersion);
  });

  it("writes nothing with --dry-run, and needs no service then", async () => {
    const env = { ITEM_VAULT_HOST: "http://127.0.0.1:9", ITEM_VAULT_TOKEN: "t" };
    const ran = await runHere(`import ${all} --dry-run --vault x`, { env });
    expect(ran).toMatchObject(prints(0, /Not carried over:\n[^]*Dry run: nothing was written\n$/));
  });

  it.each([
    ["does not fit", { title: "Odd", url: "", tags: Array.from({ length: 1001 }, () => "t") }, "has more than 1000 tags"],
    ["cannot be read", { title: "Odd", tags: [1] }, "cannot be read: overview.tags[0] is no text\n"],
  ])("writes nothing when one Item %s, names it, and leaves it out with --skip-invalid", async (_, overview, why) => {
    const { importOf, list } = await emptyVault();
    const path = fileOf(makeOnePux([otherItem("fine"), otherItem("odd", { overview })]), "odd.1pux");
    const words = [`“Odd” ${why}`, "1 Item cannot be imported. Nothing was imported."];
    expect(await importOf(path)).toMatchObject({ ...ends(2, ...words), stdout: "" });
    expect(await list()).toEqual([]);
    const skipped = ["1  Items that cannot be read or written\n", "Imported: 1 created\n"];
    expect(await importOf(path, "--skip-invalid")).toMatchObject(prints(0, ...skipped));
  });

  it("reads a CSV file of no known program once --map says what its columns are", async () => {
    const { importOf, list, send, run } = await emptyVault();
    const path = fileOf("Nom;Mot de passe;Couleur\nBoutique;pw1;rouge\n", "other.csv");
    expect(await importOf(path)).toMatchObject(ends(2, "--map 'Login=username'"));
    expect((await importOf(path, "--map nom=title --map 'Mot de passe=password'")).stdout).toBe(
      [
        "Source: csv, 1 Item, 0 Files, 0 earlier versions",
        "Not carried over: nothing is lost",
        "Carried over in another form:",
        "  1  values of the column “Couleur”, kept as hidden fields",
        "Imported: 1 created",
        "",
      ].join("\n"),
    );
    const [item] = await list();
    const { fields } = await send("GET", `/items/${item!.id}`);
    expect(item!.title).toBe("Boutique");
    expect(fields).toMatchObject([
      { label: "password", value: "pw1" },
      { label: "Couleur", value: "rouge" },
    ]);
    const remote = await run("import --from-connect http://127.0.0.1:9 --map a=url");
    expect(remote).toMatchObject(ends(2, "--map is for CSV files"));
  });

  it("makes the vaults of the source when asked", async () => {
    const vault = `Made ${crypto.randomUUID()}`;
    const path = fileOf(makeOnePux(EVERYTHING, {}, vault), "vaults.1pux");
    expect(await (await emptyVault()).run(`import ${path}`)).toMatchObject(ends(4, "--create-vaults"));
    for (const words of ["Imported: 3 created\n", "Imported: 3 already there\n"])
      expect(await runHere(`import ${path} --create-vaults`, { env: ADMIN })).toMatchObject(prints(0, words));
    const vaults = (await admin("GET", "vaults")) as unknown as { name: string; items: number }[];
    expect(vaults.filter(({ name }) => name === vault).map(({ items }) => items)).toEqual([3]);
    const tokens = (await admin("GET", "tokens")) as unknown as { name: string }[];
    expect(tokens.filter(({ name }) => name === "item-vault import")).toEqual([]);
  });

  it.each(["item-vault", "1pux", "--from-connect"])(
    "of two vaults of one name is refused before it writes anything, unless --vault names the vault of all Items: %s",
    async (source) => {
      const name = `Twice ${crypto.randomUUID()}`;
      const vaults = await Promise.all([name, name, name.toUpperCase()].map((one) => makeVault(one)));
      const { token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "rw"])), "uuid");
      for (const vault of vaults)
        await sendRequest("POST", `v1/vaults/${vault}/items`, token, { category: "LOGIN", title: vault });
      const path = join(newFolder(), "export");
      const isFile = source !== "--from-connect";
      if (isFile) await runHere(`export --format ${source} -o ${path}`, { env: { ITEM_VAULT_TOKEN: token } });
      // Names that no vault has, so that --create-vaults would make them.
      if (isFile) for (const vault of vaults) await admin("PATCH", `vaults/${vault}`, { name: `Renamed ${vault}` });
      const line = `import ${isFile ? path : `${source} ${inject("url")}`}`;
      const env = { ...ADMIN, OP_CONNECT_TOKEN: token };
      const shared = /Several vaults of the source have one name: “[Tt](?:wice|WICE) [^”]*” \(3 vaults\)\. Nothing was imported/;
      for (const option of ["--create-vaults", "--dry-run"]) {
        const refused = await runHere(`${line} ${option}`, { env });
        expect(refused).toMatchObject({ ...ends(5, "--vault puts all items", shared), stdout: "" });
      }
      const vaultsNow = (await admin("GET", "vaults")) as unknown as { name: string; items: number }[];
      const ofNames = vaultsNow.filter((one) => one.name.toLowerCase() === name.toLowerCase());
      expect(ofNames.map(({ items }) => items)).toEqual(isFile ? [] : [1, 1, 1]);
      const made = await emptyVault();
      expect(await made.run(`${line} --vault ${made.vault}`, env)).toMatchObject(prints(0, "Imported: 3 created\n"));
    },
  );

  it("makes a vault beside one whose record does not open, which has no name", async () => {
    const path = fileOf(makeOnePux(EVERYTHING, {}, `Made ${crypto.randomUUID()}`), "vaults.1pux");
    const broken = [{ id: crypto.randomUUID(), broken: "integrity" }];
    const { url } = await startInterceptor({ answer: (name) => (name === "GET /v1/admin/vaults" ? broken : undefined) });
    const ran = await runHere(`import ${path} --create-vaults`, { env: { ...ADMIN, ITEM_VAULT_HOST: url } });
    expect(ran).toMatchObject(prints(0, "Imported: 3 created\n"));
  });
});

/** A file with an Item for each id, with this password. */
const sourceOf = (ids: readonly string[], passwordOf: (at: number) => string) => {
  const items = ids.map((id, at) => {
    const fields = [{ purpose: "PASSWORD", type: "CONCEALED", value: passwordOf(at) }];
    return { id, title: `Item of ${id}`, category: "LOGIN", fields };
  });
  return fileOf(JSON.stringify({ format: "item-vault", version: 1, items }), "source.json");
};

it("import of a file that was changed counts and names the Items with other content, with one request for each Item there", async () => {
  const { importOf, run, vault } = await emptyVault();
  const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
  expect(await importOf(sourceOf(ids, () => "old"))).toMatchObject(prints(0, "20 created\n"));
  const changed = sourceOf(ids, (at) => (at === 0 ? "new" : "old"));
  for (const [options, words] of [
    ["--dry-run", "Dry run: 0 to write, 20 already there\n"],
    ["", "Imported: 19 already there, 1 already there with different content (not changed)\n"],
  ] as const) {
    const { url, requests } = await startInterceptor();
    const ran = await run(`import ${changed} --vault ${vault} ${options}`, { ITEM_VAULT_HOST: url });
    expect(ran).toMatchObject(prints(0, words));
    expect(ran.stderr).toContain(`Already there with different content (not changed): “Item of ${ids[0]}”`);
    expect(requests).toHaveLength(22); // the list of vaults and that of Items
    expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  }
});

it("import after Ctrl-C ends cleanly, says how to go on, and is continued by the same command", async () => {
  const made = await emptyVault();
  const path = fileOf(makeOnePux(Array.from({ length: 80 }, (_, index) => otherItem(`item-${index}`))), "many.1pux");
  const { child, ended } = startCli(["import", path, "--vault", made.vault], { env: made.env });
  child.stdin.end();
  while ((await itemsIn(made)) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect([code, stderr]).toEqual([130, "Interrupted. The same command continues where this one stopped.\n"]);
  const created = Number(/Imported: (\d+) created/.exec(stdout)![1]);
  expect(await itemsIn(made)).toBe(created);
  expect(created).toBeLessThan(80);
  expect(await made.importOf(path)).toMatchObject(prints(0, `Imported: ${80 - created} created, ${created} already there`));
});

function withoutDates(path: string): unknown {
  const volatile = new Set(["createdAt", "updatedAt", "changedAt", "vault", "vaultId"]);
  return JSON.parse(readFileSync(path, "utf8"), (name, value: unknown) => (volatile.has(name) ? undefined : value));
}

describe("export", () => {
  it("gives a backup that a second vault takes and gives back the same", async () => {
    const two = await emptyVault();
    const [ofOne, ofTwo] = [join(newFolder(), "one.json"), join(newFolder(), "two.json")];
    expect(await full.run(`export --format item-vault -o ${ofOne}`)).toMatchObject({ code: 0, stdout: "" });
    expect(modeOf(ofOne)).toBe(0o600);
    expect(await two.importOf(ofOne)).toMatchObject(prints(0, "Imported: 3 created\n"));
    await two.run(`export --format item-vault -o ${ofTwo}`);
    expect(withoutDates(ofTwo)).toEqual(withoutDates(ofOne));
  });

  it("does not write in clear what should be encrypted", async () => {
    const path = join(newFolder(), "clear.1pux");
    const line = `export --format 1pux -o ${path} --password-file ${fileOf("p")}`;
    expect(await runHere(line, { env: { ITEM_VAULT_TOKEN: "none" } })).toMatchObject(ends(2, "The format 1pux does not encrypt"));
    expect(existsSync(path)).toBe(false);
  });

  it("keeps a file that exists", async () => {
    const path = fileOf("kept");
    expect(await (await emptyVault()).run(`export --format 1pux -o ${path}`)).toMatchObject({ code: 2 });
    expect(readFileSync(path, "utf8")).toBe("kept");
  });
});

const idsOf = async ({ list }: Empty) => (await list()).map(({ id, version }) => `${id} ${version}`);

describe("import --from-connect", () => {
  it("says that a page is no service", async () => {
    const url = await startDeafServer(FAULTS["an HTML page"]!);
    const ran = await runHere(`import --from-connect ${url}`, { env: { OP_CONNECT_TOKEN: "token" } });
    expect(ran).toMatchObject(ends(6, "The answer of the service is no JSON"));
  });

  it("takes Items, Files and versions of another service, with their ids", async () => {
    const two = await emptyVault();
    const env = { OP_CONNECT_TOKEN: (await makeToken({ [full.vault]: "r" })).token };
    const run = () => two.run(`import --from-connect ${inject("url")} --vault ${two.vault}`, env);
    expect(await run()).toMatchObject(prints(0, "Imported: 3 created\n"));
    expect(await idsOf(two)).toEqual(await idsOf(full));
    expect(await run()).toMatchObject(prints(0, "Imported: 3 already there\n"));
  });
});

it("import of stdin gives its item a title, not the name -", async () => {
  const { env, list } = await emptyVault();
  expect(await runHere("import - --format dotenv", { env, input: "API_KEY=x\n" })).toMatchObject({ code: 0 });
  expect((await list()).map(({ title }) => title)).toEqual(["Imported"]);
});
