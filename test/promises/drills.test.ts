import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rebindCoordinator } from "../support/bindings.ts";
import {
  beginDeployment,
  changePassword,
  fillVault,
  hookedStorage,
  loseDatabase,
  mustRun,
  runStep,
  snapshotsOf,
  type UsedVault,
  useVault,
  viewOf,
  wholeViewOf,
} from "../support/drills.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { runHourly } from "../support/jobs.ts";
import { listedKey, newStages } from "../support/root-keys.ts";
import { admin, client } from "../support/service.ts";
import { addWebhook, newReceiver } from "../support/webhooks.ts";

/** The drills of docs/operations.md for a loss and for a rotation. Those of backups are in `drills-backup.test.ts`. */

beforeEach(async () => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  await beginDeployment();
});
afterEach(() => vi.restoreAllMocks());

const passwordOf = (title: string) => `op://Shop/${title}/password`;

const resolve = async ({ call }: UsedVault, reference: string) =>
  (await call("POST", "/v1/resolve", { body: { references: [reference] } })).body.values[0].value;

describe("a vault that was deleted by mistake", () => {
  it("is in the list of backups by its name, and comes back whole, with its tokens; nothing that was destroyed does", async () => {
    const [shop, other] = [await fillVault("Shop"), await fillVault("Other")];
    await mustRun("backup");
    const first = await wholeViewOf(shop);
    await changePassword(shop, shop.kept, "three");
    await shop.create("Later");
    await mustRun("backup");
    const [second, beside] = [await wholeViewOf(shop), await wholeViewOf(other)];
    expect((await admin("DELETE", `/v1/admin/vaults/${shop.vault}`)).status).toBe(204);
    await runDurableObjectAlarm(env.COORDINATOR.getByName(shop.vault));
    await runHourly();
    expect((await shop.call("GET", shop.items)).status).toBe(404);

    const { vaults } = (await admin("GET", "/v1/admin/backups/vaults")).body;
    expect(vaults).toContainEqual(expect.objectContaining({ id: shop.vault, name: "Shop", skipped: [] }));
    expect(await snapshotsOf(shop.vault)).toEqual([2, 1]);
    expect(await mustRun("restore", { vault: shop.vault, dryRun: true })).toMatchObject({ restored: { existing: "deleted" } });
    expect((await shop.call("GET", shop.items)).status).toBe(404);
    expect(await mustRun("restore", { vault: shop.vault })).toMatchObject({ restored: { snapshot: 2, vaults: 1, leftOut: 0 } });

    expect(await wholeViewOf(shop)).toEqual(second);
    expect(await resolve(shop, passwordOf("Kept"))).toBe("three");
    expect(JSON.stringify(await wholeViewOf(shop))).not.toContain(shop.destroyed);
    expect(await wholeViewOf(other)).toEqual(beside);
    expect(await mustRun("restore", { vault: shop.vault, snapshot: 1, overwrite: true })).toMatchObject({
      restored: { snapshot: 1 },
    });
    expect(await wholeViewOf(shop)).toEqual(first);
    await mustRun("verify");
  });
});

describe("the bucket FILES that was lost", () => {
  it("gets the contents of each vault back from BACKUPS, and no write since the last night is lost", async () => {
    const vaults = [await fillVault("Shop"), await fillVault("Other")];
    await mustRun("backup");
    for (const used of vaults) {
      await changePassword(used, used.kept, "three");
      await used.create("Later");
    }
    const before = await Promise.all(vaults.map(wholeViewOf));
    await emptyBucket(env.FILES);
    expect(await Promise.all(vaults.map(viewOf))).not.toEqual(before);

    expect(await runStep("backup")).toMatchObject({ state: "done", result: { backup: { behind: 0 } } });
    for (const { vault } of vaults) await mustRun("restore", { vault });
    await mustRun("verify");
    await mustRun("verify", { backup: true });
    expect(await Promise.all(vaults.map(wholeViewOf))).toEqual(before);
  });

  it("costs the contents alone that no backup had, and verify names them", async () => {
    const shop = await fillVault("Shop");
    await mustRun("backup");
    const item = await shop.create("Later");
    const file = await shop.upload(item, "after the last night");
    const before = await wholeViewOf(shop);
    await emptyBucket(env.FILES);
    expect(await runStep("backup")).toMatchObject({ state: "done", result: { backup: { behind: 0 } } });
    const { state, result } = await runStep("restore", { vault: shop.vault });
    expect([state, result.restored]).toMatchObject(["done", { vaults: 1, leftOut: 0 }]);
    const { findings } = await runStep("verify");
    expect(findings).toMatchObject([{ kind: "content_missing", vault: shop.vault, item, file }]);
    const after = await viewOf(shop);
    const differing = Object.keys(before).filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path]));
    expect(differing.map((path) => path.replace(/\?.*/, ""))).toEqual(
      [2, 1].map(() => `${shop.items}/${item}/files/${file}/content`),
    );
  });
});

describe("D1 that was lost", () => {
  it.each([
    ["and FILES was not", { losesFiles: false, isOtherAccount: false, states: ["ACTIVE", "PAUSED"] }],
    ["and FILES was", { losesFiles: true, isOtherAccount: false, states: ["ACTIVE", "PAUSED"] }],
    ["and the account", { losesFiles: true, isOtherAccount: true, states: ["PAUSED"] }],
  ])(
    "%s: the newest backup brings back all vaults with their Files into an empty database, and no token (contract 21.26)",
    async (_, loss) => {
      const vaults = [await fillVault("Shop"), await fillVault("Other")];
      const gone = await fillVault("Gone");
      const { hooks, hook } = await addWebhook(vaults[0]!.vault, newReceiver().url);
      await mustRun("backup");
      await admin("DELETE", `/v1/admin/vaults/${gone.vault}`);
      await changePassword(vaults[0]!, vaults[0]!.kept, "three");
      await mustRun("backup");
      const before = await Promise.all(vaults.map(wholeViewOf));
      await changePassword(vaults[0]!, vaults[0]!.kept, "after the last backup");
      await loseDatabase(
        [...vaults, gone].map(({ vault }) => vault),
        loss.isOtherAccount,
      );
      if (loss.losesFiles) await emptyBucket(env.FILES);

      expect(await runStep("backup")).toMatchObject({ state: "failed", reason: "not_restored" });
      expect(await mustRun("restore", { dryRun: true })).toMatchObject({ restored: { vaults: 2 } });
      expect((await admin("GET", "/v1/admin/vaults")).body).toEqual([]);
      expect(await mustRun("restore")).toMatchObject({ restored: { snapshot: 2, vaults: 2, leftOut: 0 } });
      await mustRun("verify");

      for (const { call, items, tokenId } of vaults) {
        expect((await call("GET", items)).status).toBe(401);
        expect((await admin("GET", `/v1/admin/tokens/${tokenId}`)).body).toMatchObject({
          name: "deploy",
          endedAt: expect.any(String),
        });
      }
      const again = await Promise.all(vaults.map(({ vault }) => useVault(vault)));
      expect(await Promise.all(again.map(wholeViewOf))).toEqual(before);
      expect((await admin("GET", `/v1/admin/vaults`)).body.map(({ id }: { id: string }) => id).toSorted()).toEqual(
        vaults.map(({ vault }) => vault).toSorted(),
      );
      // A coordinator that looks at the empty database forgets its webhooks: that depends on its alarm.
      const [webhook] = (await admin("GET", hooks)).body;
      expect(loss.states).toContain(webhook.state);
      expect((await admin("PATCH", hook, { body: { resume: "latest" } })).body).toMatchObject({ state: "ACTIVE" });
      await again[0]!.create("After the restore");
      await mustRun("backup");
      await mustRun("verify", { backup: true });
    },
  );
});

describe("a root key that is rotated while clients write", () => {
  it("leaves every token valid and every write there, once; the key before is gone, and all opens, also the newest backup", async () => {
    const shop = await fillVault("Shop");
    const { id, staged, active, removed } = await newStages();
    const titles: string[] = [];
    const tokens: string[] = [shop.token];
    /** Writes through Workers that have either value: isolates keep the value before for a while. */
    const writeBy = async (...workers: Partial<Env>[]) => {
      for (const worker of workers) {
        const title = `written ${titles.length}`;
        const { status } = await shop.call("POST", shop.items, { env: worker, body: { title, category: "LOGIN" } });
        const body = { name: "beside", vaults: { [shop.vault]: "r" } };
        const issued = await admin("POST", "/v1/admin/tokens", { env: worker, body });
        expect([status, issued.status]).toEqual([200, 200]);
        titles.push(title);
        tokens.push(issued.body.token);
      }
    };
    const before = { ROOT_KEYS: env.ROOT_KEYS };
    await mustRun("backup");
    expect(await listedKey(before, "k1")).toMatchObject({ state: "active" });
    await writeBy(before, staged);
    await rebindCoordinator(shop.vault, staged);
    expect(await listedKey(staged, id)).toMatchObject({ state: "staged" });
    await writeBy(staged, active);
    await rebindCoordinator(shop.vault, active);
    await writeBy(staged, active);
    const { DB } = hookedStorage({ before: () => writeBy(active) });
    expect(await runStep("rewrap", {}, active, { DB: DB! })).toMatchObject({ state: "done", findings: [] });
    expect(await listedKey(active, "k1")).toMatchObject({
      state: "retired",
      vaults: 0,
      tokens: 0,
      backup: true,
      removable: false,
    });
    await mustRun("backup", {}, active);
    expect(await listedKey(active, "k1")).toMatchObject({ state: "retired", backup: false, removable: true });
    await writeBy(active, removed);
    await rebindCoordinator(shop.vault, removed);

    expect(removed.ROOT_KEYS).not.toContain(JSON.parse(env.ROOT_KEYS).keys.k1);
    expect(await listedKey(removed, "k1")).toMatchObject({ state: "removed", verifies: true });
    const seen: UsedVault = { ...shop, call: (method, path) => shop.call(method, path, { env: removed }) };
    const view = await wholeViewOf(seen);
    const listed = (await seen.call("GET", shop.items)).body.map(({ title }: { title: string }) => title);
    expect(listed.toSorted()).toEqual([...titles, "Kept"].toSorted());
    for (const token of tokens)
      expect((await client(token)("GET", shop.items, { env: removed })).body).toHaveLength(titles.length + 1);
    await mustRun("verify", {}, removed);
    await mustRun("backup", {}, removed);
    await loseDatabase([shop.vault]);
    await rebindCoordinator(shop.vault, removed);
    expect(await mustRun("restore", {}, removed)).toMatchObject({ restored: { vaults: 1, leftOut: 0 } });
    const body = { name: "again", vaults: { [shop.vault]: "rwd" } };
    const { token } = (await admin("POST", "/v1/admin/tokens", { env: removed, body })).body;
    const restored: UsedVault = { ...shop, call: (method, path) => client(token)(method, path, { env: removed }) };
    expect(await wholeViewOf(restored)).toEqual(view);
  });
});
