import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { backUp } from "../support/backup.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { restore } from "../support/restores.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { namesOf, run, verifyAll } from "./support/verify.ts";

/** Entries that a log has lost stay named, whatever is written or repaired later; those past the retention are none (contract 22.4). */

afterEach(() => void vi.useRealTimers());

const WRITES = 4;

async function writtenVault() {
  const fresh = await freshVault();
  const write = async () => expect((await fresh.call("POST", fresh.items, { body: LOGIN })).status).toBe(200);
  for (let count = 0; count < WRITES; count++) await write();
  return { ...fresh, write };
}

const lostOf = async (vault: string) => namesOf(await verifyAll({ vault }));
const lost = (vault: string) => [{ kind: "sequence_wrong", vault, table: "activity" }];
const runCron = (archiveDays: number) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date() }), { ...env, ACTIVITY_ARCHIVE_DAYS: archiveDays });

describe("a log", () => {
  it("has its entry named whose damaged id is that of the last one of a slice and a control character", async () => {
    const { vault } = await writtenVault();
    await run(
      `INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
       SELECT vault_id, 'f' || printf('%04d', value), 'READ', 'SUCCESS', actor, root_key_id, 'damaged'
       FROM (SELECT * FROM activity WHERE vault_id = ?1 LIMIT 1),
         (WITH RECURSIVE counted (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM counted WHERE value < 1000)
          SELECT value FROM counted)`,
      vault,
    );
    const id = await env.DB.prepare("SELECT id FROM activity WHERE vault_id = ? ORDER BY id LIMIT 1 OFFSET 999")
      .bind(vault)
      .first("id");
    await run(
      `INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
       SELECT vault_id, id || char(1), action, result, actor, root_key_id, sealed FROM activity WHERE vault_id = ?1 AND id = ?2`,
      vault,
      id,
    );
    const named = (await verifyAll({ vault })).findings.filter(({ table }) => table === "activity").map((one) => one.id);
    expect(named).toContain(`${String(id)}\u0001`);
  });
});

describe("the log of a vault", () => {
  it.each([
    ["all of it", "true"],
    ["its first entry", "sequence = 1"],
    ["its last entry", `sequence = ${WRITES}`],
  ])("that has lost %s is named, also after a write and a repair", async (_, where) => {
    const { vault, write } = await writtenVault();
    await run(`DELETE FROM activity WHERE vault_id = ?1 AND ${where}`, vault);
    await verifyAll({ vault, repair: true });
    await write();
    await verifyAll({ vault, repair: true });
    expect(await lostOf(vault)).toEqual(lost(vault));
  });

  it("that was lost long after the last write is named", async () => {
    const { vault } = await writtenVault();
    await run("DELETE FROM activity WHERE vault_id = ?1", vault);
    advanceClock(40 * DAY);
    await runCron(0);
    expect(await lostOf(vault)).toEqual(lost(vault));
  });

  it.each([
    ["deleted", 0],
    ["archived", 90],
  ])("is whole without the entries that were %s after the retention, before and after the next write", async (_, archiveDays) => {
    const { vault, write } = await writtenVault();
    advanceClock(40 * DAY);
    await runCron(archiveDays);
    expect(
      await env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ?1 AND sequence <= 2").bind(vault).first("n"),
    ).toBe(0);
    expect(await lostOf(vault)).toEqual([]);
    await write();
    expect(await lostOf(vault)).toEqual([]);
  });

  it("begins where that of the backup does, after a restore of a vault that was destroyed", async () => {
    const { vault } = await writtenVault();
    advanceClock(40 * DAY);
    await runCron(0);
    await backUp(vault);
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`)).status).toBe(204);
    await vi.waitFor(
      async () => expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done" } }),
      UNDER_LOAD,
    );
    expect(await lostOf(vault)).toEqual([]);
  });
});
