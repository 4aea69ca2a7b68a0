import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SLICE_MAX } from "../../src/store/commit/deleted-vaults.ts";
import { backUp } from "../support/backup.ts";
import { LOST_OPERATOR, rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, runDueAlarms } from "../support/faults.ts";
import { freshFile, objectsOf, pattern } from "../support/files.ts";
import { endOfJobs, inOperator, killOperator, rebindOperator, runHourly, type Service, serviceWith } from "../support/jobs.ts";
import { removeRows, snapshotDatabase } from "../support/restore.ts";
import { restore as restoreBackup } from "../support/restores.ts";
import { admin, type Client, freshVault, LOGIN } from "../support/service.ts";

/** The deletion of a vault: its keys at once, its other rows in slices (contract 13.13). */

const TABLES = ["items", "files", "replays"] as const;

/** How many rows a vault has in each table. */
const countRows = async (vault: string): Promise<number[]> => {
  const counts = TABLES.map((table) => env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE vault_id = ?`).bind(vault));
  return (await env.DB.batch<{ n: number }>(counts)).map(({ results }) => results[0]!.n);
};

const isListed = async (vault: string): Promise<boolean> =>
  (await env.DB.prepare("SELECT 1 FROM deleted_vaults WHERE id = ?").bind(vault).first()) !== null;

/** Inserts rows of all three tables into a vault, with sealed texts of so many bytes. */
async function addRows(vault: string, rows: number, bytes = 10): Promise<void> {
  const ids = JSON.stringify(Array.from({ length: rows }, (_, index) => `row ${index}`));
  const insert = (into: string) => env.DB.prepare(`INSERT INTO ${into} FROM json_each(?2)`).bind(vault, ids, "x".repeat(bytes));
  await env.DB.batch([
    insert("items (vault_id, id, version, title_index, overview, details, folded_index) SELECT ?1, value, 1, '', ?3, '', ''"),
    insert("files (vault_id, item_id, id, generation, size, sealed, since) SELECT ?1, value, 'f', 'g', 1, ?3, 1"),
    insert("replays (vault_id, key, id, sealed) SELECT ?1, value, '', ?3"),
  ]);
}

interface Slices {
  /** The operator that deletes the rows. */
  readonly service: Service;
  /** The D1 calls of the coordinator and of the operator that changed rows, and how many each changed. */
  readonly changed: number[];
  /** Whether D1 refuses the calls that delete slices. */
  broken: boolean;
  /** Runs after each D1 call that changed rows. */
  after?: () => Promise<void>;
}

/** The last statement of a call that deletes slices. */
const LAST_OF_SLICES = "SELECT 1 FROM deleted_vaults WHERE NOT EXISTS";

async function watchSlices(vault: string): Promise<Slices> {
  const service = await serviceWith({});
  const slices: Slices = { service, changed: [], broken: true };
  let isSlice = false;
  const DB = wrapDatabase(env.DB, {
    rewrite: (sql) => {
      isSlice = sql.startsWith(LAST_OF_SLICES);
      return sql;
    },
    before: () => {
      if (isSlice && slices.broken) throw new Error("D1_ERROR: D1 DB is overloaded.");
    },
    after: async (results) => {
      const rows = results.reduce((sum, { meta }) => sum + meta.changes, 0);
      if (rows === 0) return;
      slices.changed.push(rows);
      await slices.after?.();
    },
  });
  await rebindOperator(service, { DB });
  await rebindCoordinator(vault, { DB, OPERATOR: service.bindings.OPERATOR! });
  return slices;
}

const MINUTE = 60_000;

afterEach(() => void vi.useRealTimers());

const deletion = (vault: string) => admin("DELETE", `/v1/admin/vaults/${vault}`);

/** Waits for the job that the coordinator has started, and for its end. */
async function purge({ service }: Slices): Promise<any[]> {
  await expect.poll(() => inOperator(service, (sql) => sql.exec("SELECT 1 FROM jobs").toArray())).not.toEqual([]);
  return endOfJobs(service);
}

describe("a deleted vault with many rows", () => {
  const ROWS = 2 * SLICE_MAX.rows + 1;
  let [vault, path]: string[] = [];
  let call: Client;
  let slices: Slices;

  beforeEach(async () => {
    const fresh = await freshVault();
    ({ vault, call } = fresh);
    path = `${fresh.items}/${(await call("POST", fresh.items, { body: LOGIN })).body.id}`;
    await addRows(vault, ROWS);
    slices = await watchSlices(vault);
    slices.changed.length = 0;
    await deletion(vault);
  });

  // Vitest does not end while an alarm is about to run.
  afterEach(async () => {
    slices.broken = false;
    await purge(slices);
  });

  it("is gone after one commit that changes nine rows, whatever it holds", async () => {
    expect(slices.changed).toHaveLength(1);
    expect(slices.changed[0]).toBeLessThanOrEqual(9);
    expect(await countRows(vault!)).toEqual([ROWS + 1, ROWS, ROWS]);
    expect((await call("GET", path!)).body).toEqual({ status: 404, message: `vault ${vault} not found` });
    expect((await call("GET", `/v1/vaults/${vault}/items`)).status).toBe(404);
    expect((await call("GET", "/v1/vaults")).body).toEqual([]);
    expect((await call("DELETE", path!)).status).toBe(404);
    expect((await deletion(vault!)).status).toBe(404);
  });

  it("loses its rows without the cron trigger (contract 26.10), at most 100 of each table in a D1 call", async () => {
    slices.broken = false;
    slices.changed.length = 0;
    expect(await purge(slices)).toMatchObject([{ kind: "purge", state: "done", progress: { done: 1, total: 1 }, findings: [] }]);
    expect(await countRows(vault!)).toEqual([0, 0, 0]);
    expect(await isListed(vault!)).toBe(false);
    expect(slices.changed.length).toBe(3);
    expect(Math.max(...slices.changed)).toBeLessThanOrEqual(TABLES.length * SLICE_MAX.rows);
  });

  it("loses them when its coordinator was evicted after the commit, and the operator is ended between two steps", async () => {
    await evictDurableObject(env.COORDINATOR.getByName(vault!));
    await killOperator(slices.service);
    await purge(slices);
    expect(await countRows(vault!)).toEqual([0, 0, 0]);
  });

  it("loses them by the cron trigger when the call of the operator was lost", async () => {
    const { vault: other } = await freshVault();
    await addRows(other, ROWS);
    await rebindCoordinator(other, { OPERATOR: LOST_OPERATOR });
    expect((await deletion(other)).status).toBe(204);
    expect(await countRows(other)).toEqual([ROWS, ROWS, ROWS]);
    await runHourly();
    expect(await countRows(other)).toEqual([0, 0, 0]);
    expect(await isListed(other)).toBe(false);
  });

  it("does not hold up another one when D1 refuses its rows, and is named", async () => {
    slices.broken = false;
    await env.DB.prepare(
      `CREATE TRIGGER refuse BEFORE DELETE ON items WHEN old.vault_id = '${vault}' BEGIN SELECT raise(ABORT, 'too big'); END`,
    ).run();
    const { vault: other } = await freshVault();
    await addRows(other, ROWS);
    await rebindCoordinator(other, { OPERATOR: slices.service.bindings.OPERATOR! });
    await deletion(other);
    const jobs = await purge(slices);
    await env.DB.prepare("DROP TRIGGER refuse").run();
    expect(jobs).toMatchObject([{ state: "done", findings: [{ kind: "vault_skipped", vault }] }]);
    expect(await countRows(other)).toEqual([0, 0, 0]);
    expect(await countRows(vault!)).toEqual([ROWS + 1, ROWS, ROWS]);
    await runHourly();
    expect(await countRows(vault!)).toEqual([0, 0, 0]);
  });

  it("keeps its log", async () => {
    slices.broken = false;
    await purge(slices);
    const log = await env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ?").bind(vault).first<number>("n");
    expect(log).toBe(3); // the vault, the Item, the deletion
  });
});

it("a slice ends at 8 MiB of sealed texts, and a larger row goes alone", async () => {
  const { vault } = await freshVault();
  await addRows(vault, 20, 1024 * 1024);
  const slices = await watchSlices(vault);
  await deletion(vault);
  slices.broken = false;
  slices.changed.length = 0;
  await purge(slices);
  // The texts of Files count as well as those of Items.
  expect(Math.max(...slices.changed)).toBeLessThanOrEqual(3 * 8);
  expect(await countRows(vault)).toEqual([0, 0, 0]);
});

it("with a retention of 0 the contents are swept although rows are left, and the rows go all the same", async () => {
  const { vault } = await freshFile(pattern(10));
  const slices = await watchSlices(vault);
  const { OPERATOR } = slices.service.bindings;
  await rebindCoordinator(vault, { FILE_RETENTION_DAYS: 0, OPERATOR: OPERATOR! });
  await deletion(vault);
  advanceClock(2 * MINUTE);
  await runDueAlarms(vault);
  expect([await objectsOf(vault), await countRows(vault), await isListed(vault)]).toEqual([[], [1, 1, 0], true]);
  slices.broken = false;
  await purge(slices);
  expect([await countRows(vault), await isListed(vault)]).toEqual([[0, 0, 0], false]);
});

it("a vault that was restored from a backup keeps its rows, when it was about to lose them", async () => {
  const { vault, items, call } = await freshVault();
  const path = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
  await backUp(vault);
  const slices = await watchSlices(vault);
  await deletion(vault);
  await expect
    .poll(() => inOperator(slices.service, (sql) => sql.exec("SELECT reason FROM jobs").toArray()))
    .toEqual([
      { reason: "unavailable" }, // the job has listed the vault
    ]);
  expect((await restoreBackup({ vault })).status).toBe(200);
  slices.broken = false;
  expect(await purge(slices)).toMatchObject([{ state: "done", findings: [] }]);
  expect((await call("GET", path)).status).toBe(200);
});

it("the id of a deleted vault is not used again, before and after its rows are gone", async () => {
  const create = () => admin("POST", "/v1/admin/vaults", { body: { name: "V" }, headers: { "Idempotency-Key": key } });
  const key = crypto.randomUUID();
  const { id } = (await create()).body;
  await deletion(id);
  expect((await create()).status).toBe(409);
  await runHourly();
  expect((await create()).status).toBe(409);
});

describe("a database that was restored to a minute before the deletion of a vault", () => {
  it.each([
    ["without its record", true],
    ["with its record", false],
  ])("keeps the rows of the vault, which has its row again: %s", async (_, forgotten) => {
    const { vault, items, call } = await freshVault();
    const path = `${items}/${(await call("POST", items, { body: LOGIN })).body.id}`;
    const slices = await watchSlices(vault);
    const restore = await removeRows(vault, ["vaults"]);
    await restore();
    expect((await deletion(vault)).status).toBe(204);
    await restore();
    if (forgotten) await env.DB.prepare("DELETE FROM deleted_vaults WHERE id = ?").bind(vault).run();
    slices.broken = false;
    await purge(slices);
    await runHourly();
    expect((await call("GET", path)).status).toBe(200);
    await env.DB.prepare("DELETE FROM deleted_vaults WHERE id = ?").bind(vault).run();
  });
});

it("rows that come back because D1 is restored in the middle of their deletion are deleted again", async () => {
  const { vault } = await freshVault();
  await addRows(vault, 2 * SLICE_MAX.rows + 1);
  const slices = await watchSlices(vault);
  await deletion(vault);
  const goBack = await snapshotDatabase();
  slices.changed.length = 0;
  slices.after = async () => {
    if (slices.changed.length === 2) await goBack();
  };
  slices.broken = false;
  expect(await purge(slices)).toMatchObject([{ state: "done", findings: [] }]);
  expect(slices.changed).toHaveLength(2 + 3);
  expect([await countRows(vault), await isListed(vault)]).toEqual([[0, 0, 0], false]);
});
