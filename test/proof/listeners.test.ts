import { afterEach, describe, expect, it } from "vitest";
import { seeded } from "../support/bindings.ts";
import { contested, times } from "../support/contested.ts";
import { openEvents } from "../support/events.ts";
import { endListening } from "../support/listening.ts";
import { runs } from "../support/runs.ts";
import { client, LOGIN, makeToken } from "../support/service.ts";

/**
 * Listeners that are cut off at random, while clients write through two coordinators at once, one of which is evicted now and
 * then: each listener gets every write once and in order (contract 15.1, 15.4).
 */

afterEach(endListening);

/** Of one seed. What a listener knows is its position, so more writes of the same seed would repeat the same cuts at later ones. */
const WRITES = runs(30, 4_000);
const WRITERS = runs(4, 32);
const LISTENERS = 6;
const SEEDS = times(runs(1, 2));

interface Listening {
  readonly vault: string;
  readonly token: string;
  readonly random: () => number;
  readonly bindings: Partial<Env>;
}

/** Takes a few events at a time, each time with a new request, until the last one. Out: their numbers. */
async function listen({ vault, token, random, bindings }: Listening, last: number, index: number): Promise<number[]> {
  const got: number[] = [];
  let cursor: string | undefined;
  const path = index % 3 === 2 ? "/v1/events" : `/v1/vaults/${vault}/events`;
  while (got.at(-1) !== last) {
    const count = Math.min(1 + Math.floor(random() * 8), last - (got.at(-1) ?? 0));
    if (index % 3 === 1) {
      const query = `after=${cursor ?? 0}&limit=${count}&wait=30`;
      const { status, body } = await client(token)("GET", `${path}?${query}`, { env: bindings });
      if (status !== 200) throw new Error(`${status} ${body?.message}`);
      got.push(...body.events.map(({ sequence }: { sequence: number }) => sequence));
      cursor = body.last;
      continue;
    }
    const stream = await openEvents(token, `${path}?after=0`, { lastId: cursor, env: bindings });
    expect(stream.response.status).toBe(200);
    for (let taken = 0; taken < count; taken++) {
      const event = await stream.next();
      if (!event) break;
      got.push(event.data.sequence);
    }
    cursor = stream.lastId() || cursor;
    await stream.close();
  }
  return got;
}

describe.each(SEEDS)("listeners that are cut off at random, seed %i", (seed) => {
  it(`get ${WRITES} writes of ${WRITERS} clients: none missed, none doubled, in order`, async () => {
    const { vault, random, bindings, post, put, renew } = await contested(seed);
    const { token } = await makeToken({ [vault]: "r" });
    const last = 1 + WRITES;
    const heard = times(LISTENERS).map((index) =>
      listen({ vault, token, random: seeded(100 * seed + index), bindings }, last, index),
    );
    const items = await Promise.all(times(WRITERS).map(async () => (await post()).body.id as string));
    for (let round = 1; round < WRITES / WRITERS; round++) {
      const replies = await Promise.all(items.map((item) => put(item, `${LOGIN.title} ${round}`)));
      expect(replies.map(({ status }) => status)).toEqual(items.map(() => 200));
      if (random() < 0.1) await renew(); // between two rounds, so that no request is lost with the coordinator
    }
    const expected = Array.from({ length: last }, (_, index) => index + 1);
    for (const got of await Promise.all(heard)) expect(got).toEqual(expected);
  });
});
