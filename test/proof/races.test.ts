import { describe, expect, it } from "vitest";
import { sleep } from "../support/bindings.ts";
import { contested, times } from "../support/contested.ts";
import { runs } from "../support/runs.ts";
import { admin, client, makeToken, type Reply } from "../support/service.ts";

/** What another service on this platform did wrong. */

describe("50 PUTs at once with one If-Match", () => {
  it.each([1, 2, 3])("one is a 200, 49 are a 412, and the Item is what the one wrote: seed %i", async (seed) => {
    const { make, put, get } = await contested(seed);
    const item = await make();
    const replies = await Promise.all(times(50).map((n) => put(item, `editor ${n}`, 1)));
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...times(49).map(() => 412)]);
    const winner = replies.find(({ status }) => status === 200)!.body;
    expect((await get(item)).body).toEqual(winner);
    expect(winner.version).toBe(2);
  });
});

describe("two editors of one version, within one second", () => {
  it("the second gets a 412, and what the first wrote stays, 20 times", async () => {
    const { make, put, get } = await contested(1);
    for (let round = 0; round < 20; round++) {
      const item = await make();
      const [first, second] = await Promise.all([get(item), get(item)]);
      expect((await put(item, "first", first.body.version)).status).toBe(200);
      expect((await put(item, "second", second.body.version)).status).toBe(412);
      expect((await get(item)).body).toMatchObject({ title: "first", version: 2 });
    }
  });
});

describe("a PUT that races a DELETE", () => {
  const ROUNDS = runs(3, 10);

  it(`never brings the Item back, ${ROUNDS * 30} times`, async () => {
    const { random, make, put, get, remove } = await contested(1);
    const race = async (): Promise<string> => {
      const item = await make();
      const [lead, behind] = [random() * 6, random() * 6];
      const [edited, deleted] = await Promise.all([
        sleep(lead).then(() => put(item, "edited")),
        sleep(behind).then(() => remove(item)),
      ]);
      return [edited, deleted, await get(item)].map(({ status }) => status).join();
    };
    const seen: string[] = [];
    for (let round = 0; round < ROUNDS; round++) seen.push(...(await Promise.all(times(30).map(race))));
    // The PUT came first, or it found nothing.
    expect([...new Set(seen)].toSorted()).toEqual(["200,204,404", "404,204,404"]);
    expect(seen).toHaveLength(ROUNDS * 30);
  });
});

describe("a token that is revoked under load", () => {
  it.each([1, 2, 3])("is refused from the next request on, reads and writes: seed %i", async (seed) => {
    const { vault, make, put, get } = await contested(seed);
    const { id, token } = await makeToken({ [vault]: "rw" });
    const [item, as] = [await make(), client(token)];
    const late: Reply[] = [];
    const state = { revoked: false, served: 0, latest: 0 };
    const load = times(30).map(async (n) => {
      for (let more = 5; more > 0;) {
        const after = state.revoked;
        const reply = await (n % 2 === 0 ? get(item, as) : put(item, after ? "too late" : "in time", undefined, as));
        if (after) late.push(reply);
        if (after) more--;
        if (reply.status !== 200) continue;
        state.served++;
        state.latest = Math.max(state.latest, reply.body.version);
      }
    });
    while (state.served < 60) await sleep(1);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    state.revoked = true;
    await Promise.all(load);
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
    expect(late).toHaveLength(150);
    expect((await get(item)).body).toMatchObject({ title: "in time", version: state.latest });
  });
});
