import { evictAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sleep } from "../support/bindings.ts";
import { canary, captureLog, dumpOfDatabase, found } from "../support/canary.ts";
import { type HostileRequest, session } from "./hostile/requests.ts";
import { broken } from "./hostile/rules.ts";
import { newWorld, type World } from "./hostile/world.ts";
import { isLong, runs } from "../support/runs.ts";

/**
 * A hostile client against the whole Worker: a few requests at a time, in a vault of its own. A failure prints the
 * requests, made as small as they go, and a seed; put `{ seed, path }` here to see it again.
 */
const AGAIN: fc.Parameters<[HostileRequest[]]> = {};

const lines = captureLog();
/** In every value. */
const secret = canary();
/** In paths and ids, which messages may echo. */
const name = canary();
const seen = new Map<number, number>();

/** Asks, and reads the answer to its end. Out: the rules that it breaks. */
async function ask(world: World, request: HostileRequest): Promise<string[]> {
  try {
    const response = await world.send(request);
    const { status, headers } = response;
    seen.set(status, (seen.get(status) ?? 0) + 1);
    return broken(request, { status, headers, text: new TextDecoder().decode(await response.arrayBuffer()) }, secret);
  } catch (error) {
    return [`it is answered, to its end: ${String(error)}`];
  }
}

/**
 * What the database holds of the words. Then all vaults go, so that a list of them stays short, and their coordinators,
 * which keep files open: thousands of them are too many. The timers of the Worker run while the test waits, and only then.
 */
async function leaked(): Promise<string[]> {
  const words = found(await dumpOfDatabase());
  const tables = ["tokens", "vaults", "items", "files", "activity", "replays"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  await evictAllDurableObjects();
  await sleep(1);
  return words;
}

/** So many sessions share a database. */
const EACH = 100;

it("every request has an answer of the contract: never a 5xx, never another body than that of errors, and no secret in it, in a log or in D1", async () => {
  let count = 0;
  const property = fc.asyncProperty(session, async (requests) => {
    expect(count++ % EACH === 0 ? await leaked() : []).toEqual([]);
    const world = newWorld(secret, name);
    const logged = lines.length;
    for (const request of requests) {
      const faults = await ask(world, request);
      const told = found(lines.slice(logged).join("\n"));
      expect({ faults, told, request }).toEqual({ faults: [], told: [], request });
    }
  });
  await fc.assert(property, { numRuns: runs(50), ...AGAIN });
  expect(await leaked()).toEqual([]);
  expect(found(lines.join("\n"))).toEqual([]);
});

it("was no monologue: answers of every kind came back", () => {
  const common = [200, 204, 400, 401, 403, 404, 405];
  const rare = isLong ? [206, 304, 409, 412, 413, 415, 416] : [];
  expect([...common, ...rare].filter((status) => !seen.has(status))).toEqual([]);
});
