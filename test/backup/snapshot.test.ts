import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { missingContentsOf } from "../../src/model/backup.ts";
import { untilLogged } from "../support/activity.ts";
import {
  backUp,
  expectSameRows,
  keysIn,
  newestOf,
  rowOf,
  rowsInDatabase,
  rowsOfParts,
  snapshotsOf,
  type VaultRows,
} from "../support/backup.ts";
import { countingBucket, countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { freshFile } from "../support/files.ts";
import { JOBS } from "../support/jobs.ts";
import { seedItems, login } from "../support/seed.ts";
import { admin, type Client, freshVault, LOGIN, makeVault } from "../support/service.ts";

/** Snapshots of vaults (contract 21.1 to 21.5). */

/** A vault with Items of the service and others that were inserted at once. */
async function largeVault(size: number, more: { readonly tags?: string[] } = {}) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`, more));
  await seedItems(env, fresh.vault, items);
  const { body } = await fresh.call("POST", fresh.items, { body: LOGIN });
  return { ...fresh, first: body.id as string, seeded: items.map(({ id }) => id) };
}

const rename = (call: Client, path: string, title: string) =>
  call("PATCH", path, { body: [{ op: "replace", path: "/title", value: title }] });

describe("a snapshot", () => {
  it("has all rows of the vault, the row of the vault, and the contents of its Files (21.1)", async () => {
    const { vault, call, path } = await freshFile();
    await rename(call, path, "Other");
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 1, contents: 1, findings: [] });
    const { manifest, parts } = await newestOf(vault);
    expect(rowsOfParts(parts)).toEqual(await rowsInDatabase(vault));
    expect(manifest.row).toEqual(await rowOf(vault));
    const { objects } = await env.FILES.list({ prefix: vault });
    expect(await keysIn(`contents/${vault}`)).toEqual(objects.map(({ key }) => `contents/${key}`));
    const [copy, original] = [await env.BACKUPS.get(`contents/${objects[0]!.key}`), await env.FILES.get(objects[0]!.key)];
    expect(await copy!.bytes()).toEqual(await original!.bytes());
  });

  it("stores of 3,000 Items of which one was changed one part of Items and one of the log (21.2)", async () => {
    const { vault, call, items, first } = await largeVault(3_000, { tags: ["x".repeat(3_000)] });
    await backUp(vault);
    const before = (await newestOf(vault)).manifest;
    expect(before.parts.filter(({ item }) => item !== undefined).length).toBeGreaterThan(3);
    const { count, bucket } = countingBucket(env.BACKUPS);
    await rename(call, `${items}/${first}`, "Other");
    expect(await backUp(vault, { env: { BACKUPS: bucket } })).toMatchObject({ state: "done", snapshot: 2 });
    const known = new Set(before.parts.map(({ sha256 }) => sha256));
    const { manifest } = await newestOf(vault);
    const stored = manifest.parts.filter(({ sha256 }) => !known.has(sha256));
    expect(stored.map(({ item }) => item !== undefined)).toEqual([true, false]);
    expect(count.puts).toBe(3); // these parts and the manifest
  });

  it("is not made of a vault that is unchanged, which takes one D1 call and at most 13 rows (21.2)", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    const { count, db } = countingDatabase();
    expect(await backUp(vault, { env: { DB: db } })).toMatchObject({ state: "done", made: 0, unchanged: 1 });
    // The request asks whether the vault exists.
    expect(count).toMatchObject({ calls: 2, rowsWritten: 0 });
    expect(count.rowsRead).toBeLessThanOrEqual(13);
    expect(await snapshotsOf(vault)).toEqual([1]);
  });

  it.each([
    ["the quota", (vault: string) => admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { quota: { items: 7 } } })],
    [
      "a webhook",
      (vault: string) =>
        admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: "https://hooks.example.com/x", enabled: false } }),
    ],
  ])("is made when only %s has changed, and has it (21.2)", async (_, change) => {
    const vault = await makeVault();
    await backUp(vault);
    expect((await change(vault)).status).toBe(200);
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 2 });
    const { parts } = await newestOf(vault);
    expect(rowsOfParts(parts)["webhooks"]).toEqual((await rowsInDatabase(vault))["webhooks"]);
    expect(parts.filter(({ tables }) => tables.some(({ table }) => table === "webhooks"))).toHaveLength(1);
  });

  it("of a large vault is that of one moment, although Items are written between its slices (21.3)", async () => {
    const { vault, items, call, first, seeded } = await largeVault(2_600);
    const states = new Map<number, VaultRows>();
    const DB = wrapDatabase(env.DB, {
      async after(results) {
        const [row] = results[0]!.results as Record<string, number>[];
        if (results.length < 6 || states.size > 3) return; // not a slice
        states.set(row!["content_version"]!, await rowsInDatabase(vault));
        const slice = states.size;
        // Read already; not read yet; new; gone.
        await rename(call, `${items}/${first}`, `Title ${slice}`);
        await rename(call, `${items}/${seeded[slice]}`, `Title ${slice}`);
        await call("POST", items, { body: { ...LOGIN, title: `New ${slice}` } });
        await call("DELETE", `${items}/${seeded[10 + slice]}`);
        if (slice > 1) await call("DELETE", `/v1/vaults/${vault}/deleted-items/${seeded[9 + slice]}`);
        states.set(-1, await rowsInDatabase(vault));
      },
    });
    expect(await backUp(vault, { env: { DB } })).toMatchObject({ state: "done" });
    const { parts, manifest } = await newestOf(vault);
    const expected = states.get(Number(manifest.row!["content_version"])) ?? states.get(-1)!;
    expectSameRows(rowsOfParts(parts), expected);
  });

  it("needs D1 calls by its size, and reads no row of another vault (21.3)", async () => {
    const { vault } = await largeVault(2_300);
    await untilLogged(); // else the second backup reads entries that the first one did not find
    const { count, db } = countingDatabase();
    await backUp(vault, { env: { DB: db } });
    const alone = { ...count };
    // Whether it exists; its state before; two slices, and what has changed since; its log, and its state at the end.
    expect(alone.calls).toBe(7);
    await largeVault(1_000);
    await untilLogged();
    const again = countingDatabase();
    await backUp(vault, { env: { DB: again.db }, full: true });
    expect(again.count.calls).toBe(alone.calls);
    expect(Math.abs(again.count.rowsRead - alone.rowsRead)).toBeLessThanOrEqual(5);
    console.log(`backup of 2,300 Items: ${JSON.stringify(alone)}`);
  });

  it("names the contents that FILES does not have, and looks for them the next time (21.5)", async () => {
    const { vault } = await freshFile();
    const [object] = (await env.FILES.list({ prefix: vault })).objects;
    const content = await (await env.FILES.get(object!.key))!.bytes();
    await env.FILES.delete(object!.key);
    const missing = { kind: "content_missing", vault, id: object!.key, snapshot: 1 };
    expect(await backUp(vault)).toMatchObject({ state: "done", findings: [missing] });
    expect((await admin("GET", `/v1/admin/backups/vaults/${vault}`)).body).toMatchObject([{ missing: [object!.key] }]);
    await env.FILES.put(object!.key, content);
    expect(await backUp(vault)).toMatchObject({ state: "done", findings: [], snapshot: 2 });
    expect(missingContentsOf((await newestOf(vault)).manifest)).toEqual([]);
    expect(await env.BACKUPS.head(`contents/${object!.key}`)).not.toBeNull();
  });

  it("of a vault that does not exist is a 404 (21.1)", async () => {
    const vault = crypto.randomUUID();
    expect((await admin("POST", JOBS, { body: { kind: "backup", vault } })).status).toBe(404);
    expect((await admin("GET", `/v1/admin/backups/vaults/${vault}`)).body).toEqual([]);
  });
});
