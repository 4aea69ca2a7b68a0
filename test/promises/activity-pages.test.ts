import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Activity } from "../../src/model/activity.ts";
import { operationId } from "../../src/model/ids.ts";
import { entriesOf, type Segment } from "../../src/store/activity/segments.ts";
import { deliverMessages, fillLog, fillUnopenable, idOf, messageOf, nestedLogs } from "../support/activity.ts";
import { countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { type Client, client, makeToken, makeVault } from "../support/service.ts";
import { ask } from "../support/worst/asking.ts";
import { tokenOfFullLogs, tokenOfNestedSegments, tokenOfShortSegments } from "../support/worst/world.ts";

/** What a page of the activity log costs, whatever the logs hold (contract 13.9, 13.19 and 13.20). */

/** Fills as many logs, and gives a token that reads them. The log of the token is another one. */
async function makeReader(logs: readonly (readonly string[])[]): Promise<Client> {
  const vaults = logs.map(() => crypto.randomUUID());
  for (const [index, ids] of logs.entries()) await fillLog(vaults[index]!, ids);
  return client((await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "r" as const])))).token);
}

/** The ids of a page, its headers, and what it cost. */
async function readPage(call: Client, path: string) {
  const answers = { bytesMax: 0 };
  const measured = wrapDatabase(env.DB, {
    after: (results) => void (answers.bytesMax = Math.max(answers.bytesMax, JSON.stringify(results).length)),
  });
  const { count, db } = countingDatabase(measured);
  const { status, body, headers } = await call("GET", path, { env: { DB: db } });
  expect(status).toBe(200);
  const next = /^<https:\/\/vault\.test(.+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
  return { ids: (body as { requestId: string }[]).map(({ requestId }) => requestId), next, headers, count, answers };
}

const newestFirst = (logs: readonly (readonly string[])[]) => logs.flat().toSorted().toReversed();

/** 100 vaults, of which each has half as many entries as the one before, and none fewer than 20. */
const geometric = (): string[][] => {
  const logs = Array.from({ length: 100 }, (): string[] => []);
  let place = 0;
  for (const [index, log] of logs.entries())
    for (let count = Math.max(20, Math.floor(2_000 / 2 ** index)); count > 0; count--)
      log.push(idOf((place = (place + 7_919) % 1_000_003)));
  return logs;
};

describe.each([
  ["of a geometric distribution", geometric()],
  ["of the worst case", nestedLogs().slice(0, 100)],
])("100 logs %s", (_, logs) => {
  let reader: Client;
  const all = newestFirst(logs);
  beforeAll(async () => {
    reader = await makeReader(logs);
  });

  it.each([
    ["", 0, 50],
    ["?limit=1000", 0, 1_000],
    ["?limit=1000&offset=1000", 1_000, 50],
    ["?limit=999", 0, 999],
  ])("give the page %j for at most 12,000 rows read", async (query, offset, length) => {
    const { ids, count, headers } = await readPage(reader, `/v1/activity${query}`);
    expect(ids).toEqual(all.slice(offset, offset + length));
    expect(headers.get("Content-Range")).toBe(`${offset + 1}-${offset + length}/*`);
    expect(count.rowsRead).toBeLessThanOrEqual(12_000);
  });

  it("give every entry once in pages by cursor, each for one D1 call and at most 6,500 rows read", async () => {
    const found: string[] = [];
    let path: string | undefined = "/v1/activity?limit=1000&before=ffffffff-ffff-7fff-bfff-ffffffffffff";
    for (let pages = 0; path !== undefined && pages < 50; pages++) {
      const { ids, next, count, headers } = await readPage(reader, path);
      expect(headers.get("Content-Range")).toBeNull();
      expect(count.calls).toBe(1);
      expect(count.rowsRead).toBeLessThanOrEqual(6_500);
      expect(ids.length).toBeGreaterThan(0);
      found.push(...ids);
      path = next;
    }
    expect(found.length).toBeGreaterThan(1_900); // of the worst case not all, because its pages are short
    expect(found).toEqual(path === undefined ? all : all.slice(0, found.length));
  });
});

describe("a page of one log", () => {
  it("reads hardly more rows than it has entries", async () => {
    const reader = await makeReader([Array.from({ length: 3_000 }, (_, place) => idOf(place))]);
    const { ids, count } = await readPage(reader, `/v1/activity?limit=100&before=${idOf(1_500)}`);
    expect(ids).toEqual(Array.from({ length: 100 }, (_, place) => idOf(1_499 - place)));
    // The token, its own empty log, the list of logs, the segments that neither log has, and the entry that shows that there is a next page.
    expect(count.calls).toBe(1);
    expect(count.rowsRead).toBeLessThanOrEqual(114);
  });
});

describe("a filter that few of 30,000 entries match", () => {
  const log = crypto.randomUUID();
  const item = crypto.randomUUID();
  const found = [29_999, 14_000, 0].map(idOf);
  let reader: Client;
  beforeAll(async () => {
    const places = Array.from({ length: 99 }, (_, place) => idOf(40_000 + place));
    const others = places.map(() => crypto.randomUUID());
    for (const [index, id] of places.entries()) await fillLog(others[index]!, [id]);
    await fillUnopenable(log, 1, 13_999);
    await fillUnopenable(log, 14_001, 29_998);
    await fillLog(log, found, { item });
    reader = client((await makeToken(Object.fromEntries([log, ...others].map((vault) => [vault, "r" as const])))).token);
  });

  it.each([
    ["a vault and an actor", `vault=${log}&actor=admin`, 15],
    ["a vault and an Item", `vault=${log}&item=${item}`, 10],
    ["an Item, in 100 vaults", `item=${item}`, 15],
  ])("takes at most 3 D1 calls and 10,000 rows read a page: %s", async (_, query, most) => {
    const ids: string[] = [];
    let path: string | undefined = `/v1/activity?limit=50&${query}`;
    let pages = 0;
    for (; path !== undefined; pages++) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(reader, path);
      expect(page.count.calls).toBeLessThanOrEqual(3);
      expect(page.count.rowsRead).toBeLessThanOrEqual(10_000);
      ids.push(...page.ids);
      path = page.next;
    }
    expect(ids).toEqual(found);
    expect(pages).toBeLessThanOrEqual(most);
  });

  it("reads hardly more rows than the page has entries where all match", async () => {
    const { ids, count } = await readPage(reader, `/v1/activity?limit=1&vault=${log}&result=SUCCESS`);
    expect(ids).toEqual([found[0]]);
    expect([count.calls, count.rowsRead <= 10]).toEqual([1, true]);
  });
});

describe("a filter that thousands of entries match", () => {
  /** Entries whose root key was removed, so that they can be of any size. */
  const INSERT = `
    WITH RECURSIVE places (place) AS (SELECT ?2 UNION ALL SELECT place + 1 FROM places WHERE place < ?3)
    INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
    SELECT ?1, printf('00000000-0000-7000-8000-%012d', place), 'READ', 'SUCCESS', ?4, 'removed', ?5 FROM places`;
  const SEALED = 5_300;
  const [log, actor] = [crypto.randomUUID(), crypto.randomUUID()];

  // D1 refuses a value of more than 2 MB. workerd allows more, so these entries are larger than those of a browser, of 300 characters.
  it("is answered in pages that have each of them once, although those before them match less", async () => {
    const reader = client((await makeToken({ [log]: "r" })).token);
    await env.DB.prepare(INSERT).bind(log, 1, 4_500, actor, "x".repeat(SEALED)).run();
    await env.DB.prepare(INSERT).bind(log, 4_501, 5_600, "service", "").run();
    const ids: string[] = [];
    let path: string | undefined = `/v1/activity?limit=1000&vault=${log}&actor=${actor}`;
    while (path !== undefined) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(reader, path);
      expect(page.count.calls).toBeLessThanOrEqual(3);
      ids.push(...page.ids);
      path = page.next;
    }
    expect(ids).toEqual(Array.from({ length: 4_500 }, (_, place) => idOf(4_500 - place)));
  });
});

/** Vaults, without the entries of their creation. */
async function makeLogs(count: number): Promise<string[]> {
  const logs: string[] = [];
  for (let made = 0; made < count; made++) logs.push(await makeVault());
  await env.DB.prepare("DELETE FROM activity WHERE vault_id IN (SELECT value FROM json_each(?1))")
    .bind(JSON.stringify(logs))
    .run();
  return logs;
}

describe("reads of 100 Items that came alone", () => {
  const items = Array.from({ length: 100 }, () => crypto.randomUUID());
  const origin = { userAgent: "x".repeat(256), requestIp: "" };
  const columns = { action: "READ", result: "SUCCESS", actor: "service", item: null, version: null } as const;
  const first = Date.now() - 3_600_000;
  const makeRead = (log: string, number: number): Activity => {
    const id = operationId(first + number * 2_500, crypto.getRandomValues(new Uint8Array(10)));
    return { ...columns, id, log, items, origin };
  };

  it("take at most 16 D1 calls a page by offset of one log, whose pages have each of them once", async () => {
    const [log] = (await makeLogs(1)) as [string];
    const entries = Array.from({ length: 1_100 }, (_, number) => makeRead(log, number));
    for (let from = 0; from < entries.length; from += 100)
      await deliverMessages(await Promise.all(entries.slice(from, from + 100).map((entry) => messageOf([entry]))));
    const all = newestFirst([entries.map(({ id }) => id)]);
    const reader = client((await makeToken({ [log]: "r" })).token);
    for (const [query, offset, length] of [
      ["", 0, 50],
      ["?limit=1000", 0, 1_000],
      ["?limit=50&offset=1000", 1_000, 50],
    ] as const) {
      const { ids, next, count, headers } = await readPage(reader, `/v1/activity${query}`);
      expect(ids).toEqual(all.slice(offset, offset + length));
      expect(headers.get("Content-Range")).toBe(`${offset + 1}-${offset + length}/*`);
      expect(next).toBeDefined();
      expect(count.calls).toBeLessThanOrEqual(query === "" ? 1 : 2 * 8);
      expect(count.rowsRead).toBeLessThanOrEqual(10_000);
    }
  });

  it("take at most 10,000 rows read a page, but for one by a deep offset, and some megabytes a D1 call of 100 logs", async () => {
    const logs = await makeLogs(100);
    const sent: string[] = [];
    for (let number = 0; number < runs(20, 80); number++)
      for (const half of [logs.slice(0, 50), logs.slice(50)]) {
        const entries = half.map((log) => makeRead(log, number));
        sent.push(...entries.map(({ id }) => id));
        await deliverMessages([await messageOf(entries)]);
      }
    const all = newestFirst([sent]);
    const reader = client((await makeToken(Object.fromEntries(logs.map((log) => [log, "r" as const])))).token);
    for (const [query, rowsMax] of [
      ["", 10_000],
      ["?limit=1000", 19_000],
      ["?limit=1000&result=SUCCESS", 10_000],
    ] as const) {
      const { ids, count, answers } = await readPage(reader, `/v1/activity${query}`);
      expect(ids).toEqual(all.slice(0, ids.length));
      expect(ids.length).toBeGreaterThan(0);
      // Each may be followed by one that reads a cell to its end.
      expect(count.calls).toBeLessThanOrEqual(2 * 8);
      expect(count.rowsRead).toBeLessThanOrEqual(rowsMax);
      expect(answers.bytesMax).toBeLessThanOrEqual(12_000_000);
    }
    const found: string[] = [];
    for (
      let path: string | undefined = "/v1/activity?limit=1000&before=ffffffff-ffff-7fff-bfff-ffffffffffff";
      path !== undefined;
    ) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(reader, path);
      expect(page.count.calls).toBe(1);
      found.push(...page.ids);
      path = page.next;
    }
    expect(found).toEqual(all);
  });
});

describe.each([
  ["large segments", tokenOfFullLogs, false],
  ["segments of one read", tokenOfShortSegments, false],
  ["segments of one read, of which some are damaged", tokenOfShortSegments, true],
  ["segments of cells that are in one another", tokenOfNestedSegments, false],
])("100 logs of rows and %s", (_, makeLogReader, isDamaged) => {
  let reader: Client;
  let all: readonly string[];
  beforeAll(async () => {
    const sizes = { items: 1, content: 1, vaults: 1, tags: 1, references: 1, log: runs(300, 2_400) };
    const { token, vaults } = await makeLogReader({ env, ask, sizes });
    reader = client(token);
    const inVaults = "vault_id IN (SELECT value FROM json_each(?1))";
    const damage = `UPDATE log_segments SET lines = 'damaged' WHERE ${inVaults} AND substr(id, -1) IN ('0', '4')`;
    const [, rows, segments] = await env.DB.batch<Segment>(
      [
        isDamaged ? damage : "SELECT ?1",
        `SELECT id FROM activity WHERE ${inVaults}`,
        `SELECT vault_id AS log, id, lines FROM log_segments WHERE ${inVaults}`,
      ].map((sql) => env.DB.prepare(sql).bind(JSON.stringify(vaults))),
    );
    all = newestFirst([[...rows!.results, ...segments!.results.flatMap(entriesOf)].map(({ id }) => id)]);
  });

  it.each([
    ["before=ffffffff-ffff-7fff-bfff-ffffffffffff", true],
    ["result=SUCCESS", true],
    ["action=DELETE", false],
    ["item=4f2c8a4e-9a0b-4c57-8f0e-5d0a6f4b7c11", false],
  ])("give each entry of ?%s once in pages of which each reads at most 10,000 rows", async (query, matchesAll) => {
    const listed: string[] = [];
    for (let path: string | undefined = `/v1/activity?limit=1000&${query}`; path !== undefined;) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(reader, path);
      expect(page.count.rowsRead).toBeLessThanOrEqual(10_000);
      expect(page.next).not.toBe(path);
      listed.push(...page.ids);
      path = page.next;
    }
    expect(all.length).toBeGreaterThan(2_000);
    // What a damaged segment has is not known, so it is in each page (contract 13.27).
    expect(listed).toEqual(matchesAll ? all : all.filter((id) => id.includes(".")));
  });
});
