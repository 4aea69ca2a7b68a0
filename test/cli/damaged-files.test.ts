import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeToken, makeVault, sendRequest } from "../sdk/support/vault.ts";
import { runHere } from "./support/here.ts";
import { startInterceptor } from "./support/interceptor.ts";

/** Commands beside a File whose stored record does not open (contract 9.14). The proxy answers for the Item of this File. */

const folder = mkdtempSync(join(tmpdir(), "item-vault-damaged-files-"));

/** Two vaults, the first with an Item of two Files, the first of which is damaged as the proxy answers. */
async function damagedFile() {
  const [vault, target] = [await makeVault(`Vault ${crypto.randomUUID()}`), await makeVault("Target")];
  const { token } = await makeToken({ [vault]: "rwd", [target]: "rwd" }, "uuid");
  const items = `v1/vaults/${vault}/items`;
  const body = { title: "Database", category: "LOGIN", vault: { id: vault }, fields: [{ purpose: "PASSWORD", value: "horse" }] };
  const { id } = (await sendRequest("POST", items, token, body)) as { id: string };
  const upload = async (name: string) =>
    (await sendRequest("POST", `${items}/${id}/files?name=${name}`, token, name)) as { id: string };
  const [damaged, sound] = [await upload("damaged.txt"), await upload("sound.txt")];
  const item = (await sendRequest("GET", `${items}/${id}`, token)) as object;
  const answered = { ...item, files: [sound], brokenFiles: [damaged.id] };
  const proxy = await startInterceptor({ answer: (name) => (name === `GET /${items}/${id}` ? answered : undefined) });
  const env = { ITEM_VAULT_TOKEN: token, ITEM_VAULT_HOST: proxy.url };
  const run = (...args: string[]) => runHere(args, { env });
  const listOf = (path: string) => sendRequest("GET", `v1/vaults/${path}`, token) as Promise<{ id: string }[]>;
  return { vault, target, id, damaged: damaged.id, sound: sound.id, run, listOf };
}

describe("a File that does not open", () => {
  it("is named by `item get`, which shows everything else", async () => {
    const { id, damaged, vault, run } = await damagedFile();
    const shown = await run("item", "get", id, "--vault", vault);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining(`Files that cannot be decrypted: ${damaged}\n`) });
    expect(shown.stdout).toContain("sound.txt");
    expect(JSON.parse((await run("item", "get", id, "--vault", vault, "--format", "json")).stdout)).toMatchObject({
      brokenFiles: [damaged],
    });
  });

  it("is deleted by its id", async () => {
    const { id, damaged, sound, vault, run, listOf } = await damagedFile();
    expect(await run("file", "delete", id, damaged, "--vault", vault)).toMatchObject({ code: 0 });
    expect(await listOf(`${vault}/items/${id}/files`)).toMatchObject([{ id: sound }]);
  });

  it.each(["copy", "move"])("prevents `item %s`, which would lose it, in words, and nothing is written", async (command) => {
    const { id, damaged, vault, target, run, listOf } = await damagedFile();
    const ran = await run("item", command, id, "--vault", vault, "--to", target);
    expect(ran.code).not.toBe(0);
    expect(ran.stderr).toContain(`The item has files that cannot be decrypted: ${damaged}.`);
    expect([await listOf(`${target}/items`), await listOf(`${vault}/items`)]).toMatchObject([[], [{ id }]]);
  });

  it("is counted by an export, which has everything else and ends with 7", async () => {
    const { run, vault } = await damagedFile();
    const path = join(folder, "export.json");
    const ran = await run("export", "--format", "item-vault", "-o", path, "--vault", vault);
    expect(ran).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/1 +Files that the service cannot read, because their stored records are damaged/),
    });
    const text = readFileSync(path, "utf8");
    for (const part of ["Database", "sound.txt", "horse"]) expect(text).toContain(part);
  });
});
