import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { takeBatch } from "../../src/store/activity/flush.ts";
import { rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { runHourly as run } from "../support/jobs.ts";
import { admin, LOGIN, makeToken, send } from "../support/service.ts";
import { freshWriter, keeping } from "../support/versions.ts";

/** The counts of the clean-up in /metrics (contract 23.9). */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function countsNow(): Promise<Record<string, number>> {
  const { text } = await send("GET", "/metrics", { headers: { Authorization: `Bearer ${env.METRICS_TOKEN}` } });
  const samples = text.matchAll(/^item_vault_cleaned_total\{kind="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...samples].map(([, kind, count]) => [kind!, Number(count)]));
}

/** The counts that are not 0 after `action`. */
async function countedBy(action: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await countsNow();
  await action();
  const changes = Object.entries(await countsNow()).map(([kind, count]) => [kind, count - before[kind]!] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}

/** What a run cleans up: a token, an idempotency record, an Item, versions, and four entries of the log. */
async function makeDue() {
  const { vault, items, call } = await freshWriter();
  await rebindCoordinator(vault, keeping(1, 30));
  const { body: item } = await call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": "counted" } });
  await rebindCoordinator(vault, keeping(10, 30));
  const path = `${items}/${item.id}`;
  for (const value of ["B", "C", "D"]) await call("PATCH", path, { body: [{ op: "replace", path: "/title", value }] });
  const { body: other } = await call("POST", items, { body: LOGIN });
  await call("DELETE", `${items}/${other.id}`);
  await rebindCoordinator(vault, keeping(1, 30));
  await makeToken({}, { expiresIn: 60 });
}

beforeEach(async () => {
  takeBatch(env.ACTIVITY); // What earlier files have logged would be flushed between two runs.
  advanceClock(0);
  await run();
});

it("has each kind of what a run has cleaned up, in one D1 call; a run without work makes no such call", async () => {
  await makeDue();
  // Earlier files may have left segments of reads.
  const kept = "SELECT (SELECT count(*) FROM activity) + (SELECT total(entries) FROM log_segments) AS n";
  const entries = (await env.DB.prepare(kept).first<number>("n"))!;
  advanceClock(31 * DAY);
  let calls = 0;
  const counting = { DB: wrapDatabase(env.DB, { rewrite: (sql) => ((calls += Number(sql.includes("INTO counters"))), sql) }) };
  const counted = await countedBy(() => run({ ...keeping(1, 30), ...counting }));
  expect(counted).toMatchObject({ token: expect.any(Number), idempotency_record: 1, item: 1, version: 2 });
  expect([counted["log_entry"], counted["log_entry_archived"]]).toEqual([entries, entries]);
  expect(calls).toBe(1);
  expect(await countedBy(() => run({ ...keeping(1, 30), ...counting }))).toEqual({});
  expect(calls).toBe(1);
});

it("counts the other parts of a run when one fails, and again what is done again by none", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { id } = await makeToken({}, { expiresIn: 60 });
  advanceClock(2 * DAY);
  const failing = { DB: wrapDatabase(env.DB, { rewrite: (sql) => (/FROM replays/.test(sql) ? "SELECT nothing" : sql) }) };
  expect(await countedBy(() => expect(run(failing)).rejects.toThrow("expired rows"))).toEqual({ token: 1 });
  expect(await countedBy(() => run())).toEqual({});
  expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toHaveProperty("endedAt");
});
