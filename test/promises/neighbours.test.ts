import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../src/model/limits.ts";
import { sleep, wrapDatabase } from "../support/bindings.ts";
import { isLong, runs, sample } from "../support/runs.ts";
import { freshVault, LOGIN, type Reply, send } from "../support/service.ts";
import { storedBytes } from "../support/stored-bytes.ts";
import { ask, coordinatorsWith, headersOf, sizeOf } from "../support/worst/asking.ts";
import { type Attack, ATTACKS } from "../support/worst/attacks.ts";
import type { World } from "../support/worst/world.ts";

/** One token does its worst. The clients of another vault notice nothing, and D1 grows by no more than the bounds. */

const KIB = 1024;
const WRITES = 12;
/** Between two writes, in milliseconds. */
const PAUSE = runs(25, 5);
const world: World = { env, ask, sizes: { items: 100, content: 1024, vaults: 1, tags: 800, references: 1, log: 600 } };

/** The statements of a commit of one PATCH: the log entry, the Item, the vault, the version before, and often the oldest one. */
const COMMIT: ReadonlySet<number> = new Set([4, 5]);

/** A vault with one Item, and the numbers of statements in the D1 calls of its coordinator from now on. */
async function neighbour() {
  const { items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: LOGIN });
  const path = `${items}/${item.id}`;
  const calls: number[] = [];
  const before = (statements: number) => void calls.push(statements);
  const bindings = { COORDINATOR: coordinatorsWith(wrapDatabase(env.DB, { before })) };
  const rename = (title: string) =>
    call("PATCH", path, { body: [{ op: "replace", path: "/title", value: title }], env: bindings });
  return { call, path, rename, calls };
}

type Requests = Awaited<ReturnType<Attack["prepare"]>>;

/** The answers that the clients of the other vault get while the requests are carried out, and these requests' statuses. */
async function answersDuring(requests: Requests) {
  const { call, path, rename, calls } = await neighbour();
  const attack = { running: true };
  const attacking = Promise.all(
    requests.map(({ method, ...sent }) => send(method, sent.path, { ...sent, headers: headersOf(sent) })),
  );
  const attacked = attacking.finally(() => (attack.running = false));
  const writes: Reply[] = [];
  const reads: Reply[] = [];
  while (attack.running || writes.length < WRITES) {
    writes.push(await rename(`title ${writes.length}`));
    reads.push(await call("GET", path));
    // All parts run in one thread here, and without a pause no timer of the others would fire.
    await sleep(PAUSE);
  }
  return { writes, reads, calls, statuses: new Set((await attacked).map(({ status }) => status)) };
}

/** The requests of the attacks that only read. They are sent again. */
const reading = new Map<Attack, Requests>();

async function requestsOf(attack: Attack): Promise<Requests> {
  const requests = reading.get(attack) ?? (await attack.prepare(world));
  if (requests.every(({ method }) => method === "GET")) reading.set(attack, requests);
  return requests;
}

const ALLOWED: ReadonlySet<number> = new Set([200, 204, 401, 404, 409, 429, 503]);

async function expectUnharmed(requests: Requests): Promise<void> {
  const before = await storedBytes(env.DB);
  const { writes, reads, calls, statuses } = await answersDuring(requests);
  const sent = requests.reduce((sum, { body }) => sum + 4 * sizeOf(body) + 4 * KIB, 0);
  expect(writes.map(({ status }) => status)).toEqual(writes.map(() => 200));
  expect(reads.map(({ body }) => body.title)).toEqual(writes.map((_, index) => `title ${index}`));
  // Each write waited for no other: one commit with the statements of one write. A coordinator that the platform has evicted
  // meanwhile makes another call, which fills its cache.
  expect(calls.filter((statements) => COMMIT.has(statements))).toHaveLength(writes.length);
  expect(calls.length).toBeLessThanOrEqual(writes.length + 3);
  expect([...statuses].filter((status) => !ALLOWED.has(status))).toEqual([]);
  const grown = (await storedBytes(env.DB)) - before;
  // A version that is kept takes as much as the Item.
  const kept = 2 * env.VERSIONS_KEPT * LIMITS.item;
  expect(grown).toBeLessThanOrEqual(sent + kept + (writes.length + reads.length) * 2 * KIB);
}

describe("the clients of another vault get every answer at the usual cost while one token sends", () => {
  // The short run sends them together only. `npm run soak` also sends each alone, which names the one that does harm.
  it.each((isLong ? ATTACKS : []).map((attack) => [attack.name, attack] as const))("%s", async (_, attack) => {
    await expectUnharmed(await requestsOf(attack));
  });

  // It makes the states of all attacks first. The short run has every second attack.
  it("all of these at once", async () => {
    const requests = [];
    for (const attack of sample(ATTACKS, 2)) requests.push(...(await requestsOf(attack)));
    await expectUnharmed(requests);
  });
});
