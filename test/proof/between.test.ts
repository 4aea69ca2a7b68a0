import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { overhear, sleep } from "../support/bindings.ts";
import { contested, insist, times } from "../support/contested.ts";
import { admin, client, LOGIN, makeToken, type Reply } from "../support/service.ts";

/** What happens between a coordinator's read, in this write or in one before it, and its commit. */

/**
 * A vault whose first coordinator stops before its commit, and an Item that it made. `held` begins a write and comes back
 * when it has stopped there. In: the D1 call of the write that is its commit: the second, after a read, or the first, when
 * the coordinator remembers; and whether D1 fails then.
 */
async function holding(commit: 1 | 2, lost = false) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  let armed = false;
  const at = await contested(1, {
    before: () => {
      if (!armed || ++calls !== commit) return undefined;
      reached.resolve();
      return gate.promise.then(() => (lost ? Promise.reject(new Error("D1_ERROR: Network connection lost.")) : undefined));
    },
  });
  const item = await at.make(at.only(0));
  if (commit === 2) await at.renew();
  return {
    ...at,
    item,
    held: async (write: () => Promise<Reply>): Promise<() => Promise<Reply>> => {
      armed = true;
      const reply = write();
      await reached.promise;
      return () => {
        gate.resolve();
        return reply;
      };
    },
  };
}

const TABLES = ["vaults", "items", "files", "replays"];

/** How many rows D1 has of a vault, its log aside. */
async function rowsLeft(vault: string): Promise<number> {
  const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table} WHERE ${table === "vaults" ? "id" : "vault_id"} = ?1)`);
  return (await env.DB.prepare(`SELECT ${counts.join(" + ")} AS n`)
    .bind(vault)
    .first<number>("n"))!;
}

/** The writes that the log has of a vault. */
const logged = async (vault: string): Promise<{ action: string; item_id: string | null }[]> => {
  const sql = "SELECT action, item_id FROM activity WHERE vault_id = ?1 AND action <> 'READ' AND result = 'SUCCESS'";
  return (await env.DB.prepare(sql).bind(vault).all<{ action: string; item_id: string | null }>()).results;
};

describe.each([
  ["has read", 2],
  ["remembers", 1],
] as const)("a write whose coordinator %s, when", (_, commit) => {
  it("another one deletes the vault: it is a 404, and leaves no row behind", async () => {
    const { vault, bindings, only, post, held } = await holding(commit);
    const go = await held(() => post(only(0)));
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`, { env: { ...bindings, ...only(1) } })).status).toBe(204);
    const before = await logged(vault);
    const { status, body } = await go();
    expect([status, body.message]).toEqual([404, `vault ${vault} not found`]);
    expect(await rowsLeft(vault)).toBe(0);
    expect(await logged(vault)).toEqual(before);
  });

  it("another one deletes the Item: it is a 404, and the Item stays away", async () => {
    const { item, put, get, remove, only, held } = await holding(commit);
    const go = await held(() => put(item, "late", undefined, undefined, only(0)));
    expect((await remove(item, only(1))).status).toBe(204);
    expect((await go()).status).toBe(404);
    expect((await get(item)).status).toBe(404);
  });

  it("another one writes to the Item: it is put upon that", async () => {
    const { item, put, get, only, held } = await holding(commit);
    const go = await held(() => put(item, "late", undefined, undefined, only(0)));
    expect((await put(item, "first", undefined, undefined, only(1))).body.version).toBe(2);
    expect((await go()).body).toMatchObject({ version: 3, title: "late" });
    expect((await get(item)).body).toMatchObject({ version: 3, title: "late" });
  });

  it("another one writes to the Item, and it has an If-Match: it is a 412", async () => {
    const { item, put, get, only, held } = await holding(commit);
    const go = await held(() => put(item, "late", 1, undefined, only(0)));
    expect((await put(item, "first", 1, undefined, only(1))).status).toBe(200);
    expect((await go()).status).toBe(412);
    expect((await get(item)).body).toMatchObject({ version: 2, title: "first" });
  });

  it("its token is revoked: it is a 401, and nothing happened", async () => {
    const { vault, item, put, get, only, held } = await holding(commit);
    const { id, token } = await makeToken({ [vault]: "rw" });
    const go = await held(() => put(item, "late", undefined, client(token), only(0)));
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    const before = await logged(vault);
    expect((await go()).status).toBe(401);
    expect((await get(item)).body.version).toBe(1);
    expect(await logged(vault)).toEqual(before);
  });

  it("another one has carried out the same request with the same Idempotency-Key: it gets the first answer", async () => {
    const { items, call, only, held } = await holding(commit);
    const once = (bindings: Partial<Env>) =>
      call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": "once" }, env: bindings });
    const go = await held(() => once(only(0)));
    const first = await once(only(1));
    expect((await go()).body).toEqual(first.body);
    expect((await call("GET", items)).body).toHaveLength(2);
  });

  it.each([undefined, "once"])(
    "another one has carried out the very same operation, and its own attempt is lost: it gets the first answer (key: %s)",
    async (key) => {
      const { items, call, only, held } = await holding(commit, true);
      const { COORDINATOR, sent } = overhear(only(0).COORDINATOR!);
      const bindings = { ...only(0), COORDINATOR };
      const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
      const go = await held(() => call("POST", items, { body: LOGIN, headers, env: bindings }));
      await sleep(2); // another time, so another answer
      const first = (await only(1).COORDINATOR!.getByName("").write(sent())) as { value: { item: { createdAt: number } } };
      expect(Date.parse((await go()).body.createdAt)).toBe(first.value.item.createdAt);
    },
  );
});

describe("a vault that is deleted under load", () => {
  it.each([1, 2, 3])("is gone for every later request, and no row of it comes back: seed %i", async (seed) => {
    const { vault, random, bindings, make, post, put, get, remove } = await contested(seed);
    const items = await Promise.all(times(5).map(() => make()));
    const late: Reply[] = [];
    const state = { deleted: false, served: 0 };
    const load = times(20).map(async (n) => {
      for (let more = 5; more > 0;) {
        const after = state.deleted;
        const item = items[Math.floor(random() * items.length)]!;
        const reply = await [() => post(), () => put(item, "x"), () => get(item), () => remove(item)][n % 4]!();
        state.served++;
        if (after) late.push(reply);
        if (after) more--;
      }
    });
    while (state.served < 60) await sleep(1);
    expect((await insist(admin, "DELETE", `/v1/admin/vaults/${vault}`, { env: bindings })).status).toBe(204);
    state.deleted = true;
    await Promise.all(load);
    const answers = new Set(late.map(({ status, body }) => `${status} ${body.message}`));
    expect(answers).toEqual(new Set([`404 vault ${vault} not found`]));
    expect(await rowsLeft(vault)).toBe(0);
    expect(await logged(vault)).toContainEqual({ action: "DELETE", item_id: null });
  });
});
