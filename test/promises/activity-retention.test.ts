import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { countingDatabase, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";

/** What the hourly run moves of the segments of the log, and that it is bounded (contract 23.8, docs/operations.md). */

beforeEach(async () => void (await env.DB.prepare("DELETE FROM log_segments").run()));

const segmentsLeft = () => env.DB.prepare("SELECT count(*) AS n FROM log_segments").first<number>("n");

/** Inserts a segment of a day into each log, past the service. In: its text as hexadecimal digits. */
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

it("segments whose text is damaged UTF-8 are archived as the others are, and hold up none of them", async () => {
  await insertSegments(logsOf(10), 40, "7b7dff");
  await insertSegments(logsOf(10), 40, "7b7d");
  await cleanUp(env, Date.now());
  expect(await segmentsLeft()).toBe(0);
});

/** One run. Out: its calls of D1, and the objects that it puts into R2. */
async function run() {
  let puts = 0;
  const FILES = wrapBucket({ put: (...call: Parameters<R2Bucket["put"]>) => (puts++, env.FILES.put(...call)) });
  const { count, db } = countingDatabase();
  await cleanUp({ ...env, DB: db, FILES }, Date.now());
  return { calls: count.calls, puts };
}

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
