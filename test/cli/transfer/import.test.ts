import { mkdtempSync, writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { admin, makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { FAULTS, startDeafServer } from "../support/deaf.ts";
import { runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { type Ran, startCli } from "../support/process.ts";
import { EVERYTHING, makeOnePux, otherItem } from "./support/onepux.ts";

/** The commands as processes, against the Worker. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-transfer-"));

function fileWith(name: string, bytes: Uint8Array): string {
  const path = join(folder, `${crypto.randomUUID()}-${name}`);
  writeFileSync(path, bytes);
  return path;
}

async function emptyVault(name = `Vault ${crypto.randomUUID()}`) {
  const vault = await makeVault(name);
  const { token } = await makeToken({ [vault]: "rw" }, "uuid");
  return { name, vault, token, env: { ITEM_VAULT_TOKEN: token } };
}

type Made = Awaited<ReturnType<typeof emptyVault>>;

const get = async <T>({ vault, token }: Made, path: string) =>
  (await sendRequest("GET", `v1/vaults/${vault}${path}`, token)) as T;

interface Listed {
  id: string;
  title: string;
  version: number;
}

const all = fileWith("all.1pux", makeOnePux());

/** A vault into which everything was imported. The tests only read it. */
let full: Made;
let first: Ran;
beforeAll(async () => {
  full = await emptyVault();
  first = await runHere(["import", all, "--vault", full.name], { env: full.env });
});

describe("import of 1PUX", () => {
  it("makes the Items with their Files, earlier passwords and archive, and changes nothing when it runs again", async () => {
    const made = full;
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toBe(
      [
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
    );
    const items = await get<Listed[]>(made, "/items?archived=true");
    expect(items.map(({ title, version }) => `${version} ${title}`).toSorted()).toEqual([
      "2 Note password11111111111111111a", // an earlier password
      "3 Note document11111111111111111a", // archived, a File
      "4 Login “with” \u0000 everything 🔑", // two earlier passwords, a File
    ]);
    const before = await get<{ contentVersion: number }>(made, "");
    const second = await runHere(["import", all, "--vault", made.name], { env: made.env });
    expect(second.stdout).toContain("Imported: 3 already there\n");
    expect((await get<{ contentVersion: number }>(made, "")).contentVersion).toBe(before.contentVersion);
  });

  it("writes nothing with --dry-run, and needs no service then", async () => {
    const path = fileWith("all.1pux", makeOnePux());
    const { code, stdout } = await runHere(["import", path, "--dry-run", "--vault", "x"], {
      env: { ITEM_VAULT_HOST: "http://127.0.0.1:9", ITEM_VAULT_TOKEN: "t" },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Not carried over:\n[^]*Dry run: nothing was written\n$/);
  });

  it("writes nothing when one Item does not fit, unless it is left out", async () => {
    const made = await emptyVault();
    const long = otherItem("long", { overview: { title: "Long", url: "", tags: Array.from({ length: 1001 }, () => "t") } });
    const path = fileWith("long.1pux", makeOnePux([...EVERYTHING, long]));
    const refused = await runHere(["import", path, "--vault", made.name], { env: made.env });
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("“Long” has more than 1000 tags");
    expect(await get(made, "/items")).toEqual([]);
    const skipped = await runHere(["import", path, "--vault", made.name, "--skip-invalid"], { env: made.env });
    expect(skipped.stdout).toContain("Imported: 3 created\n");
  });

  it("writes nothing when one Item cannot be read, names it, and leaves it out with --skip-invalid", async () => {
    const made = await emptyVault();
    const odd = otherItem("odd", { overview: { title: "Odd", tags: [1] } });
    const path = fileWith("odd.1pux", makeOnePux([otherItem("fine"), odd]));
    const refused = await runHere(["import", path, "--vault", made.name], { env: made.env });
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("“Odd” cannot be read: overview.tags[0] is no text\n");
    expect(refused.stderr).toContain("1 Item cannot be imported. Nothing was imported.");
    expect(await get(made, "/items")).toEqual([]);
    const skipped = await runHere(["import", path, "--vault", made.name, "--skip-invalid"], { env: made.env });
    expect(skipped.stdout).toContain("1  Items that cannot be read or written\n");
    expect(skipped.stdout).toContain("Imported: 1 created\n");
  });

  it("reads a CSV file of no known program once --map says what its columns are", async () => {
    const made = await emptyVault();
    const path = fileWith("other.csv", Buffer.from("Nom;Mot de passe;Couleur\nBoutique;pw1;rouge\n"));
    const refused = await runHere(["import", path, "--vault", made.name], { env: made.env });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--map 'Login=username'") });
    const mapped = ["import", path, "--vault", made.name, "--map", "nom=title", "--map", "Mot de passe=password"];
    const ran = await runHere(mapped, { env: made.env });
    expect(ran.stdout).toBe(
      [
        "Source: csv, 1 Item, 0 Files, 0 earlier versions",
        "Not carried over: nothing is lost",
        "Carried over in another form:",
        "  1  values of the column “Couleur”, kept as hidden fields",
        "Imported: 1 created",
        "",
      ].join("\n"),
    );
    const [item] = await get<{ id: string; title: string }[]>(made, "/items");
    const { fields } = await get<{ fields: { label: string; value: string }[] }>(made, `/items/${item!.id}`);
    expect([item!.title, fields.map(({ label, value }) => [label, value])]).toEqual([
      "Boutique",
      [
        ["password", "pw1"],
        ["Couleur", "rouge"],
      ],
    ]);
    const remote = await runHere(["import", "--from-connect", "http://127.0.0.1:9", "--map", "a=url"], { env: made.env });
    expect(remote).toMatchObject({ code: 2, stderr: expect.stringContaining("--map is for CSV files") });
  });

  it("makes the vaults of the source when asked", async () => {
    const vault = `Made ${crypto.randomUUID()}`;
    const path = fileWith("vaults.1pux", makeOnePux(EVERYTHING, {}, vault));
    const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
    const refused = await runHere(["import", path], { env: (await emptyVault()).env });
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain("--create-vaults");
    expect((await runHere(["import", path, "--create-vaults"], { env })).stdout).toContain("Imported: 3 created\n");
    expect((await runHere(["import", path, "--create-vaults"], { env })).stdout).toContain("Imported: 3 already there\n");
    const vaults = (await admin("GET", "vaults")) as unknown as { name: string; items: number }[];
    expect(vaults.filter(({ name }) => name === vault).map(({ items }) => items)).toEqual([3]);
    const tokens = (await admin("GET", "tokens")) as unknown as { name: string }[];
    expect(tokens.filter(({ name }) => name === "item-vault import")).toEqual([]);
  });

  it.each(["item-vault", "1pux", "--from-connect"])(
    "of two vaults of one name is refused before it writes anything, unless --vault names the vault of all Items: %s",
    async (source) => {
      const name = `Twice ${crypto.randomUUID()}`;
      const names = [name, name, name.toUpperCase()];
      const vaults = await Promise.all(names.map(async (one) => await makeVault(one)));
      const { token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "rw"])), "uuid");
      for (const vault of vaults)
        await sendRequest("POST", `v1/vaults/${vault}/items`, token, { vault: { id: vault }, category: "LOGIN", title: vault });
      const path = join(folder, crypto.randomUUID());
      const isFile = source !== "--from-connect";
      if (isFile) await runHere(["export", "--format", source, "-o", path], { env: { ITEM_VAULT_TOKEN: token } });
      // Names that no vault has, so that --create-vaults would make them.
      if (isFile) for (const vault of vaults) await admin("PATCH", `vaults/${vault}`, { name: `Renamed ${vault}` });
      const args = ["import", ...(isFile ? [path] : [source, inject("url")])];
      const env = { ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN, OP_CONNECT_TOKEN: token };
      for (const option of ["--create-vaults", "--dry-run"]) {
        const refused = await runHere([...args, option], { env });
        expect(refused).toMatchObject({ code: 5, stdout: "", stderr: expect.stringContaining("--vault puts all items") });
        expect(refused.stderr).toMatch(
          /Several vaults of the source have one name: “twice [^”]*” \(3 vaults\)\. Nothing was imported/i,
        );
      }
      const vaultsNow = (await admin("GET", "vaults")) as unknown as { name: string; items: number }[];
      const ofNames = vaultsNow.filter((one) => one.name.toLowerCase() === name.toLowerCase());
      expect(ofNames.map(({ items }) => items)).toEqual(isFile ? [] : [1, 1, 1]);
      const made = await emptyVault();
      const ran = await runHere([...args, "--vault", made.vault], { env: { ...env, ...made.env } });
      expect(ran.stdout).toContain("Imported: 3 created\n");
    },
  );

  it("makes a vault beside one whose record does not open, which has no name", async () => {
    const path = fileWith("vaults.1pux", makeOnePux(EVERYTHING, {}, `Made ${crypto.randomUUID()}`));
    const broken = [{ id: crypto.randomUUID(), broken: "integrity" }];
    const { url } = await startInterceptor({ answer: (name) => (name === "GET /v1/admin/vaults" ? broken : undefined) });
    const env = { ITEM_VAULT_HOST: url, ITEM_VAULT_ADMIN_TOKEN: inject("secrets").ADMIN_TOKEN };
    expect((await runHere(["import", path, "--create-vaults"], { env })).stdout).toContain("Imported: 3 created\n");
  });
});

const itemOf = (id: string, value: string) => ({
  id,
  title: `Item of ${id}`,
  category: "LOGIN",
  fields: [{ purpose: "PASSWORD", type: "CONCEALED", value }],
});
const sourceOf = (items: readonly object[]) =>
  fileWith("source.json", Buffer.from(JSON.stringify({ format: "item-vault", version: 1, items })));

describe("import of a file that was changed after an import", () => {
  it("counts and names the Items with other content, with one request for each Item that is there", async () => {
    const made = await emptyVault();
    const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
    const path = sourceOf(ids.map((id) => itemOf(id, "old")));
    expect((await runHere(["import", path, "--vault", made.name], { env: made.env })).stdout).toContain("20 created\n");
    const changed = sourceOf(ids.map((id, n) => itemOf(id, n === 0 ? "new" : "old")));
    const { url, requests } = await startInterceptor();
    const again = (...options: string[]) =>
      runHere(["import", changed, "--vault", made.name, ...options], { env: { ...made.env, ITEM_VAULT_HOST: url } });
    const dry = await again("--dry-run");
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("Dry run: 0 to write, 20 already there\n") });
    expect(dry.stderr).toContain(`Already there with different content (not changed): “Item of ${ids[0]}”`);
    expect(requests).toHaveLength(22); // the list of vaults and that of Items
    requests.length = 0;
    const ran = await again();
    expect(ran.stdout).toContain("Imported: 19 already there, 1 already there with different content (not changed)\n");
    expect(ran.stderr).toContain(`Already there with different content (not changed): “Item of ${ids[0]}”`);
    expect(requests).toHaveLength(22);
    expect(requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  });
});

describe("import after Ctrl-C", () => {
  it("ends cleanly, says how to go on, and is continued by the same command", async () => {
    const made = await emptyVault();
    const items = Array.from({ length: 80 }, (_, index) => otherItem(`item-${index}`));
    const args = ["import", fileWith("many.1pux", makeOnePux(items)), "--vault", made.name];
    const { child, ended } = startCli(args, { env: made.env });
    child.stdin.end();
    while ((await get<{ items: number }>(made, "")).items === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toBe("Interrupted. The same command continues where this one stopped.\n");
    const created = Number(/Imported: (\d+) created/.exec(stdout)![1]);
    expect((await get<{ items: number }>(made, "")).items).toBe(created);
    expect(created).toBeLessThan(80);
    expect((await runHere(args, { env: made.env })).stdout).toContain(
      `Imported: ${80 - created} created, ${created} already there`,
    );
  });
});

describe("export", () => {
  it("gives a backup that a second vault takes and gives back the same", async () => {
    const [one, two] = [full, await emptyVault()];
    const [ofOne, ofTwo] = [join(folder, "one.json"), join(folder, "two.json")];
    const exported = await runHere(["export", "--format", "item-vault", "-o", ofOne], { env: one.env });
    expect(exported).toMatchObject({ code: 0, stdout: "" });
    expect((await stat(ofOne)).mode & 0o777).toBe(0o600);
    expect((await runHere(["import", ofOne, "--vault", two.name], { env: two.env })).stdout).toContain("Imported: 3 created\n");
    await runHere(["export", "--format", "item-vault", "-o", ofTwo], { env: two.env });
    const [before, after] = await Promise.all([ofOne, ofTwo].map(async (path) => withoutDates(await readFile(path, "utf8"))));
    expect(after).toEqual(before);
  });

  it("does not write in clear what should be encrypted", async () => {
    const path = join(folder, "clear.1pux");
    const args = ["export", "--format", "1pux", "-o", path, "--password-file", fileWith("password", Buffer.from("p"))];
    const { code, stderr } = await runHere(args, { env: { ITEM_VAULT_TOKEN: "none" } });
    expect(code).toBe(2);
    expect(stderr).toContain("The format 1pux does not encrypt");
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });

  it("keeps a file that exists", async () => {
    const { env } = await emptyVault();
    const path = fileWith("kept", Buffer.from("kept"));
    expect(await runHere(["export", "--format", "1pux", "-o", path], { env })).toMatchObject({ code: 2 });
    expect(await readFile(path, "utf8")).toBe("kept");
  });
});

function withoutDates(text: string): unknown {
  return JSON.parse(text, (name, value: unknown) =>
    ["createdAt", "updatedAt", "changedAt", "vault", "vaultId"].includes(name) ? undefined : value,
  );
}

const idsOf = async (made: Made) =>
  (await get<Listed[]>(made, "/items?archived=true")).map(({ id, version }) => `${id} ${version}`);

describe("import --from-connect", () => {
  it("says that a page is no service", async () => {
    const page = await startDeafServer(FAULTS["an HTML page"]!);
    onTestFinished(page.close);
    const ran = await runHere(["import", "--from-connect", page.url], { env: { OP_CONNECT_TOKEN: "token" } });
    expect(ran).toMatchObject({ code: 6, stderr: expect.stringContaining("The answer of the service is no JSON") });
  });

  it("takes Items, Files and versions of another service, with their ids", async () => {
    const [one, two] = [full, await emptyVault()];
    const { token } = await makeToken({ [one.vault]: "r" }, "connect");
    const args = ["import", "--from-connect", inject("url"), "--vault", two.name];
    const env = { ...two.env, OP_CONNECT_TOKEN: token };
    expect((await runHere(args, { env })).stdout).toContain("Imported: 3 created\n");
    expect(await idsOf(two)).toEqual(await idsOf(one));
    expect((await runHere(args, { env })).stdout).toContain("Imported: 3 already there\n");
  });
});

it("import of stdin gives its item a title, not the name -", async () => {
  const made = await emptyVault();
  const ran = await runHere(["import", "-", "--format", "dotenv"], { env: made.env, input: "API_KEY=x\n" });
  expect(ran.code).toBe(0);
  expect((await get<Listed[]>(made, "/items")).map(({ title }) => title)).toEqual(["Imported"]);
});
