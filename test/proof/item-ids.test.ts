import { describe, expect, it } from "vitest";
import { contested, retryUntilAnswered, times } from "../support/contested.ts";
import { inOneGroup } from "../support/group.ts";
import { runs } from "../support/runs.ts";
import { type Client, client, freshVault, LOGIN, makeToken, type Reply } from "../support/service.ts";
import { freshWriter, kindOf } from "../support/versions.ts";

/** Concurrent requests with one `Item-Id` (contract 10.23): exactly one of them makes the Item. */

const post = (as: Client, items: string, id: string, title: string, bindings: Partial<Env> = {}): Promise<Reply> =>
  retryUntilAnswered(as, "POST", items, { body: { ...LOGIN, title }, headers: { "Item-Id": id }, env: bindings });

const kinds = (replies: readonly Reply[]): string[] =>
  replies.map(({ status, headers }) => `${status} ${headers.get("Item-Vault-Error") ?? ""}`.trim()).toSorted();

describe("concurrent POSTs with one Item-Id", () => {
  const SEEDS = times(runs(1, 30)).map((n) => n + 1);

  it.each(SEEDS)("through two coordinators get one 200 and else 409, and the Item is that of the 200: seed %i", async (seed) => {
    const { items, call, bindings, get } = await contested(seed);
    for (const count of [2, 12]) {
      const id = crypto.randomUUID();
      const replies = await Promise.all(times(count).map((n) => post(call, items, id, `writer ${n}`, bindings)));
      expect(kinds(replies)).toEqual(["200", ...times(count - 1).map(() => "409 item_exists")]);
      expect((await get(id)).body).toEqual(replies.find(({ status }) => status === 200)!.body);
    }
  });

  it("in one group get one 200 and else 409, and other writes of the group take effect", async () => {
    const { vault, items, call } = await freshVault();
    const id = crypto.randomUUID();
    const make = () => call("POST", items, { body: LOGIN });
    const writers = times(4).map((n) => () => post(call, items, id, `writer ${n}`));
    const { first, others } = await inOneGroup(vault, make, [...writers, make]);
    expect(kinds(others.slice(0, 4))).toEqual(["200", ...times(3).map(() => "409 item_exists")]);
    expect([first.status, others[4]!.status]).toEqual([200, 200]);
    expect((await call("GET", items)).body).toHaveLength(3);
  });
});

describe("a coordinator that has not read what another one did", () => {
  it.each(["exists", "is deleted"])("refuses the id of an Item that %s", async (state) => {
    const { items, call, make, remove, only } = await contested(1);
    await make(only(0)); // the first coordinator then has the vault in its cache
    const id = crypto.randomUUID();
    await post(call, items, id, "other", only(1));
    if (state === "is deleted") await remove(id, only(1));
    expect(kinds([await post(call, items, id, "mine", only(0))])).toEqual(["409 item_exists"]);
  });

  it("refuses the id of an Item that it has deleted itself", async () => {
    const { items, call, remove, only } = await contested(1);
    const id = crypto.randomUUID();
    await post(call, items, id, "mine", only(0));
    await remove(id, only(0));
    expect(kinds([await post(call, items, id, "mine", only(0))])).toEqual(["409 item_exists"]);
  });
});

it("an Item that its own group destroys has its id until the commit", async () => {
  const { vault, items, actor: _, apply } = await freshWriter();
  const call = client((await makeToken({ [vault]: "rwd" })).token);
  const item = crypto.randomUUID();
  expect((await post(call, items, item, "first")).status).toBe(200);
  await call("DELETE", `${items}/${item}`);
  const { others } = await inOneGroup<unknown>(vault, () => call("POST", items, { body: LOGIN }), [
    () => apply({ kind: "destroy-item", item }).then(kindOf),
    () => post(call, items, item, "second").then((reply) => kinds([reply])),
  ]);
  expect(others).toEqual([undefined, ["409 item_exists"]]);
  expect((await post(call, items, item, "second")).body).toMatchObject({ version: 1, title: "second" });
});
