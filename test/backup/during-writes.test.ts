import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, backUpAll, newestOf, rowsOfParts, type VaultRows } from "../support/backup.ts";
import { sleep, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { pattern } from "../support/files.ts";
import { runs } from "../support/runs.ts";
import { client, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** Backups of vaults that are written to all the time (contract 21.3), and what they have of what was destroyed (21.12). */

afterEach(() => void vi.useRealTimers());

async function freshCall() {
  const vault = await makeVault();
  return { vault, items: `/v1/vaults/${vault}/items`, call: client((await makeToken({ [vault]: "rwd" })).token) };
}

/** A vault with Items of 300 KB that have so many versions. `write` writes some of them again. */
async function largeVault(size: number, versions: number) {
  const { vault, items, call } = await freshCall();
  const fields = [1, 2, 3, 4, 5, 6].map((label) => ({ id: `f${label}`, label: `${label}`, value: "x".repeat(50_000) }));
  const ids: string[] = [];
  for (let n = 0; n < size; n++) ids.push((await call("POST", items, { body: { ...LOGIN, title: `${n}`, fields } })).body.id);
  let written = 0;
  const statuses = new Set<number>();
  const write = async (some: readonly string[] = ids) => {
    written++;
    for (const id of some) {
      const { status } = await call("PATCH", `${items}/${id}`, {
        body: [{ op: "replace", path: "/title", value: `${written}` }],
      });
      statuses.add(status);
    }
  };
  for (let n = 0; n < versions; n++) await write();
  return { vault, ids, write, statuses };
}

/** Milliseconds that a writer waits between two writes. */
const PAUSE_MS = 100;

/** R2 whose puts take so many milliseconds. */
function slowBucket(milliseconds: number): R2Bucket {
  const put = async (...call: Parameters<R2Bucket["put"]>) => {
    await sleep(milliseconds);
    return env.BACKUPS.put(...call);
  };
  return wrapBucket({ put }, env.BACKUPS);
}

const storedParts = async (vault: string) => (await env.BACKUPS.list({ prefix: `vaults/${vault}/parts/` })).objects;

describe("a backup of a vault that is written to", () => {
  it("between all of its D1 calls ends, and stores at most four times the bytes of the vault", async () => {
    const { vault, write } = await largeVault(2, 5);
    const DB = wrapDatabase(env.DB, { after: (results) => (results.length < 6 ? undefined : write()) });
    expect(await backUp(vault, { env: { DB } })).toMatchObject({ state: "done", snapshot: 1 });
    const bytes = await env.DB.prepare("SELECT sealed_bytes AS n FROM vaults WHERE id = ?").bind(vault).first<number>("n");
    const stored = (await storedParts(vault)).reduce((sum, { size }) => sum + size, 0);
    expect(stored).toBeLessThanOrEqual(4 * bytes!);
  });

  it("by several writers at once ends while R2 takes 200 ms for a put, and no write is refused because of it", async () => {
    const { vault, ids, write, statuses } = await largeVault(runs(4, 24), runs(2, 10));
    const over = new AbortController();
    const writer = async (own: readonly string[]) => {
      while (!over.signal.aborted) {
        await write(own);
        // workerd lets no timer ring while it always has work. Each writer still sends more than the rate limit of a token allows.
        await sleep(PAUSE_MS);
      }
    };
    const writers = [0, 1, 2, 3].map((n) => writer(ids.filter((_, index) => index % 4 === n)));
    const made = await backUp(vault, { env: { BACKUPS: slowBucket(200) } }).finally(() => over.abort());
    await Promise.all(writers);
    expect(made).toMatchObject({ state: "done", snapshot: 1, findings: [] });
    expect([...statuses]).toEqual([200]);
    const { manifest, parts } = await newestOf(vault);
    // Every Item is that of one moment: the versions of each are complete up to its own.
    const rows: VaultRows = rowsOfParts(parts);
    expect(rows["items"]).toHaveLength(ids.length);
    const sequences = rows["activity"]!.flatMap(({ sequence }) => (sequence === null ? [] : [Number(sequence)]));
    expect(Math.max(...sequences)).toBe(Number(manifest.row!["content_version"]) + Number(manifest.row!["attribute_version"]));
    const written = rows["activity"]!.filter(({ action }) => action === "UPDATE");
    for (const { id, version } of rows["items"]!) {
      const own = written.filter(({ item_id }) => item_id === id).map((entry) => Number(entry["version"]));
      expect(Math.max(1, ...own)).toBe(version);
    }
    const texts = rows["items"]!.concat(rows["item_versions"]!).map(({ overview, details }) => `${overview}${details}`.length);
    expect(texts.reduce((sum, length) => sum + length, 0)).toBe(manifest.row!["sealed_bytes"]);
  });
});

/** An Item with a File that was backed up and then destroyed, three days and backups ago, of which two are kept. */
async function destroyedSince(): Promise<{ readonly vault: string; readonly id: string }> {
  const { vault, items, call } = await freshCall();
  for (let n = 0; n < 4; n++) await call("POST", items, { body: { ...LOGIN, title: `${n}` } });
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  await call("POST", `${items}/${id}/files?name=f`, { body: pattern(100), headers: { "Content-Length": "100" } });
  await backUpAll();
  await call("DELETE", `${items}/${id}`);
  await call("DELETE", `/v1/vaults/${vault}/deleted-items/${id}`);
  for (let day = 0; day < 3; day++) {
    advanceClock(DAY);
    await call("POST", items, { body: { ...LOGIN, title: `day ${day}` } });
    await backUpAll({ BACKUPS_KEPT: 2 });
  }
  return { vault, id };
}

describe("after BACKUPS_KEPT later backups and as many days", () => {
  it("no part has anything of a destroyed Item, and no content of it is left", async () => {
    const { vault, id } = await destroyedSince();
    const texts = await Promise.all((await storedParts(vault)).map(async ({ key }) => (await env.BACKUPS.get(key))!.text()));
    expect(texts.length).toBeGreaterThan(0);
    const withRows = texts.filter(
      (text) => /"table":"(items|item_versions|files|file_versions)"/.test(text) && text.includes(id),
    );
    expect(withRows).toEqual([]);
    expect((await env.BACKUPS.list({ prefix: `contents/${vault}/` })).objects).toEqual([]);
  });
});
