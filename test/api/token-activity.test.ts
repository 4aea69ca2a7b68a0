import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { DAY } from "../../src/model/time.ts";
import { createRequestId } from "../../src/request-id.ts";
import { drainQueue, fillLog, pagesOf, untilLogged } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply } from "../support/service.ts";

/** What a token has done: `GET /v1/admin/tokens/{token}/activity` (contract 13.28). */

const logOf = (token: string, query = "") => `/v1/admin/tokens/${token}/activity${query}`;
const read = (token: string, query = "", options: object = {}): Promise<Reply> => admin("GET", logOf(token, query), options);
const shown = ({ body }: Reply) => body.map(({ action, result, log }: any) => [action, result, log]);

const world = { a: "", b: "", foreign: "", item: "", token: "" };

/** A token makes an Item in one of its vaults, reads it, is refused in another one and in a foreign one, and lists its vaults. */
beforeAll(async () => {
  await drainQueue();
  const [a, b, foreign] = [await makeVault(), await makeVault(), await makeVault()];
  const { id, token } = await makeToken({ [a]: "rw", [b]: "l" });
  const call = client(token);
  const { id: item } = (await call("POST", `/v1/vaults/${a}/items`, { body: LOGIN })).body;
  await call("GET", `/v1/vaults/${a}/items/${item}`);
  await call("GET", `/v1/vaults/${b}/items/${item}`);
  await call("GET", `/v1/vaults/${foreign}`);
  await call("GET", "/v1/vaults");
  // The entries of another token are in the same logs.
  await client((await makeToken({ [a]: "r" })).token)("GET", `/v1/vaults/${a}/items/${item}`);
  await untilLogged();
  Object.assign(world, { a, b, foreign, item, token: id });
});

describe("GET /v1/admin/tokens/{token}/activity", () => {
  it("shows what the token did in the vaults that it names and in its own log, newest first, and nothing of other tokens", async () => {
    const reply = await read(world.token);
    expect(shown(reply)).toEqual([
      ["READ", "SUCCESS", world.token],
      ["READ", "DENY", world.b],
      ["READ", "SUCCESS", world.a],
      ["CREATE", "SUCCESS", world.a],
    ]);
    expect(reply.body.every(({ actor }: any) => actor.id === world.token)).toBe(true);
    expect(reply.headers.get("Link")).toBeNull();
  });

  it.each([
    ["limit=1", 4],
    ["limit=2&result=SUCCESS", 3],
    ["action=CREATE", 1],
  ])("gives every entry once page by page, and filters them: %s", async (query, count) => {
    const ids = await pagesOf(admin, logOf(world.token, `?${query}`));
    expect([ids.length, new Set(ids).size]).toEqual([count, count]);
  });

  it("takes the entries of one log, or of one Item", async () => {
    expect(shown(await read(world.token, `?vault=${world.b}`))).toEqual([["READ", "DENY", world.b]]);
    expect((await read(world.token, `?vault=${world.foreign}`)).body).toEqual([]);
    expect((await read(world.token, `?item=${world.item}`)).body).toHaveLength(3);
  });

  it("shows what a token did in the log of the admin", async () => {
    const { id, token } = await makeToken({}, { delegate: true });
    await client(token)("POST", "/v1/tokens", { body: { name: "below", vaults: {} } });
    expect(shown(await read(id))).toEqual([["CREATE", "SUCCESS", "admin"]]);
  });

  it("shows the entries of a token that was revoked, in vaults that were deleted", async () => {
    const vault = await makeVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    await client(token)("POST", `/v1/vaults/${vault}/items`, { body: LOGIN });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    expect(shown(await read(id))).toEqual([["CREATE", "SUCCESS", vault]]);
  });

  it("does not log its own reads", async () => {
    const before = (await admin("GET", "/v1/admin/activity?limit=1000")).body.length;
    await read(world.token);
    await untilLogged();
    const after = (await admin("GET", "/v1/admin/activity?limit=1000")).body;
    expect(after.length).toBe(before + 1); // the request that `untilLogged` sends
  });

  it("leaves out no other entry for a damaged one, and shows that as broken (contract 13.27)", async () => {
    const vault = await makeVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    const call = client(token);
    for (let made = 0; made < 2; made++) await call("POST", `/v1/vaults/${vault}/items`, { body: LOGIN });
    const damage = "UPDATE activity SET sealed = 'x' WHERE id = (SELECT max(id) FROM activity WHERE vault_id = ?1)";
    await env.DB.prepare(damage).bind(vault).run();
    expect((await read(id)).body.map(({ broken, action }: any) => broken ?? action)).toEqual(["integrity", "CREATE"]);
  });
});

/** A log with so many entries of others, after the token was issued. */
async function busyVault(count: number) {
  const vault = crypto.randomUUID();
  const ids = Array.from({ length: count }, (_, place) => createRequestId(Date.now() + DAY + place));
  for (let from = 0; from < count; from += 2_000) await fillLog(vault, ids.slice(from, from + 2_000));
  return vault;
}

async function measure(token: string, query = "") {
  const { count, db } = countingDatabase(env.DB);
  const reply = await read(token, query, { env: { DB: db } });
  expect(reply.status).toBe(200);
  return { reply, count };
}

describe("what a page of a token's activity reads", () => {
  it("is at most 10,000 rows, also for a token without any entry", async () => {
    const { id } = await makeToken({ [await busyVault(12_000)]: "r" });
    const { reply, count } = await measure(id);
    expect(reply.body).toEqual([]);
    expect(reply.headers.get("Link")).not.toBeNull();
    expect([count.rowsRead <= 10_000, count.calls <= 6]).toEqual([true, true]);
    expect(await pagesOf(admin, logOf(id))).toEqual([]);
  });

  it("is one page of the log where all entries are older than the token", async () => {
    const vault = await busyVault(0);
    const old = Array.from({ length: 3_000 }, (_, place) => createRequestId(Date.now() - 2 * DAY + place));
    await drainQueue();
    await fillLog(vault, old);
    const { id } = await makeToken({ [vault]: "r" });
    const { reply, count } = await measure(id, "?limit=1");
    expect([reply.body, reply.headers.get("Link")]).toEqual([[], null]);
    expect(count.rowsRead).toBeLessThanOrEqual(50);
  });
});
