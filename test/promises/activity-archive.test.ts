import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { operationId, timeOf } from "../../src/model/ids.ts";
import { cleanUp } from "../../src/scheduled.ts";
import type { FlushMessage } from "../../src/store/activity/flush.ts";
import { recordDatabaseSize } from "../../src/store/d1/size.ts";
import { deliverMessages, entryOf, idsInLog, messageOf, pagesOf, runCron, whileNearlyFull } from "../support/activity.ts";
import { countingDatabase, type Hooks, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY, HOUR } from "../support/faults.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";

/** A database that is nearly full: the queue's consumer writes reads and denials to R2 (contract 23.1, docs/operations.md). */

afterEach(() => void vi.useRealTimers());

/** Delivers messages while the database is nearly full. */
const deliverNearlyFull = (
  messages: readonly FlushMessage[],
  more: Partial<Env> = {},
  ack?: (body: FlushMessage) => unknown,
): Promise<void> => whileNearlyFull((bindings) => deliverMessages(messages, { ...bindings, ...more }, ack));

const archived = async (): Promise<string[]> => (await env.FILES.list({ prefix: "log/" })).objects.map(({ key }) => key);

const runWith = (ACTIVITY_ARCHIVE_DAYS: number) => runCron({ ACTIVITY_ARCHIVE_DAYS });

/** What a flush has of a read and of a denial in the log of a vault, and of what the admin does. */
async function makeMessages() {
  const fresh = await freshVault();
  const entries = [entryOf(fresh.vault, {}), entryOf(fresh.vault, { action: "CREATE", result: "DENY" })];
  const write = entryOf(NOWHERE, { action: "UPDATE", resource: "VAULT", item: fresh.vault });
  const messages = [await messageOf([entries[0]!, write]), await messageOf([entries[1]!])];
  return { ...fresh, messages, entries, write };
}

const dayOf = (id: string): string => new Date(timeOf(id)).toISOString().slice(0, 10);

describe("while the database is nearly full", () => {
  it("reads and denials go to R2, one object for each hand-over, and what else the admin does to D1", async () => {
    const { vault, messages, entries, write } = await makeMessages();
    const before = await archived();
    await deliverNearlyFull(messages);
    const keys = (await archived()).filter((one) => !before.includes(one));
    expect(keys).toEqual(entries.map(({ id }) => `log/${dayOf(id)}/late/${vault}/${id}`));
    const ids = await idsInLog(vault);
    expect([ids.includes(entries[0]!.id), ids.includes(entries[1]!.id)]).toEqual([false, false]);
    expect(await idsInLog(NOWHERE)).toContain(write.id);
    const objects = await Promise.all(keys.map(async (key) => (await env.FILES.get(key))!.json()));
    expect(objects).toEqual(
      messages.flatMap(({ handOvers }) => handOvers.map(({ log, first: id, line: lines }) => [{ log, id, lines }])),
    );
  });

  it("a message that is delivered again is one object", async () => {
    const { messages } = await makeMessages();
    const before = (await archived()).length;
    await deliverNearlyFull(messages);
    await deliverNearlyFull(messages.slice(1));
    expect(await archived()).toHaveLength(before + 2);
  });

  it("a message that an earlier delivery has brought to D1 is in the export once, and the other way round", async () => {
    const { vault, messages, entries } = await makeMessages();
    await deliverMessages(messages.slice(0, 1));
    await deliverNearlyFull(messages);
    await deliverMessages(messages);
    const exported = await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}`);
    expect(exported.filter((id) => entries.some((entry) => entry.id === id))).toEqual(entries.map(({ id }) => id));
  });

  it("a message whose rows D1 does not take is not archived: the queue delivers it again", async () => {
    const { messages } = await makeMessages();
    const before = (await archived()).length;
    let inserts = false;
    const hooks: Hooks = {
      rewrite: (sql) => ((inserts ||= sql.includes("INSERT INTO activity")), sql),
      before: () => {
        if (inserts) throw new Error("D1_ERROR: D1 DB is overloaded.");
      },
    };
    const delivered = whileNearlyFull(({ DB }) => deliverMessages(messages.slice(0, 1), { DB: wrapDatabase(DB!, hooks) }));
    await expect(delivered).rejects.toThrow("could not insert");
    expect(await archived()).toHaveLength(before);
  });

  it("a message that R2 does not take is delivered again", async () => {
    const { messages } = await makeMessages();
    const FILES = wrapBucket({ put: () => Promise.reject(new Error("R2")) });
    await expect(deliverNearlyFull(messages, { FILES })).rejects.toThrow("A message of the log has failed");
  });
});

it("a message that cannot be stored does not keep the others of its batch from being acknowledged", async () => {
  const { messages } = await makeMessages();
  const [first, second] = messages as [FlushMessage, FlushMessage];
  const refused = first.handOvers[0]!.first;
  const FILES = wrapBucket({
    put: (...call: Parameters<R2Bucket["put"]>) => {
      if (call[0].endsWith(refused)) throw new Error("R2");
      return env.FILES.put(...call);
    },
  });
  const acknowledged: FlushMessage[] = [];
  const delivered = deliverNearlyFull([first, second], { FILES }, (body) => acknowledged.push(body));
  await expect(delivered).rejects.toThrow("A message of the log has failed");
  expect(acknowledged).toEqual([second]);
});

it("an entry that comes a day late is in the pages and in the export, also when D1 is lost then", async () => {
  const { vault, entries, call, messages } = await makeMessages();
  const ids = entries.map(({ id }) => id);
  advanceClock(DAY + HOUR); // in the first hour of a day, the day before may still get entries
  await runWith(90);
  await deliverMessages(messages);
  expect(await pagesOf(call, "/v1/activity")).toEqual(expect.arrayContaining(ids));
  await env.DB.prepare("DELETE FROM log_segments").run();
  expect(await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}`)).toEqual(expect.arrayContaining(ids));
});

it("reads and denials go to D1 again as soon as the database has room", async () => {
  const { vault, messages, entries } = await makeMessages();
  recordDatabaseSize(9_900_000_000);
  await deliverMessages(messages); // the isolate has made no D1 call since
  const ids = await idsInLog(vault);
  expect(entries.map(({ id }) => ids.includes(id))).toEqual([true, true]);
});

it.each([
  [0, 30],
  [20, 30],
  [40, 40],
])("with ACTIVITY_ARCHIVE_DAYS = %i the objects are deleted after %i days", async (setting, days) => {
  const { messages } = await makeMessages();
  await deliverNearlyFull(messages);
  advanceClock(days * DAY);
  await runWith(setting);
  expect(await archived()).not.toEqual([]);
  advanceClock(1 * DAY);
  await runWith(setting);
  expect(await archived()).toEqual([]);
});

describe.each([
  "",
  "-",
  "not an id",
  "0192ABCD-0000-7000-8000-000000000000",
  "0192abcd00000-7000-8000-00000000000",
  "ffffffff-ffff-7fff",
])("the entry of a log whose id is %j", (id) => {
  it.each([
    ["deleted", 0],
    ["archived", 90],
  ])("keeps no other entry from being %s or exported", async (_, archiveDays) => {
    const { vault, messages, call, items } = await makeMessages();
    await call("POST", items, { body: LOGIN });
    await deliverMessages(messages);
    const sound = await idsInLog(vault);
    await env.DB.prepare(
      `INSERT INTO activity SELECT vault_id, ?2, action, result, actor, item_id, version, root_key_id, sealed, resource, NULL, at, event
         FROM activity WHERE vault_id = ?1 LIMIT 1`,
    )
      .bind(vault, id)
      .run();
    try {
      const reply = await admin("GET", `/v1/admin/activity/export?limit=1000&vault=${vault}`);
      expect(reply.status).toBe(200);
      const times = sound.filter((one) => one[14] === "7");
      expect(reply.body.map(({ requestId }: { requestId: string }) => requestId)).toEqual(expect.arrayContaining(times));
      advanceClock(31 * DAY);
      await runWith(archiveDays);
      expect((await idsInLog(vault)).filter((one) => times.includes(one))).toEqual([]);
    } finally {
      await env.DB.prepare("DELETE FROM activity WHERE vault_id = ?1").bind(vault).run();
    }
  });
});

it("the reads of a day are in the export from the day after on, also when D1 is lost then", async () => {
  advanceClock(100 * DAY);
  const { vault, entries, messages } = await makeMessages();
  await deliverMessages(messages);
  advanceClock(1 * DAY + 2 * 3_600_000);
  await runWith(90);
  await env.DB.prepare("DELETE FROM log_segments").run();
  const exported = await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}`);
  expect(exported).toEqual(expect.arrayContaining(entries.map(({ id }) => id)));
});

const segmentsLeft = () => env.DB.prepare("SELECT count(*) AS n FROM log_segments").first<number>("n");

/** Inserts a segment of a day into each log, past the service. Its text is hexadecimal digits. */
async function insertSegments(logs: readonly string[], daysAgo: number, bytes: string): Promise<void> {
  const idOf = () => operationId(Date.now() - daysAgo * DAY, crypto.getRandomValues(new Uint8Array(10)));
  const sql = `
  INSERT INTO log_segments (vault_id, id, entries, lines)
  SELECT value ->> 0, value ->> 1, 1, CAST(unhex(?2) AS TEXT) FROM json_each(?1)`;
  await env.DB.prepare(sql)
    .bind(JSON.stringify(logs.map((log) => [log, idOf()])), bytes)
    .run();
}

const logsOf = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID());

/** Runs the clean-up. Returns its calls of D1, and the count of objects that it puts into R2. */
async function run() {
  let puts = 0;
  const FILES = wrapBucket({ put: (...call: Parameters<R2Bucket["put"]>) => (puts++, env.FILES.put(...call)) });
  const { count, db } = countingDatabase();
  await cleanUp({ ...env, DB: db, FILES }, Date.now());
  return { calls: count.calls, puts };
}

describe("the hourly run (contract 23.8)", () => {
  beforeEach(async () => void (await env.DB.prepare("DELETE FROM log_segments").run()));

  it("segments whose text is damaged UTF-8 are archived as the others are, and hold up none of them", async () => {
    await insertSegments(logsOf(10), 40, "7b7dff");
    await insertSegments(logsOf(10), 40, "7b7d");
    await cleanUp(env, Date.now());
    expect(await segmentsLeft()).toBe(0);
  });

  it("a run archives 720 segments of three days as few objects, with at most 50 calls of D1", async () => {
    const logs = logsOf(240);
    for (const daysAgo of [36, 38, 37]) await insertSegments(logs, daysAgo, "7b7d");
    const { calls, puts } = await run();
    expect([calls <= 50, puts < 10, await segmentsLeft()]).toEqual([true, true, 0]);
  });

  it("the segments of each day leave D1 within its runs, also those of the logs with the last ids", async () => {
    const logs = logsOf(150);
    const counts: unknown[] = [];
    for (let day = 0; day < 3; day++) {
      await insertSegments(logs, 31.5, "7b7d");
      await insertSegments(logs, 31.5, "7b7d");
      await run();
      counts.push(await segmentsLeft());
    }
    expect(counts).toEqual([0, 0, 0]);
  });

  it("large segments are read in slices of about 4 MB", async () => {
    await insertSegments(logsOf(150), 40, "20".repeat(80_000));
    let largest = 0;
    const after = (results: readonly D1Result[]) => {
      for (const { results: rows } of results) largest = Math.max(largest, JSON.stringify(rows).length);
    };
    await cleanUp({ ...env, DB: wrapDatabase(env.DB, { after }) }, Date.now());
    expect([await segmentsLeft(), largest < 4_400_000]).toEqual([0, true]);
  });
});
