import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { countingDatabase, rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { isLong } from "../support/runs.ts";
import { login, seedItems } from "../support/seed.ts";
import { seedFiles } from "../support/seed-files.ts";
import { admin, LOGIN, makeVault } from "../support/service.ts";
import { keeping } from "../support/versions.ts";
import { type Planted, plantVault } from "./support/vault.ts";
import { run, verifyAll } from "./support/verify.ts";

/** What `verify` does beside writes (contract 22.3), and what it costs. */

let planted: Planted;
beforeAll(async () => {
  planted = await plantVault();
});

/** Writes of every kind to a vault, until `stop`. */
function startWrites({ call, items }: Planted): { readonly stop: () => Promise<number> } {
  const state = { running: true, writes: 0 };
  const write = async () => {
    while (state.running) {
      const { id } = (await call("POST", items, { body: LOGIN })).body;
      const body = pattern(300);
      const { id: file } = (await call("POST", `${items}/${id}/files?name=f`, { body, headers: lengthOf(body) })).body;
      await call("PUT", `${items}/${id}/files/${file}/content`, { body, headers: lengthOf(body) });
      await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: String(state.writes) }] });
      await call("DELETE", `${items}/${id}`);
      state.writes += 5;
    }
  };
  const done = Promise.all([write(), write()]);
  return {
    async stop() {
      state.running = false;
      await done;
      return state.writes;
    },
  };
}

describe("beside writes", () => {
  it("verify finds nothing, also where contents are released at once", async () => {
    await rebindCoordinator(planted.vault, { ...keeping(1, 0), FILE_RETENTION_DAYS: 0 });
    const { stop } = startWrites(planted);
    const findings = [];
    for (let count = 0; count < (isLong ? 100 : 2); count++)
      findings.push(...(await verifyAll({ vault: planted.vault })).findings);
    expect(await stop()).toBeGreaterThan(5);
    await rebindCoordinator(planted.vault, {});
    expect(findings).toEqual([]);
  });

  it("a repair of the counters is not lost", async () => {
    const { stop } = startWrites(planted);
    await run("UPDATE vaults SET items = items + 100, created = created + 100, file_bytes = 1 WHERE id = ?1", planted.vault);
    // The coordinator writes the counters of its cache with the next commit.
    await rebindCoordinator(planted.vault, {});
    const counters = async (repair: boolean) =>
      (await verifyAll({ vault: planted.vault, repair })).findings.filter(({ kind }) => kind === "counter_wrong");
    await counters(true);
    const left = await counters(false);
    await stop();
    expect(left).toEqual([]);
    expect(await counters(false)).toEqual([]);
  });

  it("an upload that has not ended is no finding", async () => {
    const { vault, file } = planted;
    const generation = crypto.randomUUID();
    await env.COORDINATOR.getByName(vault).expect({ vault, item: planted.item, file, generation });
    await env.FILES.put(`${vault}/${file}/${generation}`, "content");
    expect((await verifyAll({ vault })).findings).toEqual([]);
  });
});

describe("a request of verify", () => {
  it("makes at most 40 D1 calls, and a bounded number of rows for each Item", async () => {
    const vault = await makeVault();
    const seeded = Array.from({ length: 400 }, (_, index) => login(vault, `title ${index}`));
    await seedItems(env, vault, seeded);
    await run("UPDATE vaults SET content_version = 0 WHERE id = ?1", vault);
    const { count, db } = countingDatabase();
    let most = 0;
    const counted = wrapDatabase(db, { before: () => void (most = Math.max(most, count.calls + 1)) });
    const { checked, slices } = await verifyAll({ vault }, { DB: counted });
    expect(checked.items).toBe(400);
    expect(count.calls).toBeLessThanOrEqual(40 * slices);
    expect(most).toBeLessThanOrEqual(40);
    // For each Item its id, its size, its row and the counts that it is part of.
    expect(count.rowsRead).toBeLessThan(12 * 400);
    expect(count.rowsWritten).toBe(0);
  });

  it("is refused for a vault that does not exist, and for a cursor that no answer gave", async () => {
    const unknown = { body: { vault: crypto.randomUUID() } };
    expect((await admin("POST", "/v1/admin/verify", unknown)).headers.get("Item-Vault-Error")).toBe("vault_not_found");
    const cursor = { body: { cursor: btoa('["none",""]') } };
    expect((await admin("POST", "/v1/admin/verify", cursor)).status).toBe(400);
  });
});

describe.runIf(isLong)("10,000 Items with Files", () => {
  it("are verified", async () => {
    const vault = await makeVault();
    const items = Array.from({ length: 10_000 }, (_, index) => login(vault, `title ${index}`));
    await seedItems(env, vault, items);
    for (const { id } of items.slice(0, 1_000)) await seedFiles(env, vault, id, [{ name: "f" }]);
    const started = Date.now();
    const { checked } = await verifyAll({ vault });
    console.log(`10,000 Items with 1,000 Files: ${((Date.now() - started) / 1000).toFixed(1)} s`);
    expect(checked.items).toBe(10_000);
  });
});
