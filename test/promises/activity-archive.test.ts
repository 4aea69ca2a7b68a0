import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import worker from "../../src/index.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { timeOf } from "../../src/model/ids.ts";
import type { FlushMessage } from "../../src/store/activity/flush.ts";
import { recordDatabaseSize } from "../../src/store/d1/size.ts";
import { deliverMessages, entryOf, messageOf, pagesOf, segmentEntries } from "../support/activity.ts";
import { sizedDatabase, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";

/** A database that is nearly full: the queue's consumer writes reads and denials to R2 (contract 23.1, docs/operations.md). */

afterEach(() => void vi.useRealTimers());

const NEARLY_FULL = 9_900_000_000;

/** Delivers messages while the database is nearly full. */
async function deliverNearlyFull(messages: readonly FlushMessage[], bindings: Partial<Env> = {}): Promise<void> {
  recordDatabaseSize(NEARLY_FULL);
  try {
    await deliverMessages(messages, { DB: sizedDatabase(() => NEARLY_FULL), ...bindings });
  } finally {
    recordDatabaseSize(0);
  }
}

const archived = async (): Promise<string[]> => (await env.FILES.list({ prefix: "log/" })).objects.map(({ key }) => key);

const runCron = (archiveDays: number) =>
  worker.scheduled(createScheduledController({ scheduledTime: new Date() }), {
    ...env,
    ACTIVITY_ARCHIVE_DAYS: archiveDays,
  });

/** What a flush has of a read and of a denial in the log of a vault, and of what the admin does. */
async function makeMessages() {
  const fresh = await freshVault();
  const entries = [entryOf(fresh.vault, {}), entryOf(fresh.vault, { action: "CREATE", result: "DENY" })];
  const write = entryOf(NOWHERE, { action: "UPDATE", resource: "VAULT", item: fresh.vault });
  const messages = [await messageOf([entries[0]!, write]), await messageOf([entries[1]!])];
  return { ...fresh, messages, entries, write };
}

const idsIn = async (vault: string): Promise<string[]> => {
  const rows = await env.DB.prepare("SELECT id FROM activity WHERE vault_id = ?1").bind(vault).all<{ id: string }>();
  return [...rows.results, ...(await segmentEntries(vault))].map(({ id }) => id);
};

const dayOf = (id: string): string => new Date(timeOf(id)).toISOString().slice(0, 10);

describe("while the database is nearly full", () => {
  it("reads and denials go to R2, one object for each hand-over, and what else the admin does to D1", async () => {
    const { vault, messages, entries, write } = await makeMessages();
    const before = await archived();
    await deliverNearlyFull(messages);
    const keys = (await archived()).filter((one) => !before.includes(one));
    expect(keys).toEqual(entries.map(({ id }) => `log/${dayOf(id)}/late/${vault}/${id}`));
    const ids = await idsIn(vault);
    expect([ids.includes(entries[0]!.id), ids.includes(entries[1]!.id)]).toEqual([false, false]);
    expect(await idsIn(NOWHERE)).toContain(write.id);
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
    const DB = wrapDatabase(
      sizedDatabase(() => NEARLY_FULL),
      {
        rewrite: (sql) => ((inserts ||= sql.includes("INSERT INTO activity")), sql),
        before: () => {
          if (inserts) throw new Error("D1_ERROR: D1 DB is overloaded.");
        },
      },
    );
    await expect(deliverNearlyFull(messages.slice(0, 1), { DB })).rejects.toThrow("could not insert");
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
  recordDatabaseSize(NEARLY_FULL);
  const bindings = { DB: sizedDatabase(() => NEARLY_FULL), FILES };
  await expect(deliverMessages([first, second], bindings, (body) => acknowledged.push(body))).rejects.toThrow(
    "A message of the log has failed",
  );
  recordDatabaseSize(0);
  expect(acknowledged).toEqual([second]);
});

it("an entry that comes a day late is in the pages and in the export, also when D1 is lost then", async () => {
  const { vault, entries, call, messages } = await makeMessages();
  const ids = entries.map(({ id }) => id);
  advanceClock(1 * DAY);
  await runCron(90);
  await deliverMessages(messages);
  expect(await pagesOf(call, "/v1/activity")).toEqual(expect.arrayContaining(ids));
  await env.DB.prepare("DELETE FROM log_segments").run();
  expect(await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}`)).toEqual(expect.arrayContaining(ids));
});

it("reads and denials go to D1 again as soon as the database has room", async () => {
  const { vault, messages, entries } = await makeMessages();
  recordDatabaseSize(NEARLY_FULL);
  await deliverMessages(messages); // the isolate has made no D1 call since
  const ids = await idsIn(vault);
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
  await runCron(setting);
  expect(await archived()).not.toEqual([]);
  advanceClock(1 * DAY);
  await runCron(setting);
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
    const sound = await idsIn(vault);
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
      await runCron(archiveDays);
      expect((await idsIn(vault)).filter((one) => times.includes(one))).toEqual([]);
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
  await runCron(90);
  await env.DB.prepare("DELETE FROM log_segments").run();
  const exported = await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}`);
  expect(exported).toEqual(expect.arrayContaining(entries.map(({ id }) => id)));
});
