import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { backUp, newestOf, rowsInDatabase, rowsOfParts, snapshotsOf, stepOf, type VaultRows } from "../support/backup.ts";
import { freshFile } from "../support/files.ts";
import { seedItems, login } from "../support/seed.ts";
import { admin, type Client, freshVault, LOGIN, makeVault } from "../support/service.ts";

/** Snapshots of vaults (contract 21.1 to 21.5). */

/** A vault with Items of the service and others that were inserted at once. */
async function largeVault(size: number) {
  const fresh = await freshVault();
  const items = Array.from({ length: size }, (_, index) => login(fresh.vault, `Item ${index}`));
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
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 1, contents: 1, missing: 0 });
    const { manifest, parts } = await newestOf(vault);
    expect(rowsOfParts(parts)).toEqual(await rowsInDatabase(vault));
    expect(manifest.row).toEqual(await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first());
    const { objects } = await env.FILES.list({ prefix: vault });
    const copies = await env.BACKUPS.list({ prefix: `contents/${vault}` });
    expect(copies.objects.map(({ key }) => key)).toEqual(objects.map(({ key }) => `contents/${key}`));
    const [copy, original] = [await env.BACKUPS.get(copies.objects[0]!.key), await env.FILES.get(objects[0]!.key)];
    expect(await copy!.bytes()).toEqual(await original!.bytes());
  });

  it("reads after the first one only what has changed since (21.2)", async () => {
    const { vault, items, call } = await freshVault();
    const made = await Promise.all(Array.from({ length: 8 }, () => call("POST", items, { body: LOGIN })));
    await backUp(vault);
    await call("DELETE", `${items}/${made[0]!.body.id}`);
    await call("POST", items, { body: LOGIN });
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    const { manifest, parts } = await newestOf(vault);
    expect(parts[1]!.replaces).toHaveLength(2);
    expect(manifest.base).toBe(1);
    expect(rowsOfParts(parts)).toEqual(await rowsInDatabase(vault));
  });

  it("is not made of a vault that is unchanged, which takes one D1 call and at most eight rows (21.2)", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    const { count, db } = countingDatabase();
    expect(await backUp(vault, { env: { DB: db } })).toMatchObject({ state: "unchanged", number: 1 });
    expect(count).toMatchObject({ calls: 1, rowsWritten: 0 });
    expect(count.rowsRead).toBeLessThanOrEqual(8);
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
    expect(await backUp(vault)).toMatchObject({ state: "done", number: 2 });
    const { parts } = await newestOf(vault);
    expect(rowsOfParts(parts)["webhooks"]).toEqual((await rowsInDatabase(vault))["webhooks"]);
    expect(parts.filter(({ tables }) => tables.some(({ table }) => table === "webhooks"))).toHaveLength(1);
  });

  it("of a large vault is that of one moment, although Items are written between its slices (21.3)", async () => {
    const { vault, items, call, first, seeded } = await largeVault(2_300);
    const states = new Map<number, VaultRows>();
    const DB = wrapDatabase(env.DB, {
      async after(results) {
        const [row] = results[0]!.results as Record<string, number>[];
        if (results.length < 6) return; // not a slice
        states.set(row!["content_version"]!, await rowsInDatabase(vault));
        const slice = states.size;
        // Read already; not read yet; new; gone.
        await rename(call, `${items}/${first}`, `Title ${slice}`);
        await rename(call, `${items}/${seeded[slice]}`, `Title ${slice}`);
        await call("POST", items, { body: { ...LOGIN, title: `New ${slice}` } });
        await call("DELETE", `${items}/${seeded[10 + slice]}`);
      },
    });
    expect(await backUp(vault, { env: { DB } })).toMatchObject({ state: "done" });
    expect(states.size).toBe(4);
    const { parts, manifest } = await newestOf(vault);
    expect(rowsOfParts(parts)).toEqual(states.get(Number(manifest.row!["content_version"])));
  });

  it("needs D1 calls by its size: three for 2,300 Items, and reads no row of another vault (21.3)", async () => {
    const { vault } = await largeVault(2_300);
    const { count, db } = countingDatabase();
    await backUp(vault, { env: { DB: db } });
    const alone = { ...count };
    expect(alone.calls).toBe(5); // the state before, three slices, and what has changed since the first of them
    await largeVault(1_000);
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
    expect(await backUp(vault)).toMatchObject({ state: "done", missing: 1 });
    expect((await newestOf(vault)).manifest.missing).toEqual([object!.key]);
    await env.FILES.put(object!.key, content);
    expect(await backUp(vault)).toMatchObject({ state: "done", missing: 0, number: 2 });
    expect((await newestOf(vault)).manifest.missing).toBeUndefined();
    expect(await env.BACKUPS.head(`contents/${object!.key}`)).not.toBeNull();
  });

  it("with dryRun tells what would be read, and changes nothing (21.4)", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    expect(await stepOf(vault, { body: { dryRun: true } })).toMatchObject({ state: "planned", number: 1, rows: 1 });
    expect((await env.BACKUPS.list({ prefix: `vaults/${vault}` })).objects).toEqual([]);
    expect((await env.BACKUPS.list({ prefix: `running/${vault}` })).objects).toEqual([]);
  });

  it("of a vault that does not exist is a 404 (21.1)", async () => {
    const path = `/v1/admin/backups/vaults/${crypto.randomUUID()}`;
    expect((await admin("POST", path, { body: {} })).status).toBe(404);
    expect((await admin("GET", path)).body).toEqual([]);
  });
});
