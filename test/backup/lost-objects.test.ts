import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { type PartRef, REGISTRY } from "../../src/model/backup.ts";
import { backedUpIn } from "../../src/store/tables/tables.ts";
import { untilLogged } from "../support/activity.ts";
import { backUp, backUpAll, newestOf, snapshotsOf } from "../support/backup.ts";
import { countingBucket, wrapBucket } from "../support/bindings.ts";
import { freshFile, objectsOf } from "../support/files.ts";
import { restore } from "../support/restores.ts";
import { admin, makeToken, makeVault } from "../support/service.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Objects of the newest snapshot that the bucket has lost when the next backup begins (contract 21.2). */

/** A vault with an Item, a File and a webhook, and one snapshot. */
async function backedUpVault() {
  const fresh = await freshFile();
  const webhook = { url: "https://hooks.example.com/x", enabled: false };
  expect((await admin("POST", `/v1/admin/vaults/${fresh.vault}/webhooks`, { body: webhook })).status).toBe(200);
  expect(await backUp(fresh.vault)).toMatchObject({ state: "done", snapshot: 1, findings: [] });
  return fresh;
}

/** The part of the newest snapshot that has rows of a table. */
async function partWith(vault: string, table: string): Promise<PartRef> {
  const { manifest, parts } = await newestOf(vault);
  const index = parts.findIndex(({ tables }) => tables.some((one) => one.table === table));
  expect([table, index >= 0]).toEqual([table, true]);
  return manifest.parts[index]!;
}

const keyOf = (vault: string, { sha256 }: PartRef): string => `vaults/${vault}/parts/${sha256}`;

const contentsOf = async (vault: string): Promise<string[]> =>
  (await env.BACKUPS.list({ prefix: `contents/${vault}/` })).objects.map(({ key }) => key);

/** Loses an object of the newest snapshot. */
type Lose = (vault: string) => Promise<unknown>;

const losePart = async (vault: string, table: string): Promise<void> =>
  env.BACKUPS.delete(keyOf(vault, await partWith(vault, table)));

/** Every kind of object that the snapshot of a vault refers to. */
const LOSSES: Readonly<Record<string, Lose>> = {
  ...Object.fromEntries(
    ["items", "activity", "webhooks"].map((table) => [
      `the part with the rows of ${table}`,
      (vault: string) => losePart(vault, table),
    ]),
  ),
  async "a part of another size"(vault) {
    const key = keyOf(vault, await partWith(vault, "items"));
    await env.BACKUPS.put(key, (await (await env.BACKUPS.get(key))!.text()).slice(0, -1));
  },
  "a content": async (vault) => env.BACKUPS.delete(await contentsOf(vault)),
};

async function foundInNewest(vault: string) {
  const newest = (await snapshotsOf(vault)).at(-1);
  const { findings } = await verifyAll({ backup: true, ...(vault !== REGISTRY && { vault }) });
  return findings.filter((one) => one.snapshot === newest && one.vault === (vault === REGISTRY ? undefined : vault));
}

describe("a backup after the bucket has lost an object of the newest snapshot", () => {
  describe.each(Object.entries(LOSSES))("%s", (_, lose) => {
    it("is named by verify, the next snapshot of the unchanged vault is a full one, and a restore has everything (21.2)", async () => {
      const { vault } = await backedUpVault();
      await lose(vault);
      expect(await foundInNewest(vault)).toHaveLength(1);
      expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2, made: 1, contents: 1 });
      expect(await foundInNewest(vault)).toEqual([]);
      expect(await backUp(vault)).toMatchObject({ unchanged: 1, findings: [] });
      await env.FILES.delete(await objectsOf(vault));
      const body = { items: 1, leftOut: 0, findings: [] };
      expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body });
      expect(await objectsOf(vault)).toHaveLength(1);
    });

    it("makes a full snapshot of a vault that has changed (21.2)", async () => {
      const { vault, call, path } = await backedUpVault();
      await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
      await lose(vault);
      expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2, contents: 1 });
      expect(await foundInNewest(vault)).toEqual([]);
    });
  });

  it.each(backedUpIn("registry").map(({ name }) => name))(
    "has a whole registry again when the one before lacks the part with the rows of %s (21.6)",
    async (table) => {
      const { id } = await makeToken({});
      await makeToken({});
      await admin("DELETE", `/v1/admin/tokens/${id}`);
      await env.DB.prepare("INSERT OR IGNORE INTO past_writes VALUES ('CREATE', 1)").run();
      await untilLogged();
      expect(await backUpAll()).toMatchObject({ state: "done" });
      await losePart(REGISTRY, table);
      expect(await backUpAll()).toMatchObject({ state: "done" });
      expect(await foundInNewest(REGISTRY)).toEqual([]);
    },
  );
});

it("a backup takes no other object of the folder of a vault for a manifest", async () => {
  const { vault, call, path } = await backedUpVault();
  const manifest = await (await env.BACKUPS.get(`vaults/${vault}/00000001.manifest`))!.text();
  for (const name of ["old/00000009.manifest", "copy-00000007.manifest", "parts/00000008.manifest"])
    await env.BACKUPS.put(`vaults/${vault}/${name}`, manifest);
  await call("PATCH", path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2, findings: [] });
});

it("a backup of an unchanged vault makes one list and one read of R2, and one list more where the vault has Files (21.2)", async () => {
  const empty = await makeVault();
  await backUp(empty);
  const { vault } = await backedUpVault();
  for (const [id, lists] of [[empty, 1] as const, [vault, 2] as const]) {
    const { count, bucket } = countingBucket(env.BACKUPS);
    expect(await backUp(id, { env: { BACKUPS: bucket } })).toMatchObject({ unchanged: 1, findings: [] });
    expect([id, count]).toEqual([id, { lists, gets: 1, puts: 0 }]);
  }
});

/** The bucket with one object a page of a list: R2 may always answer with fewer objects than the limit. */
const shortPages = wrapBucket({ list: (options: R2ListOptions) => env.BACKUPS.list({ ...options, limit: 1 }) }, env.BACKUPS);

it("a backup finds a lost part also in a folder of many pages (21.2)", async () => {
  const { vault } = await backedUpVault();
  await losePart(vault, "items");
  for (let count = 0; count < 11; count++) await env.BACKUPS.put(`vaults/${vault}/parts/stray-${count}`, "");
  expect(await backUp(vault, { env: { BACKUPS: shortPages } })).toMatchObject({ snapshot: 2 });
});
