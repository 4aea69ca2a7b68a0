import { describe, expect, it } from "vitest";
import { sleep } from "../support/bindings.ts";
import { contested, times } from "../support/contested.ts";
import { runs } from "../support/runs.ts";
import { admin, client, makeToken, type Reply } from "../support/service.ts";

/** Races between concurrent requests: conditional writes, a deletion, and the revocation of a token. */

describe("50 concurrent PUTs with the same If-Match", () => {
  it.each(times(runs(1, 3)).map((n) => n + 1))(
    "get one 200 and 49 times 412, and the Item is the one that the 200 shows: seed %i",
    async (seed) => {
      const { make, put, get, tagOf } = await contested(seed);
      const item = await make();
      const tag = await tagOf(item);
      const replies = await Promise.all(times(50).map((n) => put(item, `editor ${n}`, tag)));
      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...times(49).map(() => 412)]);
      const winner = replies.find(({ status }) => status === 200)!.body;
      expect((await get(item)).body).toEqual(winner);
      expect(winner.version).toBe(2);
    },
  );
});

describe("two conditional PUTs that name the same version", () => {
  const ROUNDS = runs(8, 20);

  it(`the second gets a 412, and the Item stays as the first wrote it, ${ROUNDS} times`, async () => {
    const { make, put, get, tagOf } = await contested(1);
    for (let round = 0; round < ROUNDS; round++) {
      const item = await make();
      const [first, second] = await Promise.all([tagOf(item), tagOf(item)]);
      expect((await put(item, "first", first)).status).toBe(200);
      expect((await put(item, "second", second)).status).toBe(412);
      expect((await get(item)).body).toMatchObject({ title: "first", version: 2 });
    }
  });
});

describe("a PUT that is concurrent with a DELETE", () => {
  const ROUNDS = runs(2, 10);

  it(`never restores the Item, ${ROUNDS * 30} times`, async () => {
    const { random, make, put, get, remove } = await contested(1);
    const race = async (): Promise<string> => {
      const item = await make();
      const [putDelay, deleteDelay] = [random() * 6, random() * 6];
      const [edited, deleted] = await Promise.all([
        sleep(putDelay).then(() => put(item, "edited")),
        sleep(deleteDelay).then(() => remove(item)),
      ]);
      return [edited, deleted, await get(item)].map(({ status }) => status).join();
    };
    const outcomes: string[] = [];
    for (let round = 0; round < ROUNDS; round++) outcomes.push(...(await Promise.all(times(30).map(race))));
    // The PUT took effect before the DELETE, or got a 404 after it.
    expect([...new Set(outcomes)].toSorted()).toEqual(["200,204,404", "404,204,404"]);
    expect(outcomes).toHaveLength(ROUNDS * 30);
  });
});

describe("a token that is revoked under load", () => {
  const SEEDS = times(runs(1, 3)).map((n) => n + 1);

  it.each(SEEDS)("is refused from the next request on, for reads and writes: seed %i", async (seed) => {
    const { vault, make, put, get } = await contested(seed);
    const { id, token } = await makeToken({ [vault]: "rw" });
    const [item, revokedClient] = [await make(), client(token)];
    const lateReplies: Reply[] = [];
    const state = { revoked: false, served: 0, newest: 0 };
    const load = times(30).map(async (n) => {
      for (let lateRequests = 5; lateRequests > 0;) {
        const after = state.revoked;
        const reply = await (n % 2 === 0
          ? get(item, revokedClient)
          : put(item, after ? "too late" : "in time", undefined, revokedClient));
        if (after) lateReplies.push(reply);
        if (after) lateRequests--;
        if (reply.status !== 200) continue;
        state.served++;
        state.newest = Math.max(state.newest, reply.body.version);
      }
    });
    while (state.served < 60) await sleep(1);
    const revocation = await admin("DELETE", `/v1/admin/tokens/${id}`);
    state.revoked = true; // also after a failure: the load would never end
    expect(revocation.status).toBe(204);
    await Promise.all(load);
    expect(new Set(lateReplies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(lateReplies).toHaveLength(150);
    expect((await get(item)).body).toMatchObject({ title: "in time", version: state.newest });
  });
});
