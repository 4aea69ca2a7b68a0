import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import { removeOldSegments } from "../../src/store/activity/retention.ts";
import { filesOf } from "../../src/store/buckets/r2.ts";
import { deliver, drainQueue, entriesOfPages, idsInLog, recordingQueue, runCron, whileNearlyFull } from "../support/activity.ts";
import { countingDatabase, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { snapshotDatabase } from "../support/restore.ts";
import { runs } from "../support/runs.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { QUEUED, UNDER_LOAD } from "../support/waits.ts";

/** The archive of the log, and its export (contract 23.1 to 23.6): each entry is shown once, byte for byte as in the log. */

beforeAll(drainQueue);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const EXPORT = "/v1/admin/activity/export";

interface Entry {
  readonly requestId: string;
  readonly timestamp: string;
  readonly log?: string;
  readonly resource: { readonly vault?: { readonly id: string } };
}

/** All entries, page after page. */
function exported(query = "", limit = 1000, between?: () => Promise<unknown>): Promise<Entry[]> {
  const call: Client = async (method, path) => {
    const reply = await admin(method, path);
    expect(reply.body.length).toBeLessThanOrEqual(limit);
    return reply;
  };
  return entriesOfPages(call, `${EXPORT}?limit=${limit}${query}`, between);
}

const keys = async (): Promise<string[]> => (await env.FILES.list({ prefix: "log/" })).objects.map(({ key }) => key);

const inOrder = (entries: readonly Entry[]) => entries.toSorted((a, b) => (a.requestId < b.requestId ? -1 : 1));

/** A vault with entries of writes and a read, and these as the log of a token shows them. */
async function loggedVault(writes = 3) {
  const fresh = await freshVault();
  for (let write = 0; write < writes; write++) await fresh.call("POST", fresh.items, { body: LOGIN });
  await fresh.call("GET", fresh.items);
  const count = writes + 2;
  const log = await vi.waitFor(async () => {
    const { body } = await fresh.call("GET", "/v1/activity?limit=1000");
    expect(body).toHaveLength(count);
    return body as Entry[];
  }, QUEUED);
  return { ...fresh, log: inOrder(log) };
}

/** As the log shows it. */
const logged = ({ log: _log, ...entry }: Entry): Entry => entry;

/** What an export of a vault shows, in the order of time. */
const ofVault = async (vault: string, limit = 1000) => inOrder((await exported(`&vault=${vault}`, limit)).map(logged));

describe("an entry past the retention", () => {
  it("leaves D1 for the archive, and the export shows it as the log has shown it, byte for byte", async () => {
    const { vault, log } = await loggedVault();
    expect(await ofVault(vault)).toEqual(log);
    advanceClock(31 * DAY);
    await runCron();
    expect(await idsInLog(vault)).toEqual([]);
    expect(JSON.stringify(await ofVault(vault))).toBe(JSON.stringify(log));
  });

  it("comes before the entries of a later day (contract 23.4)", async () => {
    await loggedVault(1);
    const restore = await snapshotDatabase();
    advanceClock(31 * DAY);
    await runCron();
    await freshVault();
    const days = (await exported()).map(({ timestamp }) => timestamp.slice(0, 10));
    await restore();
    expect(days).toEqual(days.toSorted());
    expect(new Set(days).size).toBeGreaterThan(1);
  });

  it("is in clear text no more than in D1: its origin stays sealed", async () => {
    const { vault, call, items } = await loggedVault(0);
    await call("GET", items, { headers: { "User-Agent": "canary-agent" } });
    await vi.waitFor(async () => expect(await idsInLog(vault)).toHaveLength(3), QUEUED);
    advanceClock(31 * DAY);
    await runCron();
    const texts = await Promise.all((await keys()).map(async (key) => (await env.FILES.get(key))!.text()));
    expect(texts.join("")).toContain(vault);
    expect(texts.join("")).not.toContain("canary");
    expect(JSON.stringify(await ofVault(vault))).toContain("canary-agent");
  });

  it("is deleted after ACTIVITY_ARCHIVE_DAYS", async () => {
    const { vault, log } = await loggedVault();
    advanceClock(31 * DAY);
    await runCron();
    advanceClock((365 - 31) * DAY);
    await runCron();
    expect(await ofVault(vault)).toEqual(log);
    advanceClock(DAY);
    await runCron();
    expect(await ofVault(vault)).toEqual([]);
    expect(await keys()).toEqual([]);
  });

  it("is deleted without an archive when ACTIVITY_ARCHIVE_DAYS is 0", async () => {
    const { vault } = await loggedVault();
    advanceClock(31 * DAY);
    await runCron({ ACTIVITY_ARCHIVE_DAYS: 0 });
    expect([await idsInLog(vault), await ofVault(vault)]).toEqual([[], []]);
  });

  it.each([undefined, "", "-1"])("stays when ACTIVITY_ARCHIVE_DAYS is %j, and the run fails", async (days) => {
    const { vault, log } = await loggedVault(0);
    advanceClock(31 * DAY);
    const bindings = { ACTIVITY_ARCHIVE_DAYS: days } as unknown as Partial<Env>;
    await expect(runCron(bindings)).rejects.toThrow("ACTIVITY_ARCHIVE_DAYS is not a number, or less than 0");
    expect(await idsInLog(vault)).toHaveLength(log.length);
  });

  it("stays in D1 while R2 fails, also when the database is nearly full, and the run fails", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { vault, log } = await loggedVault();
    advanceClock(31 * DAY);
    const FILES = wrapBucket({ put: () => Promise.reject(new Error("R2")) });
    await expect(whileNearlyFull((nearlyFull) => runCron({ ...nearlyFull, FILES }))).rejects.toThrow("The hourly run has failed");
    expect(await idsInLog(vault)).toHaveLength(log.length);
    expect(await ofVault(vault)).toEqual(log);
  });

  it("of the deletion of a vault stays in D1, and is shown once", async () => {
    const { vault } = await loggedVault(0);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    advanceClock(31 * DAY);
    await runCron();
    expect(await idsInLog(vault)).toHaveLength(1);
    expect(await ofVault(vault)).toHaveLength(3);
  });
});

/** The D1 calls of the archive, told apart by their SQL. */
const failing = (place: "before" | "after", call: RegExp): Partial<Env> => {
  let matched = false;
  const hook = () => {
    if (!matched) return;
    matched = false;
    throw new Error("D1_ERROR: killed");
  };
  return { DB: wrapDatabase(env.DB, { rewrite: (sql) => ((matched ||= call.test(sql)), sql), [place]: hook }) };
};

describe("a run that is killed", () => {
  it.each<[string, () => Partial<Env>]>([
    ["before the object is written", () => ({ FILES: wrapBucket({ put: () => Promise.reject(new Error("killed")) }) })],
    [
      "after the object was written, without an answer",
      () => ({
        FILES: wrapBucket({
          put: async (...call: Parameters<R2Bucket["put"]>) => {
            await env.FILES.put(...call);
            throw new Error("killed");
          },
        }),
      }),
    ],
    ["before the entries are deleted from D1", () => failing("before", /DELETE FROM activity/)],
    ["after the entries were deleted, without an answer", () => failing("after", /DELETE FROM activity/)],
  ])("%s loses no entry and shows none twice, before the next run and after it", async (_, bindings) => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { vault, log } = await loggedVault();
    advanceClock(31 * DAY);
    await expect(runCron(bindings())).rejects.toThrow(/The hourly run has failed|expired entries|segments/);
    expect(await ofVault(vault)).toEqual(log);
    await runCron();
    expect([await idsInLog(vault), await ofVault(vault)]).toEqual([[], log]);
    await runCron();
    expect(await ofVault(vault)).toEqual(log);
  });

  it("between object and D1 leaves entries that a late entry of the same day does not duplicate", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const { vault, log, call, items } = await loggedVault();
    const { rows, bindings } = recordingQueue();
    await call("GET", items, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    advanceClock(31 * DAY);
    await expect(runCron(failing("before", /DELETE FROM activity/))).rejects.toThrow("expired entries");
    await deliver(rows);
    expect(await ofVault(vault)).toHaveLength(log.length + 1);
    await runCron();
    expect([await idsInLog(vault), (await ofVault(vault)).length]).toEqual([[], log.length + 1]);
  });
});

describe("two runs at once", () => {
  it("archive each entry once", async () => {
    const [a, b] = [await loggedVault(), await loggedVault()];
    advanceClock(31 * DAY);
    await Promise.all([runCron(), runCron(), runCron()]);
    expect([await ofVault(a.vault), await ofVault(b.vault)]).toEqual([a.log, b.log]);
  });
});

/** Delivers the entry of a read of a vault that is past its retention, as a late message of the queue does. */
async function lateEntry({ call, items }: Pick<Awaited<ReturnType<typeof loggedVault>>, "call" | "items">) {
  const { rows, bindings } = recordingQueue();
  await call("GET", items, { env: bindings });
  await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
  advanceClock(31 * DAY);
  return () => deliver(rows);
}

/**
 * A run that waits before it writes an object, after it has read the slice. In: whether it is cut off after the object is written, so
 * that its entries are still in D1.
 */
function pausedRun({ isCutOff = false } = {}) {
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const put: R2Bucket["put"] = async (key: string, ...rest: unknown[]) => {
    if (key.startsWith("log/")) reached.resolve();
    if (key.startsWith("log/")) await resumed.promise;
    const written = await (env.FILES.put as (...values: unknown[]) => Promise<R2Object>)(key, ...rest);
    if (isCutOff) throw new Error("the run is cut off");
    return written;
  };
  const ended = Promise.allSettled([runCron({ FILES: wrapBucket({ put }) })]);
  return { reached: reached.promise, resume: async () => (resumed.resolve(), (await ended)[0].status) };
}

describe("two runs that archive one day", () => {
  it("lose no entry that only the run that was first has read", async () => {
    const vault = await loggedVault();
    const deliverLate = await lateEntry(vault);
    const early = pausedRun();
    await early.reached;
    await deliverLate();
    await runCron();
    expect(await early.resume()).toBe("fulfilled");
    expect([await idsInLog(vault.vault), (await ofVault(vault.vault)).length]).toEqual([[], vault.log.length + 1]);
  });

  it("lose no entry that only the run that was second has read", async () => {
    const vault = await loggedVault();
    const deliverLate = await lateEntry(vault);
    const early = pausedRun({ isCutOff: true });
    await early.reached;
    await deliverLate();
    const late = pausedRun();
    await late.reached;
    expect([await early.resume(), await late.resume()]).toEqual(["rejected", "fulfilled"]);
    expect([await idsInLog(vault.vault), (await ofVault(vault.vault)).length]).toEqual([[], vault.log.length + 1]);
  });
});

describe("a database that was restored to a minute before the archive", () => {
  it("has each entry once after the next run, and before it", async () => {
    const { vault, log } = await loggedVault();
    const restore = await snapshotDatabase();
    advanceClock(31 * DAY);
    await runCron();
    await restore();
    expect(await idsInLog(vault)).toHaveLength(log.length);
    expect(await ofVault(vault)).toEqual(log);
    await runCron();
    expect([await idsInLog(vault), await ofVault(vault)]).toEqual([[], log]);
  });

  it("also when it is restored to an empty one", async () => {
    const restore = await snapshotDatabase();
    const { vault, log } = await loggedVault();
    advanceClock(31 * DAY);
    await runCron();
    await restore();
    expect(await ofVault(vault)).toEqual(log);
  });
});

describe("reads and denials that came while the database was nearly full", () => {
  it("are in the export, and stay until the end of the archive", async () => {
    const { vault, log, call, items } = await loggedVault();
    const { rows, bindings } = recordingQueue();
    for (let read = 0; read < 4; read++) await call("GET", items, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(4), UNDER_LOAD);
    await whileNearlyFull((nearlyFull) => deliver(rows, nearlyFull));
    const all = await ofVault(vault);
    expect(all.map(({ requestId }) => requestId)).toEqual(
      [...log.map(({ requestId }) => requestId), ...rows.map(({ id }) => id)].toSorted(),
    );
    for (const limit of [1, 2, 3]) expect(await ofVault(vault, limit)).toEqual(all);
    advanceClock(200 * DAY);
    await runCron();
    expect(await ofVault(vault)).toEqual(all);
  });
});

describe("the export", () => {
  let vaults: Awaited<ReturnType<typeof loggedVault>>[] = [];
  let everything: Entry[] = [];

  beforeAll(async () => {
    vaults = [await loggedVault(2), await loggedVault(4), await loggedVault(1)];
    await client(vaults[0]!.token)("GET", "/v1/vaults");
    await vi.waitFor(async () => {
      if ((await exported()).every(({ resource }) => resource.vault)) throw new Error("the entry of the list is not there yet");
    }, QUEUED);
    everything = await exported();
  });

  it("without a vault has all logs: those of vaults, of tokens and of the admin, each entry once", async () => {
    const ids = everything.map(({ requestId }) => requestId);
    for (const { vault, log } of vaults) for (const entry of log) expect(everything).toContainEqual({ ...entry, log: vault });
    const { results } = await env.DB.prepare("SELECT id FROM activity").all<{ id: string }>();
    for (const { id } of results) expect(ids).toContain(id);
    const adminIds = (await admin("GET", "/v1/admin/activity?limit=1000")).body.map((entry: Entry) => entry.requestId);
    const ofAdmin = everything.filter(({ log }) => log === "admin").map(({ requestId }) => requestId);
    expect(ofAdmin.slice(-adminIds.length)).toEqual(adminIds.toReversed());
    expect(new Set(everything.map(({ log, requestId }) => `${log}/${requestId}`)).size).toBe(everything.length);
  });

  it.each([runs(25, 5), 100])("is the same in pages of %i", async (limit) => {
    expect(await exported("", limit)).toEqual(everything);
  });

  it("shows each entry once while runs archive what it has shown, and what it has not", async () => {
    const restore = await snapshotDatabase();
    advanceClock(31 * DAY);
    let pages = 0;
    const DB = wrapDatabase(env.DB, { rewrite: (sql) => sql.replaceAll("LIMIT 5000", "LIMIT 5") });
    const shown = await exported(`&until=${new Date().toISOString()}`, 10, () =>
      pages++ % 2 === 0 ? runCron({ DB }).catch(() => undefined) : Promise.resolve(),
    );
    const ids = shown.map(({ requestId }) => requestId);
    expect(new Set(everything.map(({ requestId }) => requestId)).difference(new Set(ids)).size).toBe(0);
    const { results } = await env.DB.prepare("SELECT vault_id, id FROM activity").all();
    expect(results.length).toBeLessThan(everything.length);
    const places = shown.map((entry) => JSON.stringify(entry));
    expect(new Set(places).size).toBe(places.length);
    vi.useRealTimers();
    await restore();
  });

  it("has the entries from since on and before until", async () => {
    const { vault, log } = vaults[1]!;
    const [, second, third] = log;
    const between = await exported(`&vault=${vault}&since=${second!.timestamp}&until=${third!.timestamp}`);
    expect(inOrder(between.map(logged))).toEqual(
      log.filter((entry) => entry.timestamp >= second!.timestamp && entry.timestamp < third!.timestamp),
    );
    expect(await exported("&until=2020-01-01T00:00:00Z")).toEqual([]);
    expect(await exported("&since=2999-01-01T00:00:00Z&until=9999-12-31T23:59:59Z")).toEqual([]);
  });

  it("counts an empty filter as absent", async () => {
    const undocumented = "an empty filter";
    const { status, body } = await admin("GET", `${EXPORT}?limit=1000&vault=&since=&until=`, { undocumented });
    expect([status, body]).toEqual([200, (await admin("GET", `${EXPORT}?limit=1000`)).body]);
  });

  it.each([
    "limit=0",
    "since=yesterday",
    "until=2020",
    "since=1960-01-01T00:00:00Z",
    "vault=one",
    "cursor=e30",
    "cursor=-",
    `cursor=${btoa('{"day":"2026-13-45","place":["",""]}').replaceAll("=", "")}`,
  ])("refuses %s", async (query) => {
    expect((await admin("GET", `${EXPORT}?${query}`)).status).toBe(400);
  });

  it("is for the admin only", async () => {
    expect((await vaults[0]!.call("GET", EXPORT)).status).toBe(401);
    expect((await client((await makeToken({})).token)("GET", EXPORT)).status).toBe(401);
  });

  it("makes at most 50 calls for a page, and reads at most twice the rows of the page and three for each log", async () => {
    const { count, db } = countingDatabase();
    await admin("GET", `${EXPORT}?limit=10`, { env: { DB: db } });
    const { results } = await env.DB.prepare("SELECT DISTINCT vault_id FROM activity").all();
    expect(count.calls).toBeLessThanOrEqual(40);
    expect(count.rowsRead).toBeLessThanOrEqual(4 * 10 + 10 * results.length + 20);
  });
});

describe("reads that the clean-up moves while a page of the export is read", () => {
  it.each(["list", "query"])("are in the export, moved at any call: after each %s", async (kind) => {
    for (let at = 0, moved = true; moved; at++) {
      moved = false;
      const { vault } = await freshVault();
      const day = Date.now() - (20 + at) * DAY;
      const id = operationId(day, crypto.getRandomValues(new Uint8Array(10)));
      const origin = { userAgent: "", requestIp: "" };
      const read = { action: "READ", result: "SUCCESS", actor: "admin", item: null, version: null } as const;
      await deliver([{ ...read, id, log: vault, origin }]);
      let calls = 0;
      const move = async () => {
        if (calls++ !== at) return;
        moved = true;
        await removeOldSegments(env.DB, filesOf(env), Date.now() - 10 * DAY, () => true);
      };
      const listed = new Proxy(env.FILES, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown;
          if (typeof value !== "function") return value;
          return async (...values: unknown[]) => {
            const answer = (await value.apply(target, values)) as unknown;
            if (name === "list") await move();
            return answer;
          };
        },
      });
      const bindings = kind === "list" ? { FILES: listed } : { DB: wrapDatabase(env.DB, { after: move }) };
      const range = `since=${new Date(day - 1_000).toISOString()}&until=${new Date(day + 1_000).toISOString()}`;
      const { body } = await admin("GET", `${EXPORT}?vault=${vault}&limit=1000&${range}`, { env: bindings });
      expect((body as Entry[]).filter(({ requestId }) => requestId === id)).toHaveLength(1);
      expect(at).toBeLessThan(40);
    }
  });
});
