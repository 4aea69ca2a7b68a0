import { describe, expect, it } from "vitest";
import { rebindCoordinator, seeded } from "../support/bindings.ts";
import { delayedDatabase } from "../support/concurrent-patches.ts";
import { runs } from "../support/runs.ts";
import { client, freshVault, LOGIN, makeToken } from "../support/service.ts";

const titles = (list: { title: string }[]) => list.map(({ title }) => title).toSorted();

const WRITES = runs(350, 2_000);

describe(`${WRITES.toLocaleString("en")} concurrent writes to one vault`, () => {
  it("are answered 503 with Retry-After beyond the limit of the queue; all other writes take effect, and no refused write does", async () => {
    const { vault, items, call } = await freshVault();
    await rebindCoordinator(vault, { DB: delayedDatabase(seeded(1), {}) });
    // The rate limit of one token is 2,000 requests in 10 seconds.
    const clients = await Promise.all(Array.from({ length: 8 }, async () => client((await makeToken({ [vault]: "rw" })).token)));
    const replies = await Promise.all(
      Array.from({ length: WRITES }, (_, n) => clients[n % 8]!("POST", items, { body: { ...LOGIN, title: `write ${n}` } })),
    );
    const served = replies.filter(({ status }) => status === 200);
    const refused = replies.filter(({ status }) => status !== 200);
    const answers = new Set(
      refused.map(({ status, headers, body }) => `${status} ${headers.get("Retry-After")} ${body.message}`),
    );
    expect(answers).toEqual(new Set(["503 1 Too many writes are waiting: try again"]));
    expect(served.length).toBeGreaterThanOrEqual(256);
    expect(titles((await call("GET", items)).body)).toEqual(titles(served.map(({ body }) => body)));
    expect((await call("GET", `/v1/vaults/${vault}`)).body).toMatchObject({
      items: served.length,
      contentVersion: served.length,
    });
  });
});
