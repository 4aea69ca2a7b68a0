import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { recordOperations, sleep } from "../support/bindings.ts";
import { contested, retryUntilAnswered, times } from "../support/contested.ts";
import { runs } from "../support/runs.ts";
import { admin, client, LOGIN, makeToken, type Reply } from "../support/service.ts";

/** What another request does between a coordinator's snapshot, loaded or from its cache, and its commit. */

/**
 * A vault with an Item, whose first coordinator can pause before its commit. `startWrite` starts a write and resolves when the
 * write is paused, with a function that resumes it. In: which D1 call of the write is its commit: the second, after a call
 * that loads the rows, or the first, when the rows are cached; and whether D1 fails that call.
 */
async function withPausedCommit(commit: 1 | 2, lost = false) {
  const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let calls = 0;
  let armed = false;
  const fixture = await contested(1, {
    before: () => {
      if (!armed || ++calls !== commit) return undefined;
      reached.resolve();
      return gate.promise.then(() => (lost ? Promise.reject(new Error("D1_ERROR: Network connection lost.")) : undefined));
    },
  });
  const item = await fixture.make(fixture.only(0));
  if (commit === 2) await fixture.renew();
  return {
    ...fixture,
    item,
    startWrite: async (write: () => Promise<Reply>): Promise<() => Promise<Reply>> => {
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

/** The number of rows of a vault in D1, except those of the activity log. */
async function countRows(vault: string): Promise<number> {
  const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table} WHERE ${table === "vaults" ? "id" : "vault_id"} = ?1)`);
  return (await env.DB.prepare(`SELECT ${counts.join(" + ")} AS n`)
    .bind(vault)
    .first<number>("n"))!;
}

/** The writes to a vault in the activity log. */
const loggedWrites = async (vault: string): Promise<{ action: string; item_id: string | null }[]> => {
  const sql = "SELECT action, item_id FROM activity WHERE vault_id = ?1 AND action <> 'READ' AND result = 'SUCCESS'";
  return (await env.DB.prepare(sql).bind(vault).all<{ action: string; item_id: string | null }>()).results;
};

describe.each([
  ["loaded the rows", 2],
  ["has the rows in its cache", 1],
] as const)("a write whose coordinator %s", (_, commit) => {
  it("is answered 404 and adds no row when another coordinator deletes the vault before the commit", async () => {
    const { vault, bindings, only, post, startWrite } = await withPausedCommit(commit);
    const resume = await startWrite(() => post(only(0)));
    expect((await admin("DELETE", `/v1/admin/vaults/${vault}`, { env: { ...bindings, ...only(1) } })).status).toBe(204);
    const before = await loggedWrites(vault);
    const rows = await countRows(vault);
    const { status, body } = await resume();
    expect([status, body.message]).toEqual([404, `vault ${vault} not found`]);
    expect(await countRows(vault)).toBeLessThanOrEqual(rows); // an alarm deletes them
    expect(await loggedWrites(vault)).toEqual(before);
  });

  it("is answered 404 when another coordinator deletes the Item before the commit, and the Item stays deleted", async () => {
    const { item, put, get, remove, only, startWrite } = await withPausedCommit(commit);
    const resume = await startWrite(() => put(item, "late", undefined, undefined, only(0)));
    expect((await remove(item, only(1))).status).toBe(204);
    expect((await resume()).status).toBe(404);
    expect((await get(item)).status).toBe(404);
  });

  it("is applied to the new version when another coordinator writes to the Item before the commit", async () => {
    const { item, put, get, only, startWrite } = await withPausedCommit(commit);
    const resume = await startWrite(() => put(item, "late", undefined, undefined, only(0)));
    expect((await put(item, "first", undefined, undefined, only(1))).body.version).toBe(2);
    expect((await resume()).body).toMatchObject({ version: 3, title: "late" });
    expect((await get(item)).body).toMatchObject({ version: 3, title: "late" });
  });

  it("is answered 412 when it has an If-Match and another coordinator writes to the Item before the commit", async () => {
    const { item, put, get, tagOf, only, startWrite } = await withPausedCommit(commit);
    const tag = await tagOf(item);
    const resume = await startWrite(() => put(item, "late", tag, undefined, only(0)));
    expect((await put(item, "first", tag, undefined, only(1))).status).toBe(200);
    expect((await resume()).status).toBe(412);
    expect((await get(item)).body).toMatchObject({ version: 2, title: "first" });
  });

  it("is answered 401 and takes no effect when its token is revoked before the commit", async () => {
    const { vault, item, put, get, only, startWrite } = await withPausedCommit(commit);
    const { id, token } = await makeToken({ [vault]: "rw" });
    const resume = await startWrite(() => put(item, "late", undefined, client(token), only(0)));
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`)).status).toBe(204);
    const before = await loggedWrites(vault);
    expect((await resume()).status).toBe(401);
    expect((await get(item)).body.version).toBe(1);
    expect(await loggedWrites(vault)).toEqual(before);
  });

  it("gets the first answer when another coordinator commits a request with the same Idempotency-Key before the commit", async () => {
    const { items, call, only, startWrite } = await withPausedCommit(commit);
    const send = (bindings: Partial<Env>) =>
      call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": "once" }, env: bindings });
    const resume = await startWrite(() => send(only(0)));
    const first = await send(only(1));
    expect((await resume()).body).toEqual(first.body);
    expect((await call("GET", items)).body).toHaveLength(2);
  });

  it.each([undefined, "once"])(
    "gets the first answer when another coordinator commits the same operation before a commit that fails (Idempotency-Key: %s)",
    async (key) => {
      const { items, call, only, startWrite } = await withPausedCommit(commit, true);
      const { COORDINATOR, sent } = recordOperations(only(0).COORDINATOR!);
      const bindings = { ...only(0), COORDINATOR };
      const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": key };
      const resume = await startWrite(() => call("POST", items, { body: LOGIN, headers, env: bindings }));
      await sleep(2); // so that the two attempts have different times and different answers
      const first = (await only(1).COORDINATOR!.getByName("").write(sent())) as { value: { item: { createdAt: number } } };
      expect(Date.parse((await resume()).body.createdAt)).toBe(first.value.item.createdAt);
    },
  );
});

describe("a vault that is deleted under load", () => {
  it.each(times(runs(1, 3)).map((n) => n + 1))(
    "is answered 404 to every later request, and no row of it is inserted again: seed %i",
    async (seed) => {
      const { vault, random, bindings, make, post, put, get, remove } = await contested(seed);
      const items = await Promise.all(times(5).map(() => make()));
      const lateReplies: Reply[] = [];
      const state = { deleted: false, served: 0 };
      const load = times(20).map(async (n) => {
        for (let lateRequests = 5; lateRequests > 0;) {
          const after = state.deleted;
          const item = items[Math.floor(random() * items.length)]!;
          const reply = await [() => post(), () => put(item, "x"), () => get(item), () => remove(item)][n % 4]!();
          state.served++;
          if (after) lateReplies.push(reply);
          if (after) lateRequests--;
        }
      });
      while (state.served < 60) await sleep(1);
      const deletion = await retryUntilAnswered(admin, "DELETE", `/v1/admin/vaults/${vault}`, { env: bindings });
      state.deleted = true; // also after a failure: the load would never end
      expect(deletion.status).toBe(204);
      const rows = await countRows(vault);
      await Promise.all(load);
      const answers = new Set(lateReplies.map(({ status, body }) => `${status} ${body.message}`));
      expect(answers).toEqual(new Set([`404 vault ${vault} not found`]));
      expect(await countRows(vault)).toBeLessThanOrEqual(rows);
      expect(await loggedWrites(vault)).toContainEqual({ action: "DELETE", item_id: null });
    },
  );
});
