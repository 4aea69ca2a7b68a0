import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@item-vault/client";
import { describe, expect, it } from "vitest";
import { readService } from "../../../packages/transfer/src/read-service.ts";
import { makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";

/** Export and import beside vaults, Items and versions whose stored records do not open. The proxy answers for those records. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-damaged-"));

/** A vault with an Item of three versions and one of one version, and a proxy with which the second and a version of the first are damaged. */
async function damagedVault() {
  const vault = await makeVault(`Vault ${crypto.randomUUID()}`);
  const { token } = await makeToken({ [vault]: "rw" }, "uuid");
  const create = async (title: string) =>
    (await sendRequest("POST", `v1/vaults/${vault}/items`, token, { title, category: "LOGIN", vault: { id: vault } })) as {
      id: string;
    };
  const [{ id }, { id: lost }] = [await create("First"), await create("Lost")];
  const items = `v1/vaults/${vault}/items`;
  for (const value of ["Second", "Third"])
    await sendRequest("PATCH", `${items}/${id}`, token, [{ op: "replace", path: "/title", value }]);
  const damaged = new Set([`GET /${items}/${lost}`, `GET /${items}/${id}/versions/2`]);
  const proxy = await startInterceptor({ damaged: (name) => damaged.has(name) });
  return { vault, token, lost, proxy };
}

const REPORTED = [
  /1 +Items that the service cannot read, because their stored records are damaged/,
  /1 +damaged earlier versions/,
];

describe("damaged Items and earlier versions", () => {
  it("are reported by an export, which has everything else", async () => {
    const { token, lost, proxy } = await damagedVault();
    const path = join(folder, "export.json");
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["export", "--format", "item-vault", "-o", path], { env });
    expect(ran.code).toBe(7);
    for (const reported of REPORTED) expect(ran.stderr).toMatch(reported);
    expect(ran.stderr).toContain(lost);
    const text = readFileSync(path, "utf8");
    expect(text).toContain("Third");
    expect(text).toContain("First");
    expect(text).not.toContain("Second");
  });

  it("are reported by import --from-connect, which takes everything else", async () => {
    const { token, proxy } = await damagedVault();
    const target = await makeVault(`Vault ${crypto.randomUUID()}`);
    const { token: own } = await makeToken({ [target]: "rw" }, "uuid");
    const env = { ITEM_VAULT_TOKEN: own, OP_CONNECT_TOKEN: token };
    const ran = await runHere(["import", "--from-connect", proxy.url, "--vault", target], { env });
    expect(ran.code).toBe(7);
    for (const reported of REPORTED) expect(ran.stdout).toMatch(reported);
    expect(ran.stdout).toContain("Imported: 1 created\n");
    const [item, ...others] = (await sendRequest("GET", `v1/vaults/${target}/items`, own)) as {
      title: string;
      version: number;
    }[];
    expect([item, others]).toMatchObject([{ title: "Third", version: 2 }, []]);
  });

  it("in the vault of an import are left as they are, also beside an Item without a title", async () => {
    const { vault, token, lost } = await damagedVault();
    const list = `GET /v1/vaults/${vault}/items`;
    const entry = { id: lost, vault: { id: vault }, version: 1, broken: "integrity" };
    const answer = (name: string) => (name === list ? [entry] : undefined);
    const proxy = await startInterceptor({ answer, damaged: (name) => name === `${list}/${lost}` });
    const path = join(folder, "chrome.csv");
    writeFileSync(path, "name,url,username,password\n,,,x\nOne,https://one.example,ada,x\n");
    const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
    const ran = await runHere(["import", path, "--vault", vault], { env });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("Imported: 2 created\n") });
  });
});

/** A service whose lists leave out what does not open, and count it in a header, and a token for a vault with one Item. */
async function serviceLeavingOut(counted: { readonly vaults?: number; readonly items?: number }) {
  const name = `Vault ${crypto.randomUUID()}`;
  const vault = await makeVault(name);
  const { token } = await makeToken({ [vault]: "rw" }, "connect");
  const item = { title: "Kept", category: "LOGIN", vault: { id: vault } };
  await sendRequest("POST", `v1/vaults/${vault}/items`, token, item);
  const [{ id }] = (await sendRequest("GET", "v1/vaults", token)) as [{ id: string }];
  const counts: Readonly<Record<string, number | undefined>> = {
    "GET /v1/vaults": counted.vaults,
    [`GET /v1/vaults/${id}/items`]: counted.items,
  };
  const headers = (request: string): Record<string, string> =>
    counts[request] === undefined ? {} : { "Item-Vault-Broken": String(counts[request]) };
  const { url } = await startInterceptor({ headers });
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: url };
  const exportTo = (path: string, ...options: string[]) =>
    runHere(["export", "--format", "item-vault", "-o", path, ...options], { env });
  return { name, url, token, exportTo };
}

const LEFT_OUT = [
  ["vaults", { vaults: 2 }, /2 +vaults that the service cannot read/],
  ["Items", { items: 3 }, /3 +Items that the service cannot read/],
] as const;

describe.each(LEFT_OUT)("%s that the lists of the service leave out because they do not open", (_, counted, reported) => {
  it("are counted by an export, which ends with 7 and replaces no file, also with --force", async () => {
    const { exportTo } = await serviceLeavingOut(counted);
    const path = join(folder, `${crypto.randomUUID()}.json`);
    const ran = await exportTo(path);
    expect(ran).toMatchObject({ code: 7, stderr: expect.stringMatching(reported) });
    expect(ran.stderr).toContain("It is incomplete");
    expect(readFileSync(path, "utf8")).toContain("Kept");
    writeFileSync(path, "complete");
    const again = await exportTo(path, "--force");
    expect(again).toMatchObject({ code: 7, stderr: expect.stringMatching(reported) });
    expect(again.stderr).toContain(`${path} was not replaced`);
    expect(readFileSync(path, "utf8")).toBe("complete");
  });

  it("are counted by import --from-connect, which takes everything else and ends with 7", async () => {
    const { url, token } = await serviceLeavingOut(counted);
    const target = await makeVault(`Vault ${crypto.randomUUID()}`);
    const { token: own } = await makeToken({ [target]: "rw" }, "uuid");
    const args = ["import", "--from-connect", url, "--vault", target];
    const env = { ITEM_VAULT_TOKEN: own, OP_CONNECT_TOKEN: token };
    expect(await runHere([...args, "--dry-run"], { env })).toMatchObject({ code: 7, stdout: expect.stringMatching(reported) });
    const ran = await runHere(args, { env });
    expect(ran).toMatchObject({ code: 7, stdout: expect.stringMatching(reported) });
    expect(ran.stdout).toContain("Imported: 1 created\n");
  });
});

describe("an export of chosen vaults", () => {
  it("is complete beside another vault that does not open", async () => {
    const { name, exportTo } = await serviceLeavingOut({ vaults: 1 });
    const path = join(folder, `${crypto.randomUUID()}.json`);
    writeFileSync(path, "of yesterday");
    const ran = await exportTo(path, "--force", "--vault", name);
    expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing is lost") });
    expect(readFileSync(path, "utf8")).toContain("Kept");
  });

  it("says that a name it does not find may be that of a vault that does not open", async () => {
    const { exportTo } = await serviceLeavingOut({ vaults: 1 });
    const ran = await exportTo(join(folder, `${crypto.randomUUID()}.json`), "--vault", "Another");
    expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining("The service cannot read 1 vault of the token") });
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
      const vault = await makeVault(`Vault ${crypto.randomUUID()}`);
      const { token } = await makeToken({ [vault]: "rw" }, "uuid");
      const items = `v1/vaults/${vault}/items`;
      const body = { title: "First", category: "LOGIN", vault: { id: vault } };
      const { id } = (await sendRequest("POST", items, token, body)) as { id: string };
      await sendRequest("PATCH", `${items}/${id}`, token, [{ op: "replace", path: "/title", value: "Second" }]);
      const answers: Record<string, unknown> = {};
      for (const [path, state] of [
        [`${items}/${id}`, now],
        [`${items}/${id}/versions/1`, before],
      ] as const)
        answers[`GET /${path}`] = { ...((await sendRequest("GET", path, token)) as object), ...STATES[state] };
      const { url } = await startInterceptor({ answer: (name) => answers[name] });
      const { losses } = await readService(createClient({ host: url, token }), [{ id: vault, name: "Vault" }]);
      expect(losses.list().map(({ count, what }) => `${count} ${what}`)).toEqual(LOST[now][before]);
    },
  );
});
