import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";
import { runHourly } from "../support/jobs.ts";

/** The D1 calls of a run of the clean-up: D1 allows 50 of them on the free plan, and refuses the others. */

beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

/** The numbers from 1 on, as a table. */
const numbers = (count: number) => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

const SESSIONS = `INSERT INTO sessions (id, expires_at, root_key_id, sealed)
  ${numbers(9_500)} SELECT printf('s%d', i), 1, 'k1', 'x' FROM n`;

/** The entry of a log on each of 20 days: each day takes a slice of its own. */
const ENTRIES = `INSERT INTO activity (vault_id, id, action, result, actor, root_key_id, sealed)
  ${numbers(20)} SELECT 'log', printf('%08x-%04x-7000-8000-000000000000', i * 86400000 / 65536, i * 86400000 % 65536), 'READ', 'SUCCESS', 'x', 'k1', ''
  FROM n`;

/** Rows of before 1970, by what a run does with them. */
const DUE = [
  `INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by)
    ${numbers(9_500)} SELECT printf('%08x-0000-4000-8000-000000000000', i), 'k1', 'x', 1, 2, 'x', 'k1' FROM n`,
  `INSERT INTO replays (vault_id, key, id, sealed)
    ${numbers(9_500)} SELECT 'gone', printf('k%d', i), '00000000-0000-7000-8000-000000000000', 'x' FROM n`,
  "INSERT INTO deleted_vaults (id, deleted_at) VALUES ('one', 0), ('other', 0)",
  `INSERT INTO deleted_items (vault_id, id, version, deleted_at, deleted_by)
    ${numbers(700)} SELECT iif(i % 2, 'one', 'other'), printf('i%d', i), 1, 0, 'x' FROM n`,
];

/** The queue may still deliver entries of the file before this one: they are not counted. */
const LEFT = ["tokens", "replays", "deleted_vaults", "deleted_items", "activity WHERE vault_id = 'log'"]
  .map((table) => `(SELECT count(*) FROM ${table})`)
  .join(" + ");

const left = () => env.DB.prepare(`SELECT ${LEFT} AS rows`).first<number>("rows");

it("are at most 50, also when everything is due; the next runs do the rest", async () => {
  for (const sql of [...DUE, ENTRIES, SESSIONS]) await env.DB.prepare(sql).run();
  const calls: number[] = [];
  while (((await left()) ?? 0) > 0 && calls.length < 5) {
    const { count, db } = countingDatabase();
    await runHourly({ DB: db }, { DB: env.DB }, DAY * 20_000);
    calls.push(count.calls);
  }
  expect([await left(), Math.max(...calls) <= 50]).toEqual([0, true]);
  // The first run uses what it may: what is due is done within a few hours.
  expect(calls[0]).toBeGreaterThan(40);
});

it("do the work of each part of a run when another part fails", async () => {
  vi.spyOn(console, "warn").mockReturnValue();
  for (const sql of DUE.slice(0, 2)) await env.DB.prepare(sql).run();
  const failing = { DB: wrapDatabase(env.DB, { rewrite: (sql) => (/FROM replays/.test(sql) ? "SELECT nothing" : sql) }) };
  await expect(runHourly(failing, { DB: env.DB }, DAY * 20_000)).rejects.toThrow("expired rows");
  const rows = "SELECT (SELECT count(*) FROM tokens) AS tokens, (SELECT count(*) FROM replays) AS replays";
  expect(await env.DB.prepare(rows).first()).toEqual({ tokens: 0, replays: 9_500 });
  await env.DB.prepare("DELETE FROM replays").run();
});

it("may be refused from one on: the next runs do the rest", async () => {
  for (const sql of DUE) await env.DB.prepare(sql).run();
  const failures: unknown[] = [];
  for (let runs = 0; ((await left()) ?? 0) > 0; runs++) {
    expect(runs).toBeLessThan(10);
    let calls = 0;
    const before = () => {
      if (++calls > 20) throw new Error("D1_ERROR: Too many API requests by single worker invocation.");
    };
    await runHourly({ DB: wrapDatabase(env.DB, { before }) }, { DB: env.DB }, DAY * 20_000).catch((error: unknown) =>
      failures.push(error),
    );
  }
  expect(failures.length).toBeGreaterThan(1);
});
