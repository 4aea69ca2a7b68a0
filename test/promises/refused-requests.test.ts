import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { OPEN_ROUTES, ROUTES } from "../../src/http/app.ts";
import { newKey, newTeam, serveTeams, tokenOf } from "../support/access.ts";
import { drainQueue, recordingQueue } from "../support/activity.ts";
import { countingBucket, countingDatabase, limiterOf } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { admin, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { ask } from "../support/worst/asking.ts";
import { type Credential, LOGGED, pathOf, type Refusal, refusalsWith } from "../support/worst/refusals.ts";
import { ownVault, type World } from "../support/worst/world.ts";

/**
 * A bound for every route: each kind of request that is refused because of who sends it, sent to each row of the tables of routes once,
 * and as a flood from one address. Nothing of it writes to D1 or R2, and what it reads and logs is bounded.
 */

serveTeams();

const ALL = [...OPEN_ROUTES, ...ROUTES].map(({ method, path }) => ({ method, path }));
const world: World = { env, ask, sizes: { items: 0, content: 0, vaults: 0, tags: 0, references: 0, log: 0 } };
const key = await newKey();
const team = newTeam(key);
const REFUSALS = refusalsWith({ env: team.env, tokenOf: (email) => tokenOf(team, key, email) });

/** How often a flood sends each route. */
const ROUNDS = runs(2, 20);
/** What an entry of the log takes beside its origin, in bytes. */
const ENTRY_BYTES = 512;

/** A service whose calls are counted, with the limits of wrangler.toml in one window of 10 s that does not end. */
function countedService(more: Partial<Env> = {}) {
  const { count, db } = countingDatabase();
  const { rows, bindings: queue } = recordingQueue();
  const buckets = { FILES: countingBucket(env.FILES), BACKUPS: countingBucket(env.BACKUPS) };
  const limits = {
    TOKEN_RATE: limiterOf(40),
    FAILURE_RATE: limiterOf(50),
    DENIAL_RATE: limiterOf(10),
    SESSION_RATE: limiterOf(50),
  };
  const bindings = {
    ...limits,
    ...more,
    DB: db,
    get ACTIVITY() {
      return queue.ACTIVITY;
    },
    FILES: buckets.FILES.bucket,
    BACKUPS: buckets.BACKUPS.bucket,
  };
  const puts = () => buckets.FILES.count.puts + buckets.BACKUPS.count.puts;
  /** Resolves when the log entries of all requests before were sent. */
  const settled = async () => {
    const { headers } = await admin("GET", "/v1/admin/keys", { env: { ...bindings, DB: env.DB } });
    await vi.waitFor(() => expect(rows.map(({ id }) => id)).toContain(headers.get("Request-Id")), UNDER_LOAD);
    return rows.filter(({ id }) => id !== headers.get("Request-Id"));
  };
  return { bindings, count, rows, puts, settled };
}

let vault = "";
let address = 0;

beforeAll(async () => {
  ({ vault } = await ownVault(world));
  await drainQueue();
  // The flushes of the entries are counted elsewhere: here their window does not end.
  const { setTimeout: timeout } = globalThis;
  vi.stubGlobal("setTimeout", (run: () => void, delay?: number) => (delay === 2_000 ? 0 : timeout(run, delay)));
});

afterAll(() => void vi.unstubAllGlobals());

/** Sends a request of a kind to a route. Out: its status. */
async function attempt(route: (typeof ALL)[number], { headers = {}, body = {} }: Credential, bindings: Partial<Env>) {
  const sent = { "CF-Connecting-IP": `198.51.100.${address}`, "User-Agent": "x".repeat(1_000), ...headers };
  const reads = route.method === "GET" || route.method === "DELETE";
  const reply = await send(route.method, pathOf(route.path, vault), {
    headers: sent,
    body: reads ? undefined : body,
    env: bindings,
  });
  return reply.status;
}

/** It makes a report for all who ask in 5 seconds, by the object of the bindings: each request of a test has another one. */
const HEALTH = "GET /health";
const HEALTH_CALLS = 10;
/** It lists the tables, indexes and triggers. */
const HEALTH_ROWS = 100;

/** What answers whoever asks, what ends a session that has ended, and what has its credential in the body, which is malformed. */
const ANSWERED = new Set([
  "GET /heartbeat",
  HEALTH,
  "DELETE /console/session",
  "POST /v1/login/token",
  "POST /v1/token-exchange",
]);

const isRefused = ({ method, path }: (typeof ALL)[number], status: number): boolean =>
  ANSWERED.has(`${method} ${path}`) ? status < 500 : [401, 403, 404, 429].includes(status);

describe.each(REFUSALS.map((refusal) => [refusal.name, refusal] as const))("a request with %s", (_, refusal: Refusal) => {
  it("is refused on every route with at most 3 D1 calls and one log entry, and writes nothing else", async () => {
    const credentials = await refusal.prepare(world, vault);
    for (const route of ALL) {
      const name = `${route.method} ${route.path}`;
      address++;
      const { bindings, count, rows, puts } = countedService(refusal.env);
      const status = await attempt(route, credentials[0]!, bindings);
      expect([name, status, isRefused(route, status)]).toEqual([name, status, true]);
      expect([
        name,
        count.calls <= (name === HEALTH ? HEALTH_CALLS : 3),
        count.rowsRead <= (name === HEALTH ? HEALTH_ROWS : 20),
        count.rowsWritten,
        puts(),
        rows.length <= 1,
      ]).toEqual([name, true, true, 0, 0, true]);
    }
  });

  it("costs a bounded number of D1 calls and log entries as a flood over all routes from one address", async () => {
    const credentials = await refusal.prepare(world, vault);
    const { bindings, count, puts, settled } = countedService(refusal.env);
    address++;
    const flooded = ALL.filter(({ method, path }) => `${method} ${path}` !== HEALTH);
    for (const route of Array.from({ length: ROUNDS }, () => flooded).flat()) {
      for (const credential of credentials) await attempt(route, credential, bindings);
    }
    const entries = await settled();
    const [byAdmin, byVault] = [entries.filter(({ log }) => log === NOWHERE), entries.filter(({ log }) => log !== NOWHERE)];
    console.log(`${refusal.name}: ${JSON.stringify({ ...count, entries: entries.length })}`);
    expect(count.calls).toBeLessThanOrEqual(refusal.calls);
    expect([count.rowsWritten, puts()]).toEqual([0, 0]);
    expect(byAdmin.length).toBeLessThanOrEqual(LOGGED.admin);
    expect(byVault.length).toBeLessThanOrEqual(LOGGED.vault);
    for (const row of entries) expect(JSON.stringify(row).length).toBeLessThanOrEqual(ENTRY_BYTES + 2 * 400);
  });
});
