import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { chunkCount } from "../../src/model/chunk-sizes.ts";
import { stepBytesMax } from "../../src/store/verify/run.ts";
import { countingDatabase, rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { lengthOf, objectsOf, pattern } from "../support/files.ts";
import { endOfJob, JOBS, serviceWith } from "../support/jobs.ts";
import { isLong } from "../support/runs.ts";
import { seedFiles } from "../support/seed-files.ts";
import { login, seedItems } from "../support/seed.ts";
import { admin, freshVault, LOGIN, makeVault } from "../support/service.ts";
import { keeping } from "../support/versions.ts";
import { flipObject, type Planted, plantVault } from "./support/vault.ts";
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
      await sleep(1); // without it workerd neither runs an alarm nor a timer
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

describe("a job of verify (contract 22.1)", () => {
  it("reads a bounded number of rows for each Item, and writes none", async () => {
    const vault = await makeVault();
    const seeded = Array.from({ length: 400 }, (_, index) => login(vault, `title ${index}`));
    await seedItems(env, vault, seeded);
    await run("UPDATE vaults SET content_version = 0 WHERE id = ?1", vault);
    const { count, db } = countingDatabase();
    expect((await verifyAll({ vault }, { DB: db })).checked.items).toBe(400);
    // For each Item its id, its size, its row and the counts that it is part of.
    expect(count.rowsRead).toBeLessThan(12 * 400);
    expect(count.rowsWritten).toBe(0);
  });

  it.each([
    ["such vault", {}, {}, 404, "vault_not_found"],
    ["backup of the vault", { backup: true }, {}, 404, "backup_not_found"],
    ["bucket of backups", {}, { BACKUPS: undefined! }, 503, "misconfigured"],
  ])("is refused when there is no %s", async (_, options, bindings, status, kind) => {
    const body = { kind: "verify", vault: crypto.randomUUID(), ...options };
    const refused = await admin("POST", JOBS, { body, env: bindings });
    expect([refused.status, refused.headers.get("Item-Vault-Error")]).toEqual([status, kind]);
  });

  it("excludes another one only while both repair", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const service = await serviceWith({}, { DB: wrapDatabase(env.DB, { before: () => promise }) });
    const start = (repair: boolean) => admin("POST", JOBS, { body: { kind: "verify", repair }, env: service.bindings });
    const first = await start(true);
    const [second, reading] = [await start(true), await start(false)];
    expect([second.status, second.headers.get("Item-Vault-Job"), reading.status]).toEqual([409, first.body.id, 202]);
    resolve();
    for (const { id } of [first.body, reading.body]) expect(await endOfJob(service, id)).toMatchObject({ state: "done" });
  });
});

// The slices that continue it begin at a later chunk, behind the header.
it("a content that is larger than a slice is checked to its end", async () => {
  const { vault, items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: LOGIN });
  const body = new Uint8Array(stepBytesMax({ callsMax: env.JOB_STEP_CALLS }) + 100_000);
  const headers = { "Content-Length": String(body.length) };
  const { body: file } = await call("POST", `${items}/${item.id}/files?name=large`, { body, headers });
  const [object] = await objectsOf(vault);
  await flipObject(env.FILES, object!, (await env.FILES.head(object!))!.size - 1);
  const { findings } = await verifyAll({ vault });
  const named = { kind: "content_damaged", vault, item: item.id, file: file.id, id: object!.split("/")[2] };
  // No chunk before the last ones is damaged, also none behind the end of the first slice.
  const count = chunkCount(body.length);
  expect(findings).toEqual([
    expect.objectContaining({ ...named, detail: expect.stringMatching(`to ${count - 1} of ${count} `) }),
  ]);
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
