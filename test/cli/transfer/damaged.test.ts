import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../../sdk/support/vault.ts";
import { runHere } from "../support/here.ts";
import { startInterceptor } from "../support/interceptor.ts";

/** Export and import beside Items and versions whose stored records do not open. The proxy answers for those records. */

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
    expect(ran.code).toBe(0);
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
    expect(ran.code).toBe(0);
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
