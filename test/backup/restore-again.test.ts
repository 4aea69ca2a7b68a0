import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { REGISTRY } from "../../src/model/backup.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { deleteSlice } from "../../src/store/commit/deleted-vaults.ts";
import { backUp, backUpAll, newestOf, rowOf, snapshotsOf, stateOf } from "../support/backup.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { fullVault } from "../support/full-vault.ts";
import { damagePart, loseEverything, restore, vaultWithItem } from "../support/restores.ts";
import { admin } from "../support/service.ts";
import { selectAll } from "../support/sql.ts";

/** What a restore neither replaces nor loses in a database that has something, and with which backup it continues (contract 21.20 to 21.25). */

const segmentsOf = async (log: string) =>
  await selectAll<{ id: string; lines: string }>("SELECT * FROM log_segments WHERE vault_id = ? ORDER BY id", log);

describe("the log of a database that has more of it than the backup", () => {
  it("keeps what was read since (13.10)", async () => {
    const { vault, items, call } = await vaultWithItem();
    await backUp(vault);
    await call("GET", items);
    await flushBatch(env);
    const segments = await segmentsOf(vault);
    expect(segments.length).toBeGreaterThan(0);
    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200 });
    expect(await segmentsOf(vault)).toEqual(segments);
  });
});

describe("a restore that is asked for again", () => {
  it("continues with the registry whose number it has, also when the bucket has a newer one (21.25)", async () => {
    await loseEverything();
    const [whole, damaged] = [await vaultWithItem(), await vaultWithItem()];
    await backUpAll();
    const first = (await snapshotsOf(REGISTRY)).at(-1)!;
    const { manifest } = await newestOf(damaged.vault);
    const key = `vaults/${damaged.vault}/parts/${manifest.parts[0]!.sha256}`;
    const part = await (await env.BACKUPS.get(key))!.bytes();
    await admin("PATCH", `/v1/admin/vaults/${whole.vault}`, { body: { name: "Later" } });
    await backUpAll();
    await damagePart(damaged.vault);
    await loseEverything();
    expect(await restore({ snapshot: first })).toMatchObject({ status: 200, body: { snapshot: first, vaults: 1, leftOut: 1 } });
    const again = { status: 200, body: { state: "done", snapshot: first, kept: 1 } };
    expect(await restore({ snapshot: first })).toMatchObject({ ...again, body: { ...again.body, vaults: 0, leftOut: 1 } });
    await env.BACKUPS.put(key, part);
    expect(await restore({})).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining(`the rest of snapshot ${first}`) },
    });
    expect(await restore({ snapshot: first })).toMatchObject({ ...again, body: { ...again.body, vaults: 1, leftOut: 0 } });
  });

  it("continues with the same snapshot of a vault, also when the bucket has a newer one (21.20)", async () => {
    const { vault, call, items, id } = await vaultWithItem();
    await backUp(vault);
    const { rows: before } = await stateOf(vault);
    await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "Later" }] });
    await backUp(vault);
    const lose = async () => ((await rowOf(vault)) ? undefined : Promise.reject(new Error("D1_ERROR: lost")));
    const DB = wrapDatabase(env.DB, { before: lose });
    expect(await restore({ vault, snapshot: 1, overwrite: true }, { DB })).toMatchObject({ status: 503 });
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { snapshot: 1 } });
    expect((await stateOf(vault)).rows).toEqual(before);
  });
});

/** A step of `purge` for a vault, which takes effect whenever the function is called that this returns. */
async function latePurge(vault: string): Promise<() => Promise<unknown>> {
  let late: D1PreparedStatement[] = [];
  const batch = async (statements: D1PreparedStatement[]) => {
    late = statements;
    throw new Error("D1_ERROR: Network connection lost.");
  };
  const DB = { prepare: env.DB.prepare.bind(env.DB), batch } as unknown as D1Database;
  expect(await deleteSlice(DB, vault)).toMatchObject({ ok: false });
  return () => env.DB.batch(late);
}

describe("a late step of `purge`", () => {
  it("deletes no row of a vault that is being restored, whenever it takes effect (21.22, 21.24)", async () => {
    const { vault } = await fullVault();
    await backUp(vault);
    const before = await stateOf(vault);
    expect(Object.values(before.rows).every(({ length }) => length > 0)).toBe(true);
    const purge = await latePurge(vault);
    // The purge of the deletion may have ended. This one has not, so the record of the deletion is there when the restore begins.
    const record = env.DB.prepare("INSERT OR IGNORE INTO deleted_vaults VALUES (?, 1)").bind(vault);
    const isMarked = () => env.DB.prepare("SELECT 1 FROM restores WHERE vault_id = ?").bind(vault).first();
    const isRecorded = () => env.DB.prepare("SELECT 1 FROM deleted_vaults WHERE id = ?").bind(vault).first();
    // One purge in each restore: a second one finds no record where the first one has left no row.
    for (let at = 1, isReached = true; isReached; at++) {
      expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
      let calls = 0;
      const DB = wrapDatabase(env.DB, {
        before: async () => void (calls === 0 && (await record.run())),
        async after() {
          if (calls === 0 && !(await isMarked())) return;
          if (++calls === at) await purge();
        },
      });
      expect(await restore({ vault }, { DB })).toMatchObject({ status: 200, body: { state: "done" } });
      isReached = calls >= at;
      expect([at, await stateOf(vault), await isRecorded()]).toEqual([at, before, null]);
    }
  });

  const DELETED = "INSERT OR IGNORE INTO deleted_vaults VALUES (?, 1)";
  const LOST = "DELETE FROM vaults WHERE id = ?";

  it.each([
    ["has its row, as in a database that was restored to before the deletion", [DELETED]],
    ["is being restored", [DELETED, LOST, "INSERT INTO restores VALUES (?, 1, 'x')"]],
    ["is missing without a deletion", [LOST]],
  ])("deletes no row of a vault that %s", async (_, changes) => {
    const { vault } = await fullVault();
    const { rows } = await stateOf(vault);
    await env.DB.batch(changes.map((sql) => env.DB.prepare(sql).bind(vault)));
    await (
      await latePurge(vault)
    )();
    expect((await stateOf(vault)).rows).toEqual(rows);
  });
});
