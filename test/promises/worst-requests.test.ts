import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { OPEN_ROUTES, ROUTES } from "../../src/http/app.ts";
import type { Route } from "../../src/http/route.ts";
import { LIMITS } from "../../src/model/limits.ts";
import { takeBatch } from "../../src/store/activity/flush.ts";
import { countingBucket, countingDatabase } from "../support/bindings.ts";
import { runs, sample } from "../support/runs.ts";
import { admin, send } from "../support/service.ts";
import { storedBytes } from "../support/stored-bytes.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { ask, coordinatorsWith, headersOf, sizeOf } from "../support/worst/asking.ts";
import { STREAMED, WORST_REQUESTS } from "../support/worst/requests.ts";
import type { World } from "../support/worst/world.ts";

/** Every endpoint is bounded: what its worst legal request costs. docs/limits.md shows the figures of a larger state. */

const MIB = 1024 * 1024;
const KIB = 1024;

/** More Items than a page with a filter looks at (`LIMITS.pageRows`), and more entries of one log than a page of a thousand shows. */
const SIZES = { items: 4_500, vaults: 10, log: runs(1_200, 2_400) };
/** The bounds are rows, and bytes in proportion to the body, so the short run has smaller texts and contents. */
const TEXTS = { content: runs(MIB / 4, MIB), tags: runs(8_000, 48_000), references: runs(5, 25) };
const world: World = { env, ask, sizes: { ...SIZES, ...TEXTS } };

/** The requests, each with a batch of its own for what it adds to the log. Its window does not end. */
const logged: { readonly endpoint: string; readonly queue: Env["ACTIVITY"] }[] = [];

const { setTimeout: timeout } = globalThis;
beforeAll(
  () => void vi.stubGlobal("setTimeout", (run: () => void, delay?: number) => (delay === 2_000 ? 0 : timeout(run, delay))),
);
afterAll(() => void vi.unstubAllGlobals());

function queueOf(endpoint: string): Env["ACTIVITY"] {
  const queue = { send: async () => undefined } as unknown as Env["ACTIVITY"];
  logged.push({ endpoint, queue });
  return queue;
}

/** The log entries of a request: one, and one for each vault of its references. Those of 100 Items name them. */
const entriesOf = (endpoint: string): number => (endpoint === "POST /v1/resolve" ? LIMITS.tokenVaults : 1);
const ENTRY_BYTES = 8 * KIB;

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
    expect([reply.status, reply.text.slice(0, 200)]).toEqual([expect.toBeOneOf([200, 202, 204]), expect.anything()]);
    const stored = before === undefined ? 0 : (await storedBytes(env.DB)) - before;
    console.log(`${worst.endpoint}, ${worst.why}: ${JSON.stringify({ ...count, stored, body: sizeOf(body) })}`);
    expect(count.rowsRead).toBeLessThanOrEqual(worst.reads === STREAMED ? Infinity : 10_000);
    expect(count.rowsWritten).toBeLessThanOrEqual(method === "GET" ? 0 : Infinity);
    expect(files.count.puts + backups.count.puts).toBeLessThanOrEqual(1);
    expect(stored).toBeLessThanOrEqual(worst.stores ? MIB : 4 * sizeOf(body) + 4 * KIB);
  });
});

it("no worst request adds more to the log than an entry for each vault that it reads", async () => {
  // The entry of a later request comes after those of all requests before.
  await admin("GET", "/v1/admin/keys", { env: { ACTIVITY: queueOf("GET /v1/admin/keys") } });
  const { queue: last } = logged.pop()!;
  await vi.waitFor(() => expect(takeBatch(last)).toHaveLength(1), UNDER_LOAD);
  for (const { endpoint, queue } of logged) {
    const entries = takeBatch(queue);
    expect([endpoint, entries.length <= entriesOf(endpoint)]).toEqual([endpoint, true]);
    expect([endpoint, entries.filter((entry) => JSON.stringify(entry).length > ENTRY_BYTES)]).toEqual([endpoint, []]);
  }
});

const listed = new Set(WORST_REQUESTS.map(({ endpoint }) => endpoint));
/** It has no body and asks D1 for nothing: it fetches from the identity provider. */
const BEGINNING = "POST /console/sign-ins";
const endpointOf = ({ method, path }: Pick<Route, "method" | "path">): string => `${method} ${path}`;
const missingOf = (routes: readonly Pick<Route, "method" | "path">[]): string[] =>
  routes.map(endpointOf).filter((endpoint) => !listed.has(endpoint) && endpoint !== BEGINNING);

describe("the table of the worst requests", () => {
  const routes = [...OPEN_ROUTES, ...ROUTES];

  it("has every route, and no other one", () => {
    expect(missingOf(routes)).toEqual([]);
    expect([...listed].filter((endpoint) => !routes.map(endpointOf).includes(endpoint))).toEqual([]);
  });

  it("lacks an operation that is new", () => {
    const added = { method: "POST", path: "/v1/vaults/:vault/new" } as const;
    expect(missingOf([...routes, added])).toEqual(["POST /v1/vaults/:vault/new"]);
  });
});
