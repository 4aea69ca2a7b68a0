import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { recordingQueue } from "../support/activity.ts";
import { backUp } from "../support/backup.ts";
import { watchBucket } from "../support/bindings.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { admin, client, LOGIN, makeToken, makeVault, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The vaults of the backups by name (contract 21.15). */

beforeAll(() => ignoreChecks(true)); // rows are damaged as only a damage of the file does it

const PATH = "/v1/admin/backups/vaults";

beforeEach(async () => {
  for (let left = true; left;) {
    const { objects, truncated } = await env.BACKUPS.list();
    await env.BACKUPS.delete(objects.map(({ key }) => key));
    left = truncated;
  }
});

const page = async (query = "") => (await admin("GET", PATH + query)).body;

/** A vault of this name with a backup. */
async function backedUp(name: string): Promise<string> {
  const vault = await makeVault(name);
  await backUp(vault);
  return vault;
}

const damage = (vault: string, number: number) => env.BACKUPS.put(manifestKey(vault, number), "damaged");

it("names a vault with its newest snapshot, also after it was deleted", async () => {
  const vault = await backedUp("Ledger");
  const { token } = await makeToken({ [vault]: "rw" });
  await client(token)("POST", `/v1/vaults/${vault}/items`, { body: LOGIN });
  await backUp(vault);
  await admin("DELETE", `/v1/admin/vaults/${vault}`);
  const named = { id: vault, name: "Ledger", snapshot: 2, createdAt: expect.stringMatching(/Z$/), items: 1, skipped: [] };
  expect(await page()).toEqual({ vaults: [named] });
});

it("lists each vault whose newest snapshot does not open by an older one, with what is wrong, and the others whole", async () => {
  const [damaged, whole] = [await backedUp("Damaged"), await backedUp("Whole")];
  await admin("PATCH", `/v1/admin/vaults/${damaged}`, { body: { description: "new" } });
  await backUp(damaged);
  await damage(damaged, 2);
  const { vaults } = await page();
  const skipped = [{ snapshot: 2, reason: expect.stringContaining("is truncated") }];
  expect(vaults).toHaveLength(2);
  expect(vaults).toContainEqual(expect.objectContaining({ id: damaged, name: "Damaged", snapshot: 1, skipped }));
  expect(vaults).toContainEqual(expect.objectContaining({ id: whole, name: "Whole", snapshot: 1, skipped: [] }));
});

it("lists a vault by a snapshot that has a damaged number or time, which a restore mends", async () => {
  const vault = await backedUp("Mended");
  for (const column of ["quota_items", "updated_at", "items"]) {
    const { meta } = await env.DB.prepare(`UPDATE vaults SET ${column} = -1 WHERE id = ?`).bind(vault).run();
    expect(meta.changes).toBe(1);
  }
  await backUp(vault, { full: true });
  expect((await page()).vaults).toContainEqual(
    expect.objectContaining({ id: vault, name: "Mended", snapshot: 2, items: 0, skipped: [] }),
  );
});

it("lists a vault of which no snapshot opens by its id, with what is wrong with each", async () => {
  const [vault, other] = [await backedUp("Lost"), await backedUp("Other")];
  await damage(vault, 1);
  const { vaults } = await page();
  expect(vaults).toContainEqual({ id: vault, skipped: [{ snapshot: 1, reason: expect.stringContaining("is truncated") }] });
  expect(vaults).toContainEqual(expect.objectContaining({ id: other, name: "Other" }));
  const ROOT_KEYS = JSON.stringify({ active: "k9", keys: { k9: btoa("9".repeat(32)) } });
  const { status, body } = await admin("GET", PATH, { env: { ROOT_KEYS } });
  expect([status, body.vaults.length]).toEqual([200, 2]);
  expect(body.vaults.find(({ id }: { id: string }) => id === other).skipped).toEqual([
    { snapshot: 1, reason: expect.stringContaining("needs the root key k1, which ROOT_KEYS does not have") },
  ]);
});

it("lists a vault without any manifest by its id", async () => {
  const vault = crypto.randomUUID();
  await env.BACKUPS.put(`vaults/${vault}/parts/${"0".repeat(64)}`, "part");
  expect(await page()).toEqual({ vaults: [{ id: vault, skipped: [] }] });
});

it("has at most 20 vaults in a page, opens at most three manifests for each, and misses none", async () => {
  const ids = Array.from({ length: 45 }, () => crypto.randomUUID());
  for (const id of ids) for (let number = 1; number <= 5; number++) await damage(id, number);
  const calls: string[] = [];
  const BACKUPS = watchBucket(env.BACKUPS, (name) => calls.push(name));
  const found: string[][] = [];
  for (let query: string | undefined = ""; query !== undefined;) {
    calls.length = 0;
    const { body }: { body: any } = await admin("GET", PATH + query, { env: { BACKUPS } });
    expect(calls.length).toBeLessThanOrEqual(1 + 20 * (1 + 3));
    found.push(body.vaults.map(({ id }: { id: string }) => id));
    query = body.next && `?after=${body.next}`;
  }
  expect(found.map(({ length }) => length)).toEqual([20, 20, 5]);
  expect(found.flat()).toEqual(ids.toSorted());
});

it("refuses an after that is no id, and a token that is not the admin's", async () => {
  const { status, body } = await admin("GET", `${PATH}?after=x`);
  expect([status, body.message]).toEqual([400, expect.stringMatching(/^after: /)]);
  const { token } = await makeToken({ [await makeVault()]: "rwd" });
  for (const headers of [undefined, { Authorization: `Bearer ${token}` }])
    expect((await send("GET", PATH, { ...(headers && { headers }) })).status).toBe(401);
});

it("has an entry in the log of the admin (21.11)", async () => {
  const { rows: entries, bindings } = recordingQueue();
  await admin("GET", PATH, { env: bindings });
  await expect.poll(() => entries.length, UNDER_LOAD).toBe(1);
  expect(entries).toMatchObject([{ action: "READ", resource: "BACKUP" }]);
});

it("passes over folders whose names are no ids, however many they are", async () => {
  const ids = ["1", "f"].map((digit) => "00000000-0000-4000-8000-000000000000".replaceAll("0", digit));
  const others = Array.from({ length: 45 }, (_, number) => `2-no-id-${String(number).padStart(2, "0")}`);
  for (const folder of [...ids, ...others, "z"]) await env.BACKUPS.put(`vaults/${folder}/parts/${"0".repeat(64)}`, "part");
  const first = await page();
  expect(first).toEqual({ vaults: [{ id: ids[0], skipped: [] }], next: ids[0] });
  const second = await page(`?after=${first.next}`);
  expect(second.vaults).toEqual([{ id: ids[1], skipped: [] }]);
  expect(second.next === undefined ? { vaults: [] } : await page(`?after=${second.next}`)).toEqual({ vaults: [] });
});
