import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { operationId, timeOf } from "../../src/model/ids.ts";
import type { ActivityRow } from "../../src/store/activity/entries.ts";
import { deliver } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { admin, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** ACTIVITY_MAX_ROWS: how many reads and denials a log keeps (contract 13.10), and the counts of the table `logs`. */

const MOST = 100;
const bindings = { ACTIVITY_MAX_ROWS: MOST } as unknown as Partial<Env>;

afterEach(() => void vi.useRealTimers());

let sequence = 0;
/** An id that is newer than those before. */
const nextId = () => operationId(Date.now() + sequence++, new Uint8Array(10).fill(sequence % 256));

/** A read, or a denial, as it comes out of the queue. */
const row = (log: string, extra: Partial<ActivityRow> = {}): ActivityRow => ({
  id: nextId(),
  log,
  action: "READ",
  result: "SUCCESS",
  actor: crypto.randomUUID(),
  item: null,
  version: null,
  root_key_id: "removed", // its origin is unknown
  sealed: "",
  ...extra,
});

const reads = (log: string, count: number) => Array.from({ length: count }, () => row(log));

/** An entry of the admin's log. */
const entry = (extra: Partial<ActivityRow>) => row(NOWHERE, { actor: "admin", resource: "TOKEN", ...extra });

/** What an entry of the admin's log counts as. */
const kind = ({ action, result, resource }: ActivityRow) =>
  result === "DENY" ? "DENY" : resource === "SESSION" ? "SESSION" : action;

const COUNTED = "vault_id = ?1 AND (action = 'READ' OR result = 'DENY')";

/** The reads and denials of a log, the count of them, and its other entries. */
async function stateOf(log: string) {
  const sql = `
    SELECT (SELECT count(*) FROM activity WHERE ${COUNTED}) AS stored,
      (SELECT entries FROM logs WHERE vault_id = ?1) AS counted,
      (SELECT count(*) FROM activity WHERE vault_id = ?1 AND NOT (${COUNTED})) AS writes`;
  return (await env.DB.prepare(sql).bind(log).first<{ stored: number; counted: number | null; writes: number }>())!;
}

const idsOf = async (log: string): Promise<string[]> =>
  (await env.DB.prepare("SELECT id FROM activity WHERE vault_id = ?1 ORDER BY id").bind(log).all<{ id: string }>()).results.map(
    ({ id }) => id,
  );

/** What the delivery of rows costs in D1. */
async function costOf(rows: readonly ActivityRow[]) {
  const { count, db } = countingDatabase();
  await deliver(rows, { ...bindings, DB: db });
  return count;
}

const runCron = () => worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);

describe("a flood of reads and denials", () => {
  it("leaves the newest ones up to the maximum, and all writes", async () => {
    const { vault, items, call } = await freshVault();
    const sent: string[] = [];
    for (let batch = 0; batch < 6; batch++) {
      const rows = [...reads(vault, 30), row(vault, { action: "UPDATE", result: "DENY" })];
      sent.push(...rows.map(({ id }) => id));
      await deliver(rows, bindings);
      advanceClock(1_000);
      await call("POST", items, { body: LOGIN });
    }
    expect(await stateOf(vault)).toEqual({ stored: MOST, counted: MOST, writes: 7 });
    expect((await idsOf(vault)).filter((id) => sent.includes(id))).toEqual(sent.slice(-MOST));
  });

  it("of one log does not shorten another log", async () => {
    const [a, b] = [await freshVault(), await freshVault()];
    await deliver([...reads(b.vault, 50), ...reads(a.vault, 300)], bindings);
    expect([(await stateOf(a.vault)).stored, (await stateOf(b.vault)).stored]).toEqual([MOST, 50]);
  });

  it("of the admin is bounded too", async () => {
    await deliver(
      Array.from({ length: 300 }, () => row(NOWHERE, { actor: "admin", resource: "TOKEN" })),
      bindings,
    );
    expect(await stateOf(NOWHERE)).toMatchObject({ stored: MOST, counted: MOST });
  });

  it.each<[string, Partial<ActivityRow>]>([
    ["denials", { result: "DENY" }],
    ["refused sign-ins", { result: "DENY", resource: "SESSION", action: "CREATE" }],
    ["reads", {}],
    ["sign-ins of a token", { resource: "SESSION", action: "CREATE", actor: crypto.randomUUID() }],
  ])("of %s in the log of the admin pushes out no entry of another kind", async (_, flood) => {
    const kinds = [
      entry({ action: "CREATE" }),
      entry({}),
      entry({ result: "DENY" }),
      entry({ action: "CREATE", resource: "SESSION" }),
    ];
    await deliver(kinds, bindings);
    const rows = Array.from({ length: 300 }, () => entry(flood));
    await deliver(rows, bindings);
    const others = kinds.filter((one) => kind(one) !== kind(rows[0]!)).map(({ id }) => id);
    const left = await idsOf(NOWHERE);
    expect(left).toEqual(expect.arrayContaining([...others, ...rows.slice(-MOST).map(({ id }) => id)]));
    expect(left).not.toContain(rows[299 - MOST]!.id);
  });

  it("shows in every page of the log until when entries may be missing", async () => {
    const { vault, call } = await freshVault();
    const gapOf = async (query = "") => (await call("GET", `/v1/activity${query}`)).headers.get("Item-Vault-Log-Gap");
    await deliver(reads(vault, MOST), bindings);
    expect(await gapOf()).toBeNull();
    const more = reads(vault, 150);
    await deliver(more, bindings);
    const last = new Date(timeOf(more[149 - MOST]!.id)).toISOString();
    expect([await gapOf(), await gapOf(`?before=${more[149]!.id}`), await gapOf("?action=UPDATE")]).toEqual([last, last, last]);
    advanceClock(31 * DAY);
    expect(await gapOf()).toBeNull();
  });

  it("shows in the log of the admin until when entries may be missing", async () => {
    const rows = Array.from({ length: 150 }, () => entry({ result: "DENY" }));
    await deliver(rows, bindings);
    const last = new Date(timeOf(rows[149 - MOST]!.id)).toISOString();
    const pages = await Promise.all(["", "?action=UPDATE"].map((query) => admin("GET", `/v1/admin/activity${query}`)));
    expect(pages.map(({ headers }) => headers.get("Item-Vault-Log-Gap"))).toEqual([last, last]);
  });

  // Roadmap section 2 (the log of reads as segments) closes it.
  it.fails("loses nothing: what a log drops is in the export", async () => {
    const { vault } = await freshVault();
    const rows = reads(vault, 150);
    await deliver(rows, bindings);
    const { text } = await admin("GET", `/v1/admin/activity/export?vault=${vault}&limit=1000`);
    expect(rows.filter(({ id }) => !text.includes(id))).toEqual([]);
  });

  it("costs one D1 call a batch, and a second one while the log is full; a row is written once, and deleted once", async () => {
    const { vault } = await freshVault();
    const first = await costOf(reads(vault, MOST));
    expect([first.calls, first.rowsWritten]).toEqual([1, MOST + 2]); // the row of `logs` twice
    expect(first.rowsRead).toBeLessThanOrEqual(12 * MOST);
    const full = await costOf(reads(vault, 50));
    expect(full.calls).toBe(2);
    expect(full.rowsWritten).toBeLessThanOrEqual(2 * 50 + 4); // three of the count, one that tells what was dropped
    expect(full.rowsRead).toBeLessThanOrEqual(15 * 50);
  });

  it("is cut after a change of the maximum, although writes lie between the reads", async () => {
    const { vault } = await freshVault();
    const mixed = reads(vault, 400).flatMap((one) => [one, row(vault, { action: "UPDATE" })]);
    await deliver(mixed);
    expect(await stateOf(vault)).toEqual({ stored: 400, counted: 400, writes: 401 });
    await deliver(reads(vault, 1), bindings);
    expect(await stateOf(vault)).toEqual({ stored: MOST, counted: MOST, writes: 401 });
  });
});

describe("a row that the queue delivers again", () => {
  it("changes no count, in the same batch or a later one", async () => {
    const { vault } = await freshVault();
    const rows = reads(vault, 20);
    await deliver([...rows, ...rows], bindings);
    await deliver(rows, bindings);
    expect(await stateOf(vault)).toMatchObject({ stored: 20, counted: 20 });
  });

  it("is not inserted when it was deleted since, because it is older than what the log keeps", async () => {
    const { vault } = await freshVault();
    const old = reads(vault, 20);
    await deliver(old, bindings);
    await deliver(reads(vault, MOST), bindings);
    await deliver(old, bindings);
    expect(await stateOf(vault)).toMatchObject({ stored: MOST, counted: MOST });
    expect(await idsOf(vault)).not.toContain(old[0]!.id);
  });
});

describe("a log from before the table of counts", () => {
  it("is counted from its newest entries, and its older ones leave with the retention", async () => {
    const { vault } = await freshVault();
    const old = reads(vault, 1_200);
    await deliver(old);
    await env.DB.prepare("DELETE FROM logs WHERE vault_id = ?1").bind(vault).run();
    await deliver(reads(vault, 1));
    expect(await stateOf(vault)).toMatchObject({ stored: 1_201, counted: 1_001 });
    advanceClock(31 * DAY);
    await runCron();
    expect(await stateOf(vault)).toMatchObject({ stored: 0, counted: 0 });
  });
});

describe("the hourly clean-up", () => {
  it("keeps the count exact", async () => {
    const { vault } = await freshVault();
    await deliver(reads(vault, 150), bindings);
    await deliver([row(vault, { action: "DELETE", item: crypto.randomUUID() })]);
    advanceClock(20 * DAY);
    await deliver(reads(vault, 30), bindings);
    expect(await stateOf(vault)).toMatchObject({ stored: MOST, counted: MOST });
    advanceClock(11 * DAY);
    await runCron();
    expect(await stateOf(vault)).toEqual({ stored: 30, counted: 30, writes: 0 });
    await deliver(reads(vault, 90), bindings);
    expect(await stateOf(vault)).toMatchObject({ stored: MOST, counted: MOST });
  });

  it("deletes the count of a deleted vault or token when its log is empty, and not before", async () => {
    const { vault } = await freshVault();
    const { id } = await makeToken({});
    await deliver([...reads(vault, 3), ...reads(id, 3)]);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await runCron();
    expect([(await stateOf(vault)).counted, (await stateOf(id)).counted]).toEqual([3, 3]);
    advanceClock(31 * DAY);
    await runCron();
    expect([(await stateOf(vault)).counted, (await stateOf(id)).counted]).toEqual([null, null]);
  });

  it("deletes many entries of many logs in slices of a thousand, in two D1 calls each", async () => {
    const vaults = [await freshVault(), await freshVault(), await freshVault()];
    for (const { vault } of vaults) await deliver(reads(vault, 800));
    advanceClock(31 * DAY);
    const { count, db } = countingDatabase();
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), { ...env, DB: db });
    for (const { vault } of vaults) expect(await stateOf(vault)).toMatchObject({ stored: 0, counted: 0 });
    // The other parts of the clean-up make one or two calls each.
    expect(count.calls).toBeLessThan(16);
  });
});
