import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { sleep } from "../support/bindings.ts";
import { canary, captureLog, dumpOfDatabase, found } from "../support/canary.ts";
import { isLong, runs } from "../support/runs.ts";
import { createFixtures, type Fixtures } from "./hostile/fixtures.ts";
import { type HostileRequest, session } from "./hostile/requests.ts";
import { violatedRules } from "./hostile/rules.ts";

/**
 * Random hostile requests to the whole Worker, in sessions of at most 10, each with a vault of its own. A failure prints
 * the shrunk requests and a seed. To reproduce it, set `{ seed, path }` here.
 */
const REPRODUCE: fc.Parameters<[HostileRequest[]]> = {};

const lines = captureLog();
/** A part of every value. No error, log line or row in plaintext may contain it. */
const secret = canary();
/** A part of paths and ids, which error messages may repeat (contract 4.4). */
const name = canary();
const statuses = new Map<number, number>();

/** Sends a request and reads the whole answer. Out: the rules that the answer violates. */
async function violationsOf(fixtures: Fixtures, request: HostileRequest): Promise<string[]> {
  try {
    const response = await fixtures.send(request);
    const { status, headers } = response;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    return violatedRules(request, { status, headers, text: new TextDecoder().decode(await response.arrayBuffer()) }, secret);
  } catch (error) {
    return [`the request is answered completely: ${String(error)}`];
  }
}

/**
 * The secret and the name, if a row of D1 contains them in plaintext. Then deletes all vaults, so that lists of vaults stay short,
 * and evicts their coordinators, because each keeps files open. The timers of the Worker run only while the test waits.
 */
async function leakedWords(): Promise<string[]> {
  const words = found(await dumpOfDatabase());
  const vaults = (await env.DB.prepare("SELECT id FROM vaults").all<{ id: string }>()).results;
  const tables = ["tokens", "vaults", "items", "files", "activity", "replays"];
  await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  await Promise.all(vaults.map(({ id }) => evictDurableObject(env.COORDINATOR.getByName(id))));
  await sleep(1);
  return words;
}

/** The number of sessions between two checks of the database. */
const SESSIONS_PER_CHECK = 100;

it("every hostile request gets an answer that the contract allows, and no secret is in an error, in a log or in D1", async () => {
  let count = 0;
  const property = fc.asyncProperty(session, async (requests) => {
    expect(count++ % SESSIONS_PER_CHECK === 0 ? await leakedWords() : []).toEqual([]);
    const fixtures = createFixtures(secret, name);
    const linesBefore = lines.length;
    for (const request of requests) {
      const violations = await violationsOf(fixtures, request);
      const logged = found(lines.slice(linesBefore).join("\n"));
      expect({ violations, logged, request }).toEqual({ violations: [], logged: [], request });
    }
  });
  await fc.assert(property, { numRuns: runs(15), ...REPRODUCE });
  expect(await leakedWords()).toEqual([]);
  expect(found(lines.join("\n"))).toEqual([]);
});

it("the hostile requests got answers of all expected statuses", () => {
  // A short run has a few answers of 204, 403 or 405, and so none of one of them in one run of ten.
  const common = [200, 400, 401, 404];
  const rare = isLong ? [204, 206, 304, 403, 405, 409, 412, 413, 415, 416] : [];
  expect([...common, ...rare].filter((status) => !statuses.has(status))).toEqual([]);
});
