import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { OPEN_ROUTES, ROUTES } from "../../src/http/routes.ts";
import { countingDatabase } from "../support/bindings.ts";
import { runs, sample } from "../support/runs.ts";
import { send } from "../support/service.ts";
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

/** A queue that drops its messages: the log entry of a read has a test of its own. */
const ACTIVITY = { send: async () => undefined } as unknown as Env["ACTIVITY"];

const MEASURED = sample(WORST_REQUESTS, 3).map((request) => [request.endpoint, request.why, request] as const);

describe.each(MEASURED)("%s, %s", (_, __, worst) => {
  it("keeps to the bounds of D1: calls, rows read and bytes stored", async () => {
    const sent = await worst.prepare(world);
    const { path, body } = sent;
    const { count, db } = countingDatabase();
    const [method = ""] = worst.endpoint.split(" ");
    const before = method === "GET" ? undefined : await storedBytes(env.DB);
    const bindings = { DB: db, COORDINATOR: coordinatorsWith(db), ACTIVITY };
    const reply = await send(method, path, { headers: headersOf(sent), body, env: bindings });
    expect([reply.status, reply.text.slice(0, 200)]).toEqual([expect.toBeOneOf([200, 204]), expect.anything()]);
    const stored = before === undefined ? 0 : (await storedBytes(env.DB)) - before;
    console.log(`${worst.endpoint}, ${worst.why}: ${JSON.stringify({ ...count, stored, body: sizeOf(body) })}`);
    expect(count.rowsRead).toBeLessThanOrEqual(worst.streams ? Infinity : 10_000);
    expect(count.rowsWritten).toBeLessThanOrEqual(method === "GET" ? 0 : Infinity);
    expect(stored).toBeLessThanOrEqual(worst.stores ? MIB : 4 * sizeOf(body) + 4 * KIB);
  });
});

describe("the table of the worst requests", () => {
  it("has every route", () => {
    const routes = [...OPEN_ROUTES, ...ROUTES].map(({ method, path }) => `${method} ${path}`);
    const listed = new Set(WORST_REQUESTS.map(({ endpoint }) => endpoint));
    expect(routes.filter((route) => !listed.has(route))).toEqual([]);
    expect([...listed].filter((endpoint) => !routes.includes(endpoint))).toEqual([]);
  });
});
