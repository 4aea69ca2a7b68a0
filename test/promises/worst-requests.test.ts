import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { OPEN_ROUTES, ROUTES } from "../../src/http/routes.ts";
import { countingDatabase } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { send } from "../support/service.ts";
import { storedBytes } from "../support/stored-bytes.ts";
import { WORST_REQUESTS } from "../support/worst/requests.ts";
import { ask, coordinatorsWith, headersOf, sizeOf } from "../support/worst/asking.ts";
import type { World } from "../support/worst/world.ts";

/** Every endpoint is bounded: what its worst legal request costs. docs/limits.md shows the figures of a larger state. */

const MIB = 1024 * 1024;
const KIB = 1024;

/** More Items than a page with a filter looks at (`LIMITS.pageRows`), and as many entries of logs as a page of a thousand needs. */
const SIZES = { items: 4_500, content: MIB, vaults: 10, tags: 48_000, log: 2_400 };
const world: World = { env, ask, sizes: { ...SIZES, references: runs(5, 25) } };

/** A queue that drops its messages: the log entry of a read has a test of its own. */
const ACTIVITY = { send: async () => undefined } as unknown as Env["ACTIVITY"];

describe.each(WORST_REQUESTS.map((request) => [request.endpoint, request.why, request] as const))("%s, %s", (_, __, worst) => {
  it("keeps to the bounds of D1: calls, rows read and bytes stored", async () => {
    const sent = await worst.prepare(world);
    const { path, body } = sent;
    const { count, db } = countingDatabase();
    const before = await storedBytes(env.DB);
    const bindings = { DB: db, COORDINATOR: coordinatorsWith(db), ACTIVITY };
    const [method = ""] = worst.endpoint.split(" ");
    const reply = await send(method, path, { headers: headersOf(sent), body, env: bindings });
    expect([reply.status, reply.text.slice(0, 200)]).toEqual([expect.toBeOneOf([200, 204]), expect.anything()]);
    const stored = (await storedBytes(env.DB)) - before;
    console.log(`${worst.endpoint}, ${worst.why}: ${JSON.stringify({ ...count, stored, body: sizeOf(body) })}`);
    expect(count.rowsRead).toBeLessThanOrEqual(worst.streams ? Infinity : 10_000);
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
