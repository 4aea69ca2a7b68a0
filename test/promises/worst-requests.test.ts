import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { OPEN_ROUTES, ROUTES } from "../../src/http/routes.ts";
import { LIMITS } from "../../src/model/limits.ts";
import type { ActivityMessage } from "../../src/store/activity/queue.ts";
import { countingBucket, countingDatabase } from "../support/bindings.ts";
import { runs, sample } from "../support/runs.ts";
import { admin, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { storedBytes } from "../support/stored-bytes.ts";
import { WORST_REQUESTS } from "../support/worst/requests.ts";
import { ask, coordinatorsWith, headersOf, sizeOf } from "../support/worst/asking.ts";
import type { World } from "../support/worst/world.ts";

/** Every endpoint is bounded: what its worst legal request costs. docs/limits.md shows the figures of a larger state. */

const MIB = 1024 * 1024;
const KIB = 1024;

/** More Items than a page with a filter looks at (`LIMITS.pageRows`), and more entries of one log than a page of a thousand shows. */
const SIZES = { items: 4_500, vaults: 10, log: runs(1_200, 2_400) };
/** The bounds are rows, and bytes in proportion to the body, so the short run has smaller texts and contents. */
const TEXTS = { content: runs(MIB / 4, MIB), tags: runs(8_000, 48_000), references: runs(5, 25) };
const world: World = { env, ask, sizes: { ...SIZES, ...TEXTS } };

/** What requests have sent to the log, each to a queue of its own, which drops its messages. */
const logged: { readonly endpoint: string; readonly messages: ActivityMessage[] }[] = [];

function queueOf(endpoint: string): Env["ACTIVITY"] {
  const messages: ActivityMessage[] = [];
  logged.push({ endpoint, messages });
  return { send: async (message: ActivityMessage) => void messages.push(message) } as unknown as Env["ACTIVITY"];
}

/** The log entries of a request: one, and one for each vault of its references. Those of 100 Items name them. */
const entriesOf = (endpoint: string): number => (endpoint === "POST /v1/resolve" ? LIMITS.tokenVaults : 1);
const ENTRY_BYTES = 8 * KIB;

/** The objects that a request writes: one content, and what the step of a backup or of a restore may write. */
const putsOf = (endpoint: string): number => (/^POST .*(backups|restores)/.test(endpoint) ? 40 : 1);

const MEASURED = sample(WORST_REQUESTS, 3).map((request) => [request.endpoint, request.why, request] as const);

describe.each(MEASURED)("%s, %s", (_, __, worst) => {
  it("keeps to the bounds of D1: calls, rows read and bytes stored", async () => {
    const sent = await worst.prepare(world);
    const { path, body } = sent;
    const { count, db } = countingDatabase();
    const [method = ""] = worst.endpoint.split(" ");
    const before = method === "GET" ? undefined : await storedBytes(env.DB);
    const [files, backups] = [countingBucket(env.FILES), countingBucket(env.BACKUPS)];
    const buckets = { FILES: files.bucket, BACKUPS: backups.bucket };
    const bindings = { DB: db, COORDINATOR: coordinatorsWith(db), ACTIVITY: queueOf(worst.endpoint), ...buckets };
    const reply = await send(method, path, { headers: headersOf(sent), body, env: bindings });
    expect([reply.status, reply.text.slice(0, 200)]).toEqual([expect.toBeOneOf([200, 204]), expect.anything()]);
    const stored = before === undefined ? 0 : (await storedBytes(env.DB)) - before;
    console.log(`${worst.endpoint}, ${worst.why}: ${JSON.stringify({ ...count, stored, body: sizeOf(body) })}`);
    expect(count.rowsRead).toBeLessThanOrEqual(worst.streams ? Infinity : 10_000);
    expect(count.rowsWritten).toBeLessThanOrEqual(method === "GET" ? 0 : Infinity);
    expect(files.count.puts + backups.count.puts).toBeLessThanOrEqual(putsOf(worst.endpoint));
    expect(stored).toBeLessThanOrEqual(worst.stores ? MIB : 4 * sizeOf(body) + 4 * KIB);
  });
});

it("no worst request sends more to the log than an entry for each vault that it reads, in one message or two", async () => {
  // The queue of a later request gets its entry after those of all requests before.
  await admin("GET", "/v1/admin/keys", { env: { ACTIVITY: queueOf("GET /v1/admin/keys") } });
  const { messages } = logged.at(-1)!;
  await vi.waitFor(() => expect(messages).toHaveLength(1), UNDER_LOAD);
  for (const { endpoint, messages: sent } of logged) {
    const rows = sent.flat();
    expect([endpoint, sent.length <= 2, rows.length <= entriesOf(endpoint)]).toEqual([endpoint, true, true]);
    expect([endpoint, rows.filter((row) => JSON.stringify(row).length > ENTRY_BYTES)]).toEqual([endpoint, []]);
  }
});

describe("the table of the worst requests", () => {
  it("has every route", () => {
    const routes = [...OPEN_ROUTES, ...ROUTES].map(({ method, path }) => `${method} ${path}`);
    const listed = new Set(WORST_REQUESTS.map(({ endpoint }) => endpoint));
    expect(routes.filter((route) => !listed.has(route))).toEqual([]);
    expect([...listed].filter((endpoint) => !routes.includes(endpoint))).toEqual([]);
  });
});
