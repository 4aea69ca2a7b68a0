import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { type ActivityMessage, enqueueActivity } from "../../src/store/activity/queue.ts";
import { deliver, fillLog, idOf, readLog, recordingQueue } from "../support/activity.ts";
import { countingDatabase, rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { DAY, advanceClock } from "../support/faults.ts";
import { admin, client, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { UNDER_LOAD, until } from "../support/waits.ts";

/**
 * The activity log: each request has one entry, whatever the queue does; the log never makes a request fail; entries are
 * kept for the retention time (contract 13.7, 13.8, 13.10).
 */

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const failingD1 = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });

const entriesOf = async (vault: string) =>
  (await env.DB.prepare("SELECT id, result FROM activity WHERE vault_id = ?").bind(vault).all<{ id: string }>()).results;

/** A vault that was read once, and the rows that this read sent to the queue. */
async function readOnce() {
  const fresh = await freshVault();
  const { rows, bindings } = recordingQueue();
  await fresh.call("GET", fresh.items, { env: bindings });
  await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
  await readLog(fresh.call, 2);
  return { ...fresh, rows };
}

describe("the queue", () => {
  it("may deliver a row twice, in one batch or in two: the log has one entry", async () => {
    const { vault, call, rows } = await readOnce();
    await deliver(rows);
    await deliver([...rows, ...rows]);
    await readLog(call, 2);
    expect(await entriesOf(vault)).toHaveLength(2);
  });

  it("gets an error for a batch that D1 does not insert, and may deliver it again", async () => {
    const { vault, rows } = await readOnce();
    const [row] = rows;
    const other = { ...row!, id: row!.id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")) };
    await expect(deliver([other], { DB: failingD1 })).rejects.toThrow("activity could not be inserted");
    expect(await entriesOf(vault)).toHaveLength(2);
    await deliver([other]);
    expect(await entriesOf(vault)).toHaveLength(3);
  });

  it("may fail without an effect on the request", async () => {
    const { items, call } = await freshVault();
    const ACTIVITY = { send: () => Promise.reject(new Error("queue")) } as unknown as Env["ACTIVITY"];
    expect((await call("GET", items, { env: { ACTIVITY } })).status).toBe(200);
  });

  it("gets the rows of concurrent reads in few messages of at most 64 rows", async () => {
    const { items, call } = await freshVault();
    // The rows that wait to be sent together do so until all requests have added theirs.
    const { setTimeout: timeout } = globalThis;
    const waiting: (() => void)[] = [];
    vi.stubGlobal("setTimeout", (run: () => void, delay = 0) => (delay === 200 ? waiting.push(run) : timeout(run, delay)));
    const sizes: number[] = [];
    const ACTIVITY = { send: async (message: ActivityMessage) => void sizes.push(message.length) } as unknown as Env["ACTIVITY"];
    await Promise.all(Array.from({ length: 150 }, () => call("GET", items, { env: { ACTIVITY } })));
    await until(() => waiting.length + sizes.length === 150);
    for (const run of waiting) run();
    await until(() => sizes.length === 3);
    expect(sizes).toEqual([64, 64, 22]);
  });

  it("gets the row of a request that ended before it sent the row, together with that of the next request", async () => {
    const { rows } = await readOnce();
    const sent: number[] = [];
    const queue = { send: async (message: ActivityMessage) => void sent.push(message.length) } as unknown as Env["ACTIVITY"];
    const stoppedTimer = vi.spyOn(globalThis, "setTimeout").mockImplementationOnce(() => 0);
    void enqueueActivity(queue, rows[0]!);
    stoppedTimer.mockRestore();
    await enqueueActivity(queue, rows[0]!);
    expect(sent).toEqual([2]);
  });

  it("gets no denials of a token beyond the rate limit, so that a token without permissions cannot fill the log", async () => {
    const { items } = await freshVault();
    const { rows, bindings } = recordingQueue();
    const keys: string[] = [];
    const FAILURE_RATE: RateLimit = {
      async limit({ key }) {
        keys.push(key);
        return { success: false };
      },
    };
    const { id, token } = await makeToken({});
    expect((await client(token)("GET", items, { env: { ...bindings, FAILURE_RATE } })).status).toBe(404);
    await vi.waitFor(() => expect(keys).toEqual([id]), UNDER_LOAD);
    await sleep(300); // longer than rows wait to be sent together
    expect(rows).toEqual([]);
  });

  it("costs one D1 call a batch", async () => {
    const { rows } = await readOnce();
    const { count, db } = countingDatabase();
    await deliver(
      Array.from({ length: 100 }, () => rows[0]!),
      { DB: db },
    );
    expect(count.calls).toBe(1);
  });

  it("adds no entry for a vault that does not exist", async () => {
    const { rows } = await readOnce();
    const vault = crypto.randomUUID();
    await deliver([{ ...rows[0]!, log: vault }]);
    expect(await entriesOf(vault)).toEqual([]);
  });

  it("adds no entry to the log of a deleted vault", async () => {
    const { vault, rows } = await readOnce();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await deliver([{ ...rows[0]!, id: rows[0]!.id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")) }]);
    expect(await entriesOf(vault)).toHaveLength(3);
  });
});

describe("a write", () => {
  it("is in the log if and only if it took effect, also when D1 fails before or after its commit", async () => {
    const { vault, items, call } = await freshVault();
    let calls = 0;
    const failing = () => {
      if (++calls % 3 === 0) throw new Error("D1_ERROR: Network connection lost.");
    };
    for (const hooks of [{ before: failing }, { after: failing }]) {
      await rebindCoordinator(vault, { DB: wrapDatabase(env.DB, hooks) });
      await Promise.all(Array.from({ length: 10 }, () => call("POST", items, { body: LOGIN })));
    }
    const { body } = await call("GET", `/v1/vaults/${vault}`);
    const written = (await entriesOf(vault)).length - 1; // minus the entry of the vault's creation
    expect([body.items, body.contentVersion]).toEqual([written, written]);
  });
});

describe("a row of the log", () => {
  it.each([
    ["another log", "vault_id"],
    ["another entry", "id"],
  ])("that was moved to %s does not open: the log has a broken entry in its place", async (_, column) => {
    const [a, b] = [await readOnce(), await freshVault()];
    const reader = client((await makeToken({ [a.vault]: "r", [b.vault]: "r" })).token);
    const to = column === "vault_id" ? b.vault : a.rows[0]!.id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
    await env.DB.prepare(`UPDATE activity SET ${column} = ?1 WHERE id = ?2`).bind(to, a.rows[0]!.id).run();
    const requestId = column === "id" ? to : a.rows[0]!.id;
    const entry = (await reader("GET", "/v1/activity")).body.find((one: { requestId: string }) => one.requestId === requestId);
    expect(entry).toEqual({ requestId, timestamp: expect.any(String), broken: "integrity" });
  });
});

/** Runs the scheduled handler, as the cron trigger does every hour. */
const runCron = (bindings: Partial<Env> = {}) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date() }), { ...env, ...bindings });

/** Creates a vault with an Idempotency-Key that is the same in each call. */
const createVaultWithKey = () =>
  admin("POST", "/v1/admin/vaults", { body: { name: "V" }, headers: { "Idempotency-Key": "activity" } });

/** The rows that one run of the scheduled handler reads. */
async function rowsReadByCron(): Promise<number> {
  const { count, db } = countingDatabase();
  await runCron({ DB: db });
  return count.rowsRead;
}

describe("ACTIVITY_RETENTION_DAYS", () => {
  it("is how long an entry is kept: the cron trigger deletes older entries and no others", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    advanceClock(20 * DAY);
    await call("POST", items, { body: LOGIN });
    advanceClock(9 * DAY);
    await runCron();
    expect(await entriesOf(vault)).toHaveLength(3);
    advanceClock(2 * DAY);
    await runCron();
    expect(await entriesOf(vault)).toHaveLength(1);
  });

  it("does not apply to the entry of a vault's deletion, so that the id is never used again", async () => {
    const { body } = await createVaultWithKey();
    await admin("DELETE", `/v1/admin/vaults/${body.id}`);
    advanceClock(100 * DAY);
    await runCron();
    expect((await entriesOf(body.id)).length).toBe(1);
    expect((await createVaultWithKey()).status).toBe(409);
  });

  it.each(["", "0", "-1", "ninety"])("of %j makes the run fail, and no entry is deleted", async (days) => {
    const { vault } = await freshVault();
    advanceClock(100 * DAY);
    const bindings = { ACTIVITY_RETENTION_DAYS: days } as unknown as Partial<Env>;
    await expect(runCron(bindings)).rejects.toThrow("ACTIVITY_RETENTION_DAYS is not a number, or less than 1");
    expect(await entriesOf(vault)).toHaveLength(1);
  });

  it("does not make the run read the entries that are kept", async () => {
    const { items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const few = await rowsReadByCron();
    for (let made = 0; made < 20; made++) await call("POST", items, { body: LOGIN });
    expect(await rowsReadByCron()).toBe(few);
  });
});

describe("GET /v1/activity", () => {
  it("takes one D1 call; each entry outside the page costs one row, for the total", async () => {
    const { items, call } = await freshVault();
    const read = async () => {
      const { count, db } = countingDatabase();
      expect((await call("GET", "/v1/activity?limit=5", { env: { DB: db } })).body).toHaveLength(5);
      return count;
    };
    await Promise.all(Array.from({ length: 20 }, () => call("POST", items, { body: LOGIN })));
    const short = await read();
    await Promise.all(Array.from({ length: 20 }, () => call("POST", items, { body: LOGIN })));
    const long = await read();
    expect([short.calls, long.calls]).toEqual([1, 1]);
    expect(long.rowsRead - short.rowsRead).toBe(20);
  });

  it("has the total of up to 1,000 entries in Content-Range, and * beyond", async () => {
    const { vault, call } = await freshVault();
    const range = async () => (await call("GET", "/v1/activity?limit=1")).headers.get("Content-Range");
    await fillLog(
      vault,
      Array.from({ length: 999 }, (_, place) => idOf(place)),
    );
    expect(await range()).toBe("1-1/1000");
    await fillLog(vault, [idOf(999)]);
    expect(await range()).toBe("1-1/*");
  });
});
