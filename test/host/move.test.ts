import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startWorker } from "../sdk/support/worker.ts";
import { itemOf, newDirectory, runProgram, send, startServer } from "./support/server.ts";

const SECRETS = {
  ADMIN_TOKEN: "an-admin-token-for-the-tests-only",
  METRICS_TOKEN: "a-metrics-token-for-the-tests-only",
  ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: btoa("0123456789abcdef0123456789abcdef") } }),
};

const folder = mkdtempSync(join(tmpdir(), "move-"));

/** Runs the command line against a service. Throws with its stderr. */
async function run(url: string, ...args: readonly string[]): Promise<void> {
  const env = { ITEM_VAULT_HOST: url, ITEM_VAULT_ADMIN_TOKEN: SECRETS.ADMIN_TOKEN };
  const { code, stderr } = await runProgram(args, env);
  if (code !== 0) throw new Error(`${args.join(" ")}: ${code}\n${stderr}`);
}

/** Exports every vault. Returns the bytes. */
async function exportAll(url: string, name: string): Promise<string> {
  const { body: vaults } = await send(url, SECRETS.ADMIN_TOKEN, "GET", "/v1/admin/vaults");
  const scope = Object.fromEntries((vaults as { id: string }[]).map(({ id }) => [id, "r"]));
  const { body: issued } = await send(url, SECRETS.ADMIN_TOKEN, "POST", "/v1/admin/tokens", { name: "export", vaults: scope });
  const path = join(folder, `${name}.json`);
  const env = { ITEM_VAULT_HOST: url, ITEM_VAULT_TOKEN: issued.token as string };
  const { code, stderr } = await runProgram(["export", "--format", "item-vault", "-o", path], env);
  if (code !== 0) throw new Error(stderr);
  return readFileSync(path, "utf8");
}

/** Makes two vaults with Items, earlier versions and a File. */
async function fill(url: string): Promise<void> {
  for (const name of ["First", "Second"]) {
    const { body: vault } = await send(url, SECRETS.ADMIN_TOKEN, "POST", "/v1/admin/vaults", { name });
    const { body: issued } = await send(url, SECRETS.ADMIN_TOKEN, "POST", "/v1/admin/tokens", {
      name,
      vaults: { [vault.id]: "rw" },
    });
    const items = `/v1/vaults/${vault.id}/items`;
    for (let number = 0; number < 20; number++) {
      const { body: item } = await send(url, issued.token, "POST", items, itemOf(vault.id, `Item ${number} of ${name}`));
      await send(url, issued.token, "PATCH", `${items}/${item.id}`, [{ op: "add", path: "/tags/-", value: `tag ${number}` }]);
    }
    const { body: listed } = await send(url, issued.token, "GET", items);
    const file = await fetch(`${url}${items}/${listed[0].id}/files`, {
      method: "POST",
      headers: { Authorization: `Bearer ${issued.token}`, "Content-Disposition": 'attachment; filename="key.bin"' },
      body: new Uint8Array(300_000).map((_, at) => at % 251),
    });
    expect(file.status).toBe(200);
  }
}

it("a deployment moves by a backup from workerd to the server and back, with exports that are equal byte for byte", async () => {
  const first = await startWorker(SECRETS);
  const firstUrl = first.url.replace(/\/$/, "");
  await fill(firstUrl);
  const before = await exportAll(firstUrl, "before");
  await run(firstUrl, "admin", "backup", "--to", join(folder, "from-workerd"));
  await first.close();

  const data = newDirectory();
  writeFileSync(
    `${data}.secrets`,
    Object.entries(SECRETS)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(""),
    { mode: 0o600 },
  );
  const server = await startServer(data);
  await run(server.url, "admin", "restore", "--from", join(folder, "from-workerd"), "--yes");
  expect(await exportAll(server.url, "on-server")).toBe(before);
  await run(server.url, "admin", "verify");
  await run(server.url, "admin", "backup", "--to", join(folder, "from-server"));
  await server.end();

  const second = await startWorker(SECRETS);
  const secondUrl = second.url.replace(/\/$/, "");
  await run(secondUrl, "admin", "restore", "--from", join(folder, "from-server"), "--yes");
  expect(await exportAll(secondUrl, "back")).toBe(before);
  await second.close();
});
