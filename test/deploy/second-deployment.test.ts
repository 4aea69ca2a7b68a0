import { mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Deployment, plantWorld, readLogs, readVault, type World } from "../cli/support/backup-world.ts";
import { startWorker } from "../sdk/support/worker.ts";
import { ask, need } from "../upgrade/support/ask.ts";
import { type Cloudflare, startCloudflare } from "./support/cloudflare.ts";
import { CLI, deploy, makeFolder, runLine, SECRETS, withEnv } from "./support/folder.ts";
import { commandsOf } from "./support/runbook.ts";

/**
 * "A second deployment" of docs/operations.md, line by line: the first block against the server that answers for Cloudflare, the second one
 * with two local services, which have the secrets of both deployments and a storage each.
 */

const commands = commandsOf("A second deployment");
const moved = commands.findIndex((command) => command.startsWith("item-vault admin backup"));
/** A File that a restore sends in parts. */
const LARGE_BYTES = 34_000_000;

const runFirstBlock = (server: Cloudflare, folder: string) => runLine(server, folder, commands.slice(0, moved).join("\n"));

let cloudflare: Cloudflare;
/** The folder that has those of both deployments. */
let parent: string;

beforeAll(async () => {
  cloudflare = await startCloudflare();
  parent = mkdtempSync(join(tmpdir(), "item-vault-two-"));
  const folder = join(parent, "item-vault");
  renameSync(await makeFolder(), folder);
  writeFileSync(join(folder, "production.vars"), SECRETS, { mode: 0o600 });
  for (const run of [deploy, runFirstBlock]) {
    const { code, output } = await run(cloudflare, folder);
    if (code !== 0) throw new Error(output);
  }
});
afterAll(() => cloudflare.close());

const secretsOf = (name: string) =>
  parseEnv(readFileSync(join(parent, name, "production.vars"), "utf8")) as Record<string, string>;

it("the second deployment shares no name, limit or secret with the first but the root keys, and leaves the first as it is", () => {
  const { workers, databases, queues, buckets } = cloudflare.state;
  expect([...workers.keys()]).toEqual(["item-vault", "item-vault-2"]);
  const shared = [...workers.values()].map(({ active }) =>
    active.bindings.flatMap((binding) => {
      const { id, bucket_name, queue_name, namespace_id } = binding as typeof binding & { readonly namespace_id?: string };
      return [id, bucket_name, queue_name, namespace_id].filter((value) => value !== undefined);
    }),
  );
  expect(shared.map(({ length }) => length)).toEqual([8, 8]);
  expect(new Set(shared.flat()).size).toBe(16);
  expect([databases.size, buckets.size]).toEqual([2, 4]);
  const consumers = [...queues].map(([name, { consumers: all }]) => [name, all.map(({ script }) => script)]);
  expect(consumers).toEqual([
    ["item-vault-activity", ["item-vault"]],
    ["item-vault-2-activity", ["item-vault-2"]],
  ]);
  const [first, second] = [secretsOf("item-vault"), secretsOf("item-vault-2")];
  expect(Object.keys(first).filter((name) => first[name] === second[name])).toEqual(["ROOT_KEYS"]);
  expect(workers.get("item-vault")!.versions).toHaveLength(1);
  expect(cloudflare.unknown).toEqual([]);
});

/** Runs commands in one shell, in the folder of the first deployment. Returns what they wrote. */
async function runAll(lines: readonly string[], { base, adminToken }: Deployment): Promise<string> {
  const bin = join(parent, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "item-vault"), `#!/bin/sh\nexec ${process.execPath} ${CLI.join(" ")} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env["PATH"]!}`, ITEM_VAULT_HOST: base, ITEM_VAULT_ADMIN_TOKEN: adminToken };
  const { code, output } = await runLine(withEnv(cloudflare, env), join(parent, "item-vault"), lines.join("\n"));
  if (code !== 0) throw new Error(output);
  return output;
}

async function startDeployment(name: string): Promise<Deployment & { readonly close: () => Promise<void> }> {
  const secrets = secretsOf(name);
  const { url, database, close } = await startWorker(secrets);
  return { base: url.replace(/\/$/, ""), adminToken: secrets["ADMIN_TOKEN"]!, database, close };
}

/** The writes of the log of a vault, as texts. Backups have no reads and denials. */
const logOf = async (deployment: Deployment, vault: string) =>
  (await readLogs(deployment))
    .filter(({ log, action, result }) => log === vault && action !== "READ" && result !== "DENY")
    .map((entry) => JSON.stringify(entry));

async function grantAll({ base, adminToken }: Deployment, world: World, vault: string): Promise<World> {
  const body = { name: "reader", vaults: { [vault]: "rwd" } };
  return { ...world, keeper: await need(base, { method: "POST", path: "/v1/admin/tokens", token: adminToken, body }) };
}

it("a vault that was moved by these lines answers as before, with its versions, deleted Items, Files and the writes of its log", async () => {
  const [first, second] = await Promise.all([startDeployment("item-vault"), startDeployment("item-vault-2")]);
  const world = await plantWorld(first);
  const [vault, other] = world.sample.vaults;
  const large = `/v1/vaults/${vault}/items/${world.sample.items.full}/files?name=large`;
  await need(first.base, { method: "POST", path: large, token: world.keeper.token, body: new Uint8Array(LARGE_BYTES).fill(7) });
  const before = await readVault(first, world, vault);
  const log = await logOf(first, vault);

  const values = {
    "<id>": vault,
    "<address of the second deployment>": second.base,
    "<ADMIN_TOKEN of the second deployment>": second.adminToken,
  };
  const fill = (command: string) => Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), command);
  const output = await runAll(commands.slice(moved).map(fill), first);

  const after = await readVault(second, await grantAll(second, world, vault), vault);
  const { webhooks } = after;
  expect({ ...after, webhooks: [] }).toEqual({ ...before, webhooks: [] });
  expect(webhooks.map(({ id, url }) => [id, url])).toEqual(before.webhooks.map(({ id, url }) => [id, url]));
  expect([before.items.size > 0, before.deleted.size > 0, webhooks.length, log.length > 10]).toEqual([true, true, 1, true]);
  expect(output).toContain("Restored 1 vault");
  expect(new Set(log).difference(new Set(await logOf(second, vault)))).toEqual(new Set());
  // Nothing else came along, and no token of the first deployment counts in the second.
  expect((await ask(second.base, { path: `/v1/admin/vaults/${other}/webhooks`, token: second.adminToken })).status).toBe(404);
  expect((await ask(second.base, { path: "/v1/vaults", token: world.keeper.token })).status).toBe(401);
  await Promise.all([first.close(), second.close()]);
});
