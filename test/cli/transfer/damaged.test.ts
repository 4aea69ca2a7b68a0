import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { readService } from "../../../packages/transfer/src/read-service.ts";
import { makeToken } from "../../sdk/support/vault.ts";
import { fileOf, newFolder } from "../support/files.ts";
import { ends, prints, runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";
import { vaultOf } from "../support/login.ts";

/** Export and import beside vaults, Items and versions whose stored records do not open. The proxy answers for those records. */

const newName = () => `Vault ${crypto.randomUUID()}`;

/** An Item of three versions and one of one version, and a proxy with which the second Item and a version of the first are damaged. */
async function damagedVault() {
  const world = await vaultOf(newName());
  const [{ id }, { id: lost }] = [await world.create({ title: "First" }), await world.create({ title: "Lost" })];
  for (const value of ["Second", "Third"]) await world.send("PATCH", `/items/${id}`, [{ op: "replace", path: "/title", value }]);
  const items = `/v1/vaults/${world.vault}/items`;
  const damaged = new Set([`GET ${items}/${lost}`, `GET ${items}/${id}/versions/2`]);
  const proxy = await startInterceptor({ damaged: (name) => damaged.has(name) });
  return { ...world, lost, proxy };
}

/** Imports from a service into a vault of its own. */
async function importFrom(url: string, token: string) {
  const target = await vaultOf(newName());
  const line = `import --from-connect ${url} --vault ${target.vault}`;
  const run = (more = "") => runHere(`${line} ${more}`, { env: { ...target.env, OP_CONNECT_TOKEN: token } });
  return { target, run };
}

const REPORTED = [
  /1 +Items that the service cannot read, because their stored records are damaged/,
  /1 +damaged earlier versions/,
];

describe("damaged Items and earlier versions", () => {
  it("are reported by an export, which has everything else", async () => {
    const { env, lost, proxy } = await damagedVault();
    const path = join(newFolder(), "export.json");
    const ran = await runHere(`export --format item-vault -o ${path}`, { env: { ...env, ITEM_VAULT_HOST: proxy.url } });
    expect(ran).toMatchObject(ends(7, ...REPORTED, lost));
    expect(readFileSync(path, "utf8")).toMatch(/^(?=[^]*Third)(?=[^]*First)(?![^]*Second)/);
  });

  it("are reported by import --from-connect, which takes everything else", async () => {
    const { token, proxy } = await damagedVault();
    const { target, run } = await importFrom(proxy.url, token);
    expect(await run()).toMatchObject(prints(7, ...REPORTED, "Imported: 1 created\n"));
    const [item, ...others] = await target.send("GET", "/items");
    expect([item, others]).toMatchObject([{ title: "Third", version: 2 }, []]);
  });

  it("in the vault of an import are left as they are, also beside an Item without a title", async () => {
    const { vault, env, lost } = await damagedVault();
    const list = `GET /v1/vaults/${vault}/items`;
    const entry = { id: lost, vault: { id: vault }, version: 1, broken: "integrity" };
    const answer = (name: string) => (name === list ? [entry] : undefined);
    const proxy = await startInterceptor({ answer, damaged: (name) => name === `${list}/${lost}` });
    const path = fileOf("name,url,username,password\n,,,x\nOne,https://one.example,ada,x\n", "chrome.csv");
    const ran = await runHere(`import ${path} --vault ${vault}`, { env: { ...env, ITEM_VAULT_HOST: proxy.url } });
    expect(ran).toMatchObject(prints(0, "Imported: 2 created\n"));
  });
});

/** A service whose lists leave out what does not open, and count it in a header, and a token for a vault with one Item. */
async function serviceLeavingOut(counted: { readonly vaults?: number; readonly items?: number }) {
  const name = newName();
  const { vault, create } = await vaultOf(name);
  await create({ title: "Kept" });
  const { token } = await makeToken({ [vault]: "rw" });
  const countOf = (request: string) =>
    request === "GET /v1/vaults" ? counted.vaults : request.endsWith("/items") ? counted.items : 0;
  const headers = (request: string): Record<string, string> =>
    countOf(request) ? { "Item-Vault-Broken": String(countOf(request)) } : {};
  const { url } = await startInterceptor({ headers });
  const path = join(newFolder(), "export.json");
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: url };
  const exported = (...options: string[]) => runHere(["export", "--format", "item-vault", "-o", path, ...options], { env });
  return { name, url, token, path, exported };
}

describe.each([
  ["vaults", { vaults: 2 }, /2 +vaults that the service cannot read/],
  ["Items", { items: 3 }, /3 +Items that the service cannot read/],
])("%s that the lists of the service leave out because they do not open", (_, counted, reported) => {
  it("are counted by an export, which ends with 7 and replaces no file, also with --force", async () => {
    const { path, exported } = await serviceLeavingOut(counted);
    expect(await exported()).toMatchObject(ends(7, reported, "It is incomplete"));
    expect(readFileSync(path, "utf8")).toContain("Kept");
    writeFileSync(path, "complete");
    expect(await exported("--force")).toMatchObject(ends(7, reported, `${path} was not replaced`));
    expect(readFileSync(path, "utf8")).toBe("complete");
  });

  it("are counted by import --from-connect, which takes everything else and ends with 7", async () => {
    const { url, token } = await serviceLeavingOut(counted);
    const { run } = await importFrom(url, token);
    expect(await run("--dry-run")).toMatchObject(prints(7, reported));
    expect(await run()).toMatchObject(prints(7, reported, "Imported: 1 created\n"));
  });
});

describe("an export of chosen vaults", () => {
  it("is complete beside another vault that does not open", async () => {
    const { name, path, exported } = await serviceLeavingOut({ vaults: 1 });
    writeFileSync(path, "of yesterday");
    expect(await exported("--force", "--vault", name)).toMatchObject(ends(0, "nothing is lost"));
    expect(readFileSync(path, "utf8")).toContain("Kept");
  });

  it("says that a name it does not find may be that of a vault that does not open", async () => {
    const { path, exported } = await serviceLeavingOut({ vaults: 1 });
    expect(await exported("--vault", "Another")).toMatchObject(ends(4, "The service cannot read 1 vault of the token"));
    expect(existsSync(path)).toBe(false);
  });
});

const FILE = { id: crypto.randomUUID(), name: "f", size: 1, content_path: "" };
/** What an answer has of the File. */
const STATES = { open: { files: [FILE] }, damaged: { files: [], brokenFiles: [FILE.id] }, absent: { files: [] } };
type State = keyof typeof STATES;

const EARLIER = "1 Files that only earlier versions have";
const DAMAGED = "1 Files that the service cannot read, because their stored records are damaged";
const LOST: Record<State, Record<State, string[]>> = {
  open: { open: [], damaged: [], absent: [] },
  damaged: { open: [DAMAGED], damaged: [DAMAGED], absent: [DAMAGED] },
  absent: { open: [EARLIER], damaged: [EARLIER], absent: [] },
};

describe("a File of an Item with two versions", () => {
  const names = Object.keys(STATES) as State[];
  it.each(names.flatMap((now) => names.map((before) => ({ now, before }))))(
    "is counted once at most where it is $now in the current version and $before in the earlier one",
    async ({ now, before }) => {
      const { vault, token, create, send } = await vaultOf(newName());
      const { id } = await create({ title: "First" });
      await send("PATCH", `/items/${id}`, [{ op: "replace", path: "/title", value: "Second" }]);
      const answers: Record<string, unknown> = {};
      for (const [path, state] of [[`/items/${id}`, now] as const, [`/items/${id}/versions/1`, before] as const])
        answers[`GET /v1/vaults/${vault}${path}`] = { ...(await send("GET", path)), ...STATES[state] };
      const { url } = await startInterceptor({ answer: (name) => answers[name] });
      const { losses } = await readService(createClient({ host: url, token }), [{ id: vault, name: "Vault" }]);
      expect(losses.list().map(({ count, what }) => `${count} ${what}`)).toEqual(LOST[now][before]);
    },
  );
});
