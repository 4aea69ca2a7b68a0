import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SLICE_MAX } from "../../src/store/backup/slice.ts";
import { backUp, backUpAll, newestOf, stepOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { pattern } from "../support/files.ts";
import { admin, client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Rules of backups that section 3 of the roadmap, the engine for long work, closes: these tests are expected to fail until then. */

afterEach(() => void vi.useRealTimers());

async function freshCall() {
  const vault = await makeVault();
  return { vault, items: `/v1/vaults/${vault}/items`, call: client((await makeToken({ [vault]: "rwd" })).token) };
}

/** A vault with two Items of 300 KB, which have several versions. `write` writes both again. */
async function largeVault() {
  const { vault, items, call } = await freshCall();
  const fields = [1, 2, 3, 4, 5, 6].map((label) => ({ id: `f${label}`, label: `${label}`, value: "x".repeat(50_000) }));
  const made = [1, 2].map(
    async (n) => (await call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } })).body.id as string,
  );
  const ids = await Promise.all(made);
  let written = 0;
  const write = async () => {
    written++;
    for (const id of ids)
      await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: `${written}` }] });
  };
  for (let n = 0; n < 5; n++) await write();
  return { vault, write };
}

/** The database of a backup: after each slice of it comes a write. */
const writingBetweenSlices = (write: () => Promise<void>) =>
  wrapDatabase(env.DB, { after: async (results) => (results.length < 6 ? undefined : write()) });

/** An Item with a File that was backed up and then destroyed, three days and backups ago, of which two are kept. */
async function destroyedSince(): Promise<{ readonly vault: string; readonly id: string }> {
  const { vault, items, call } = await freshCall();
  for (let n = 0; n < 4; n++) await call("POST", items, { body: { ...LOGIN, title: `${n}` } });
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  await call("POST", `${items}/${id}/files?name=f`, { body: pattern(100), headers: { "Content-Length": "100" } });
  const vaults = (await admin("GET", "/v1/admin/vaults")).body.map((one: { id: string }) => one.id);
  await backUpAll(vaults);
  await call("DELETE", `${items}/${id}`);
  await call("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`);
  for (let day = 0; day < 3; day++) {
    advanceClock(DAY);
    await backUp(vault);
    await backUpAll(vaults, { BACKUPS_KEPT: 2 });
  }
  return { vault, id };
}

describe("a backup", () => {
  // S2, closed by section 3.
  it.fails("ends within one step of eight slices although two Items of 300 KB are written between all of its slices", async () => {
    const { vault, write } = await largeVault();
    const DB = writingBetweenSlices(write);
    const states: string[] = [];
    for (let step = 0; step < 1 && states.at(-1) !== "done"; step++)
      states.push((await stepOf(vault, { body: { full: true }, env: { DB } })).state);
    expect(states.at(-1)).toBe("done");
  });

  // S2, closed by section 3: how often a backup may read a vault is its choice; three times is more than one pass and what changes meanwhile.
  it.fails("of such a vault stores at most three times the bytes of the vault, and as many parts", async () => {
    const { vault, write } = await largeVault();
    const DB = writingBetweenSlices(write);
    for (let step = 0; step < 2; step++) await stepOf(vault, { body: { full: true }, env: { DB } });
    const { objects } = await env.BACKUPS.list({ prefix: `vaults/${vault}/parts/` });
    const bytes = await env.DB.prepare("SELECT sealed_bytes AS n FROM vaults WHERE id = ?").bind(vault).first<number>("n");
    const stored = objects.reduce((sum, { size }) => sum + size, 0);
    expect([stored <= 3 * bytes!, objects.length <= 3 * Math.ceil(bytes! / SLICE_MAX.bytes)]).toEqual([true, true]);
  });

  // S3, closed by section 3.
  it.fails("has nothing of a destroyed Item after BACKUPS_KEPT later backups and as many days", async () => {
    const { vault, id } = await destroyedSince();
    const { parts } = await newestOf(vault);
    const rows = parts.flatMap(({ tables }) => tables.filter(({ table }) => table.startsWith("item")).flatMap((one) => one.rows));
    expect(rows.filter((row) => row.includes(id))).toEqual([]);
  });

  // S3, closed by section 3.
  it.fails("has no content of a destroyed Item after BACKUPS_KEPT later backups and as many days", async () => {
    const { vault } = await destroyedSince();
    const { objects } = await env.BACKUPS.list({ prefix: `contents/${vault}/` });
    expect(objects).toEqual([]);
  });
});
