import { env } from "cloudflare:workers";
import { beforeEach, expect, it } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { DAY } from "../support/faults.ts";

/** What the hourly run moves of the segments of the log (docs/operations.md). */

beforeEach(async () => void (await env.DB.prepare("DELETE FROM log_segments").run()));

const segmentsLeft = () => env.DB.prepare("SELECT count(*) AS n FROM log_segments").first<number>("n");

/** Inserts a segment of one day ago and more, past the service. In: its text as hexadecimal digits. */
async function insertSegment(log: string, daysAgo: number, bytes: string): Promise<void> {
  const id = operationId(Date.now() - daysAgo * DAY, crypto.getRandomValues(new Uint8Array(10)));
  const sql = "INSERT INTO log_segments (vault_id, id, last_id, entries, lines) VALUES (?1, ?2, ?2, 1, CAST(unhex(?3) AS TEXT))";
  await env.DB.prepare(sql).bind(log, id, bytes).run();
}

it("segments whose text is damaged UTF-8 are archived as the others are, and hold up none of them", async () => {
  for (let index = 10; index < 20; index++) await insertSegment(`000000${index}-0000-4000-8000-000000000000`, 40, "7b7dff");
  for (let index = 10; index < 14; index++) await insertSegment(`f00000${index}-0000-4000-8000-000000000000`, 40, "7b7d");
  await cleanUp(env, Date.now());
  expect(await segmentsLeft()).toBe(0);
});
