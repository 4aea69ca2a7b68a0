import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Activity } from "../../src/model/activity.ts";
import { timeOf } from "../../src/model/ids.ts";
import { createRequestId } from "../../src/request-id.ts";
import { addEntry, flushBatch, type FlushMessage } from "../../src/store/activity/flush.ts";
import {
  deliver,
  deliverMessages,
  fillLog,
  idOf,
  messageOf,
  readLog,
  recordingQueue,
  entryOf,
  idsInLog,
  runCron,
} from "../support/activity.ts";
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

/** A vault that was read once, and the message that a flush of this read would send to the queue. */
async function readOnce() {
  const fresh = await freshVault();
  const { rows, bindings } = recordingQueue();
  await fresh.call("GET", fresh.items, { env: bindings });
  await until(() => rows.length === 1);
  const message = await messageOf([rows[0]!]);
  await deliverMessages([message]);
  await readLog(fresh.call, 2);
  return { ...fresh, entry: rows[0]!, message };
}

/** A read that nobody has flushed. */
const again = (entry: Activity): Activity => ({ ...entry, id: createRequestId(timeOf(entry.id)) });

const daysOf = (id: string) => Math.floor(timeOf(id) / DAY);

describe("the queue", () => {
  it("may deliver a message twice, in one batch or in two: the log shows one entry", async () => {
    const { vault, call, message } = await readOnce();
    await deliverMessages([message]);
    await deliverMessages([message, message]);
    expect((await call("GET", "/v1/activity")).body).toHaveLength(2);
    expect(await idsInLog(vault)).toHaveLength(2);
  });

  it("gets an error for a message that D1 does not take, and may deliver it again", async () => {
    const { vault, entry } = await readOnce();
    const other = await messageOf([again(entry)]);
    await expect(deliverMessages([other], { DB: failingD1 })).rejects.toThrow("could not insert entries of the log");
    expect(await idsInLog(vault)).toHaveLength(2);
    await deliverMessages([other]);
    expect(await idsInLog(vault)).toHaveLength(3);
  });

  it("adds no entry for a vault that does not exist", async () => {
    const { entry } = await readOnce();
    const vault = crypto.randomUUID();
    await deliver([{ ...entry, log: vault }]);
    expect(await idsInLog(vault)).toEqual([]);
  });

  it("adds to the log of a deleted vault what was done before the deletion, and nothing else", async () => {
    const { vault, entry } = await readOnce();
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await deliver([again(entry)]);
    expect(await idsInLog(vault)).toHaveLength(4);
    await deliver([{ ...entry, id: createRequestId(Date.now() + 1_000) }]);
    expect(await idsInLog(vault)).toHaveLength(4);
  });

  it("adds to the log of a revoked token what was done before it was revoked, and nothing else", async () => {
    const { id } = await makeToken({});
    const read = entryOf(id, { actor: id });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await deliver([read]);
    await deliver([entryOf(id, { actor: id, id: createRequestId(Date.now() + 1_000) })]);
    expect(await idsInLog(id)).toEqual([read.id]);
  });
});

/** A queue of its own, which makes a batch of its own, and the messages that it gets. */
function ownQueue(send?: () => Promise<never>) {
  const messages: FlushMessage[] = [];
  const ACTIVITY = { send: send ?? (async (message: FlushMessage) => void messages.push(message)) } as unknown as Env["ACTIVITY"];
  return { messages, bindings: { ACTIVITY } as Partial<Env> };
}

describe("a flush", () => {
  it("has the entries of the requests of two seconds, at most 64, and costs one D1 call and one row for each log", async () => {
    const { vault, items, call } = await freshVault();
    const { messages, bindings } = ownQueue();
    const { count, db } = countingDatabase();
    // The entries wait until all requests have added theirs.
    const { setTimeout: timeout } = globalThis;
    const waiting: (() => void)[] = [];
    vi.stubGlobal("setTimeout", (run: () => void, delay = 0) => (delay === 2_000 ? waiting.push(run) : timeout(run, delay)));
    await Promise.all(Array.from({ length: 150 }, () => call("GET", items, { env: bindings })));
    await until(() => waiting.length === 148); // two batches were full
    const flushed = addEntry({ ...env, ...bindings, DB: db }, entryOf(vault));
    await until(() => waiting.length === 149);
    waiting.at(-1)!();
    await flushed;
    for (const run of waiting) run();
    await vi.waitFor(async () => expect(await idsInLog(vault)).toHaveLength(152), UNDER_LOAD);
    // Two rows at the end of a cell of four seconds.
    expect([messages, count.calls, count.rowsWritten <= 2]).toEqual([[], 1, true]);
  });

  it("has the entry of a request that ended before it, together with that of the next request", async () => {
    const { vault, entry } = await readOnce();
    const { bindings } = ownQueue();
    const stoppedTimer = vi.spyOn(globalThis, "setTimeout").mockImplementationOnce(() => 0);
    void addEntry({ ...env, ...bindings }, again(entry));
    stoppedTimer.mockRestore();
    vi.stubGlobal("setTimeout", (run: () => void) => queueMicrotask(run));
    await addEntry({ ...env, ...bindings }, again(entry));
    vi.unstubAllGlobals();
    expect(await idsInLog(vault)).toHaveLength(4);
  });

  it("hands its entries to the queue when D1 fails, also when D1 has stored them: the log has each once", async () => {
    const { vault, entry } = await readOnce();
    const lost = wrapDatabase(env.DB, { after: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    for (const DB of [failingD1, lost]) {
      const { messages, bindings } = ownQueue();
      void addEntry({ ...env, ...bindings }, again(entry));
      await flushBatch({ ...env, ...bindings, DB });
      expect(messages).toHaveLength(1);
      await deliverMessages(messages);
    }
    expect(await idsInLog(vault)).toHaveLength(4);
  });

  it("that fails, and whose queue fails, has no effect on the request", async () => {
    const { items, call } = await freshVault();
    const { bindings } = ownQueue(() => Promise.reject(new Error("queue")));
    expect((await call("GET", items, { env: bindings })).status).toBe(200);
    await flushBatch({ ...env, ...bindings, DB: failingD1 });
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
    await sleep(100);
    expect(rows).toEqual([]);
  });

  it("of entries of two days has a hand-over for each, sealed under the key of its day", async () => {
    const { entry } = await readOnce();
    const midnight = Math.floor(timeOf(entry.id) / DAY) * DAY;
    const atMidnight = (time: number) => ({ ...entry, id: createRequestId(time) });
    const { handOvers } = await messageOf([atMidnight(midnight - 1), atMidnight(midnight)]);
    expect(handOvers.map(({ first, entries }) => [daysOf(first), entries])).toEqual([
      [midnight / DAY - 1, 1],
      [midnight / DAY, 1],
    ]);
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
    const written = (await idsInLog(vault)).length - 1; // minus the entry of the vault's creation
    expect([body.items, body.contentVersion]).toEqual([written, written]);
  });
});

/** Broken entries in place of those that do not open (contract 13.27). */
describe("a segment", () => {
  it("that was moved to another log does not open: the log has broken entries in its place", async () => {
    const [a, b] = [await readOnce(), await freshVault()];
    const reader = client((await makeToken({ [a.vault]: "r", [b.vault]: "r" })).token);
    await env.DB.prepare("UPDATE log_segments SET vault_id = ?1 WHERE vault_id = ?2").bind(b.vault, a.vault).run();
    const { body } = await reader("GET", "/v1/activity");
    const requestId = a.entry.id;
    const entry = body.find((one: { requestId: string }) => one.requestId === requestId);
    expect(entry).toEqual({ requestId, timestamp: expect.any(String), broken: "integrity" });
  });

  it("has a broken entry in place of one whose id was changed, and of a line that is damaged, which costs no other line", async () => {
    const { vault, entry, call } = await readOnce();
    const entries = [again(entry), again(entry), again(entry)];
    for (const one of entries) await deliver([one]);
    const changed = entries[0]!.id.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
    const damaged = "replace(replace(lines, ?2, ?3), '[[\"' || ?4, '[\"' || ?4)";
    await env.DB.prepare(`UPDATE log_segments SET lines = ${damaged} WHERE vault_id = ?1`)
      .bind(vault, entries[0]!.id, changed, entries[1]!.id)
      .run();
    const { body } = await call("GET", "/v1/activity");
    const broken = body.filter((one: object) => "broken" in one).map(({ requestId }: { requestId: string }) => requestId);
    expect(broken).toHaveLength(2);
    expect(broken).toEqual(expect.arrayContaining([changed, expect.stringMatching(/^[0-9a-f-]{36}\.\d+\.\d$/)]));
    const sound = body.map(({ requestId }: { requestId: string }) => requestId);
    expect(sound).toEqual(expect.arrayContaining([entry.id, entries[2]!.id]));
    expect(body).toHaveLength(5);
  });
});

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
    expect(await idsInLog(vault)).toHaveLength(3);
    advanceClock(2 * DAY);
    await runCron();
    expect(await idsInLog(vault)).toHaveLength(1);
  });

  it("does not apply to the entry of a vault's deletion, so that the id is never used again", async () => {
    const { body } = await createVaultWithKey();
    await admin("DELETE", `/v1/admin/vaults/${body.id}`);
    advanceClock(100 * DAY);
    await runCron();
    expect((await idsInLog(body.id)).length).toBe(1);
    expect((await createVaultWithKey()).status).toBe(409);
  });

  it.each(["", "0", "-1", "ninety"])("of %j makes the run fail, and no entry is deleted", async (days) => {
    const { vault } = await freshVault();
    advanceClock(100 * DAY);
    const bindings = { ACTIVITY_RETENTION_DAYS: days } as unknown as Partial<Env>;
    await expect(runCron(bindings)).rejects.toThrow("ACTIVITY_RETENTION_DAYS is not a number, or less than 1");
    expect(await idsInLog(vault)).toHaveLength(1);
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
