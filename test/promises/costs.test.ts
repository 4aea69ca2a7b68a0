import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { firstIdAt } from "../../src/model/ids.ts";
import { DAY } from "../../src/model/time.ts";
import { addEntry, flushBatch } from "../../src/store/activity/flush.ts";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase, rebindCoordinator, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { inOneGroup } from "../support/group.ts";
import { freshVault, LOGIN } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** A vault of `size` Items with the titles `Item 0` and so on, and a count of the later D1 calls of its coordinator. */
async function countedVault(size: number) {
  const { vault, items, call } = await freshVault();
  const created = await Promise.all(
    Array.from({ length: size }, (_, index) => call("POST", items, { body: { ...LOGIN, title: `Item ${index}` } })),
  );
  const { count, db } = countingDatabase();
  await rebindCoordinator(vault, { DB: db });
  return { vault, items, call, count, db, first: created[0]!.body };
}

/** The rows that a GET and a `title eq` read in a vault of that size. */
async function rowsRead(size: number): Promise<number> {
  const { items, call, first } = await countedVault(size);
  const { count, db } = countingDatabase();
  // On a machine under load a flush of the log would be counted too.
  const queue = recordingQueue();
  const bindings = { ...queue.bindings, DB: db };
  const filters = ['title eq "Item 1"', `id eq "${first.id}"`];
  for (const path of [`/${first.id}`, ...filters.map((filter) => `?filter=${encodeURIComponent(filter)}`)]) {
    await call("GET", `${items}${path}`, { env: bindings });
    queue.drop();
  }
  return count.rowsRead;
}

// Those without a filter are in test/openapi/counts.json.
describe("a read", () => {
  it.each([
    ["title eq", (items: string) => `${items}?filter=${encodeURIComponent('title eq "Item 0"')}`],
    ["id eq", (items: string, id: string) => `${items}?filter=${encodeURIComponent(`id eq "${id}"`)}`],
    ["tag eq", (items: string) => `${items}?filter=${encodeURIComponent('tag eq "x"')}`],
  ])("takes one D1 call: %s", async (_, path) => {
    const { items, call, first } = await countedVault(2);
    const { count, db } = countingDatabase();
    expect((await call("GET", path(items, first.id), { env: { DB: db } })).status).toBe(200);
    expect(count.calls).toBe(1);
  });

  it.each([
    ["a title without escapes", String.raw`title eq "C:\x"`, 1],
    ["an escaped title", String.raw`title eq "C:\\x"`, 2],
    ["an escaped tag", String.raw`tag eq "C:\\x"`, 1],
    ["the most readings", String.raw`title eq "\\\"" and tag eq "C:\\x"`, 6],
  ])("with a backslash in its filter takes a D1 call for each title that it may mean: %s", async (_, filter, calls) => {
    const { items, call } = await countedVault(1);
    const read = () => call("GET", `${items}?filter=${encodeURIComponent(filter)}`, { env: { DB: db } });
    await call("GET", `${items}?filter=${encodeURIComponent('title eq "x"')}`); // the isolate then has the key of the index
    const { count, db } = countingDatabase();
    expect((await read()).body).toEqual([]);
    expect(count.calls).toBe(calls);
    expect(count.rowsRead).toBeLessThanOrEqual(8 * calls);
  });

  // The number varies by one: SQLite also reads the index entry after the last match, if there is one.
  it("reads at most 13 rows for a GET, a title eq and an id eq, in a vault of 2 Items and in one of 60", async () => {
    expect(await rowsRead(2)).toBeLessThanOrEqual(13);
    expect(await rowsRead(60)).toBeLessThanOrEqual(13);
  });
});

describe("the log entry of a read that comes alone", () => {
  it("takes one D1 call after the answer, which writes one row, and no message of the queue", async () => {
    const { items, call } = await countedVault(1);
    const { rows, bindings } = recordingQueue();
    for (const _ of [1, 2]) await call("GET", items, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(2), UNDER_LOAD);
    const { count, db } = countingDatabase();
    const ACTIVITY = { send: () => Promise.reject(new Error("no message")) } as unknown as Env["ACTIVITY"];
    for (const entry of rows) {
      void addEntry({ ...env, ACTIVITY, DB: db }, entry);
      await flushBatch({ ...env, ACTIVITY, DB: db });
    }
    expect(count).toMatchObject({ calls: 2, rowsWritten: 2 });
    expect(count.rowsRead).toBeLessThanOrEqual(30);
  });

  it("reads no more rows when the log has two hundred segments of the day", async () => {
    const { vault, items, call } = await countedVault(1);
    const { rows, bindings } = recordingQueue();
    await call("GET", items, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    const today = Math.floor(Date.now() / DAY) * DAY;
    await env.DB.prepare("INSERT INTO log_segments SELECT ?1, value, 1, '{}' FROM json_each(?2)")
      .bind(vault, JSON.stringify(Array.from({ length: 200 }, (_, at) => firstIdAt(today + at))))
      .run();
    const { count, db } = countingDatabase();
    const ACTIVITY = { send: () => Promise.reject(new Error("no message")) } as unknown as Env["ACTIVITY"]; // a batch of its own
    // One of 64 ids has the bytes of the log counted.
    void addEntry({ ...env, ACTIVITY, DB: db }, { ...rows[0]!, id: rows[0]!.id.replace(/..$/, "01") });
    await flushBatch({ ...env, ACTIVITY, DB: db });
    expect(count.calls).toBe(1);
    expect(count.rowsRead).toBeLessThanOrEqual(15);
  });
});

describe("a write", () => {
  // A PATCH takes one call and writes five rows (test/openapi/counts.json).
  const addField = [{ op: "add", path: "/fields", value: { value: "x" } }];
  it("writes a sixth row when it drops the oldest version, and four when no version is kept", async () => {
    for (const [kept, rows] of [
      [1, 6],
      [0, 4],
    ] as const) {
      const { vault, items, call, count, db, first } = await countedVault(1);
      await rebindCoordinator(vault, { DB: db, VERSIONS_KEPT: kept });
      await call("PATCH", `${items}/${first.id}`, { body: addField });
      const [calls, written] = [count.calls, count.rowsWritten];
      await call("PATCH", `${items}/${first.id}`, { body: addField });
      expect([count.calls - calls, count.rowsWritten - written]).toEqual([1, rows]);
    }
  });

  it("with an Idempotency-Key takes one D1 call and writes two rows more: its record, and the record's entry in the index", async () => {
    const { items, call, count, first } = await countedVault(1);
    await call("PATCH", `${items}/${first.id}`, { body: addField, headers: { "Idempotency-Key": "mine" } });
    expect(count).toMatchObject({ calls: 1, rowsWritten: 7 });
  });

  it("that repeats an Idempotency-Key takes two D1 calls, a POST three, and writes no rows", async () => {
    const { vault, items, call, count, db, first } = await countedVault(1);
    let calls = 0; // `count` lacks the commit that the fence refuses
    await rebindCoordinator(vault, { DB: wrapDatabase(db, { before: () => void calls++ }) });
    for (const [method, path, body, expected] of [
      ["PATCH", `${items}/${first.id}`, addField, 2],
      ["POST", items, LOGIN, 3],
    ] as const) {
      const send = () => call(method, path, { body, headers: { "Idempotency-Key": method } });
      const written = await send();
      const { rowsWritten } = count;
      calls = 0;
      expect((await send()).text).toBe(written.text);
      expect([calls, count.rowsWritten]).toEqual([expected, rowsWritten]);
    }
  });

  it("a POST with an Item-Id takes one D1 call and writes as many rows as one without, and one for an id in use takes two and writes none", async () => {
    const { vault, items, call, count, db } = await countedVault(1);
    let calls = 0; // `count` lacks the commit that the fence refuses
    await rebindCoordinator(vault, { DB: wrapDatabase(db, { before: () => void calls++ }) });
    const post = async (headers: HeadersInit = {}) => {
      const written = count.rowsWritten;
      calls = 0;
      const { status } = await call("POST", items, { body: LOGIN, headers });
      return [status, calls, count.rowsWritten - written];
    };
    const headers = { "Item-Id": crypto.randomUUID() };
    const plain = await post();
    expect(plain.slice(0, 2)).toEqual([200, 1]);
    expect(await post(headers)).toEqual(plain);
    expect(await post(headers)).toEqual([409, 2, 0]);
  });

  it.each([1, 60])(
    "a POST with an Item-Id reads at most four rows more than one without, in a vault of %i Items",
    async (size) => {
      const { items, call, count } = await countedVault(size);
      const rowsOf = async (headers: HeadersInit) => {
        const before = count.rowsRead;
        expect((await call("POST", items, { body: LOGIN, headers })).status).toBe(200);
        return count.rowsRead - before;
      };
      // One for each table in which something may be left of an Item with this id.
      expect((await rowsOf({ "Item-Id": crypto.randomUUID() })) - (await rowsOf({}))).toBeLessThanOrEqual(4);
    },
  );

  it("reads fewer than 20 rows when the vault has a thousand idempotency records", async () => {
    const { vault, items, call, count, first } = await countedVault(1);
    const now = firstIdAt(Date.now());
    await env.DB.prepare("INSERT INTO replays SELECT ?1, value, ?2, '' FROM json_each(?3)")
      .bind(vault, now, JSON.stringify(Array.from({ length: 1000 }, (_, index) => `key ${index}`)))
      .run();
    await call("PATCH", `${items}/${first.id}`, { body: addField, headers: { "Idempotency-Key": "mine" } });
    expect(count.rowsRead).toBeLessThan(20);
  });

  it("takes two D1 calls when the cache is empty, and the next one to the same Item takes one", async () => {
    const { vault, items, call, count, db, first } = await countedVault(1);
    await renewCoordinator(vault, { DB: db });
    for (const calls of [2, 3]) {
      await call("PATCH", `${items}/${first.id}`, { body: addField });
      expect(count.calls).toBe(calls);
    }
  });

  it("that is refused or empty writes no rows", async () => {
    const { items, call, count, first } = await countedVault(1);
    const stale = { "If-Match": '"7"' };
    expect((await call("DELETE", `${items}/${first.id}`, { headers: stale })).status).toBe(412);
    expect((await call("PATCH", `${items}/${first.id}`, { body: [] })).status).toBe(200);
    expect(count).toMatchObject({ calls: 2, rowsWritten: 0 });
  });

  it("shares its D1 calls: 50 writes that arrive during one commit take two calls more", async () => {
    const { vault, items, call, count, db, first } = await countedVault(1);
    const body = [{ op: "replace", path: "/title", value: "All at once" }];
    const patch = () => call("PATCH", `${items}/${first.id}`, { body });
    const others = Array.from({ length: 49 }, () => patch);
    const answers = await inOneGroup(vault, patch, others, {}, { DB: db });
    expect([answers.first, ...answers.others].every(({ status }) => status === 200)).toBe(true);
    expect(count.calls).toBeLessThanOrEqual(3);
  });
});
