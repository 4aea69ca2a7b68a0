import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { backUp, backUpAll, snapshotsOf } from "../support/backup.ts";
import { wrapBucket } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { freshFile } from "../support/files.ts";
import { restore } from "../support/restores.ts";
import { newStages, rewrapAll } from "../support/root-keys.ts";
import { admin, makeVault } from "../support/service.ts";

/** The backups of a vault that was deleted, where its newest manifest does not open, or is missing (contract 21.12). */

// A database that was never used makes no backup of everything.
beforeAll(async () => void (await makeVault()));
beforeEach(() => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The storage of the file has the state of the tests before, so each root key follows the one before. */
let bindings: Partial<Env> = {};
let daysPassed = 0;
async function nightsLater(nights: number, others: Partial<Env> = {}): Promise<void> {
  for (let night = 0; night < nights; night++) {
    vi.useRealTimers();
    advanceClock(++daysPassed * DAY);
    expect(await backUpAll({ ...bindings, BACKUPS_KEPT: 2, ...others })).toMatchObject({ state: "done" });
  }
}

/** The objects of a vault in the bucket of backups. */
async function objectsOf(vault: string): Promise<string[]> {
  const pages = await Promise.all([`vaults/${vault}/`, `contents/${vault}/`].map((prefix) => env.BACKUPS.list({ prefix })));
  return pages.flatMap(({ objects }) => objects.map(({ key }) => key));
}

/** A vault that was deleted after its backup. */
async function deletedVault(): Promise<string> {
  const { vault } = await freshFile();
  await backUp(vault, { env: bindings });
  expect(await objectsOf(vault)).toHaveLength(5);
  await admin("DELETE", `/v1/admin/vaults/${vault}`);
  return vault;
}

const newestKey = (vault: string): string => `vaults/${vault}/00000001.manifest`;

describe("the backups of a vault that was deleted", () => {
  it("stay for BACKUPS_KEPT days, also when each kept backup of everything is younger than they are", async () => {
    const vault = await deletedVault();
    advanceClock(1_000);
    expect(await backUpAll({ ...bindings, BACKUPS_KEPT: 1 })).toMatchObject({ state: "done" });
    expect(await objectsOf(vault)).toHaveLength(5);
    await nightsLater(2, { BACKUPS_KEPT: 1 });
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("stay while the deletion is younger than BACKUPS_KEPT days and backups, and are then deleted, also if the newest does not open", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    await env.BACKUPS.put(newestKey(vault), "damaged");
    await nightsLater(1);
    expect(await objectsOf(vault)).toHaveLength(5);
    await nightsLater(2);
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("stay where the newest does not open and the log has no deletion of the vault", async () => {
    const vault = await deletedVault();
    await env.BACKUPS.put(newestKey(vault), "damaged");
    await env.DB.prepare("DELETE FROM activity WHERE vault_id = ? AND action = 'DELETE' AND item_id IS NULL").bind(vault).run();
    await nightsLater(4);
    expect(await objectsOf(vault)).toHaveLength(5);
  });

  it("stay where the vault was restored since, and its row was then lost", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    await nightsLater(1);
    expect(await restore({ vault, snapshot: 1 })).toMatchObject({ status: 200, body: { state: "done" } });
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    await nightsLater(1);
    expect((await objectsOf(vault)).length).toBeGreaterThanOrEqual(5);
  });

  it("are deleted although no manifest is left", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    await env.BACKUPS.delete(newestKey(vault));
    await nightsLater(1);
    expect(await objectsOf(vault)).toHaveLength(4);
    await nightsLater(2);
    expect(await objectsOf(vault)).toEqual([]);
  });

  it("are deleted in an order that has the manifests last, so that a deletion that ends early is continued", async () => {
    const vault = await deletedVault();
    const kinds: string[] = [];
    const recorded = async (keys: string | string[]) => {
      const own = [keys].flat().filter((key) => key.includes(vault));
      kinds.push(...own.map((key) => /^contents|parts|manifest$/.exec(key)![0]));
      await env.BACKUPS.delete(keys);
    };
    const BACKUPS = wrapBucket({ delete: recorded }, env.BACKUPS);
    await nightsLater(2, { BACKUPS });
    expect(kinds).toEqual(["contents", "parts", "parts", "parts", "manifest"]);
  });

  it("are deleted after a rotation that removed the root key under which they open", async () => {
    await nightsLater(2);
    const vault = await deletedVault();
    const stages = await newStages();
    bindings = stages.active;
    await rewrapAll(bindings);
    await nightsLater(1);
    bindings = stages.leaked;
    await nightsLater(4);
    expect(await objectsOf(vault)).toEqual([]);
    expect((await snapshotsOf(REGISTRY)).length).toBeGreaterThan(0);
  });
});
