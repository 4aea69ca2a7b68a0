import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { type Permission, PERMISSIONS, contains, type Scope, type VaultScope } from "../../src/model/permission.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { readLog } from "../support/activity.ts";
import { countingDatabase, limiterOf, sizedDatabase, wrapDatabase } from "../support/bindings.ts";
import { CONSOLE, COOKIE, signIn } from "../support/console.ts";
import { advanceClock, DAY, HOUR } from "../support/faults.ts";
import { admin, client, LOGIN, makeToken, makeVault, type Reply, send, outcome } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Tokens that issue tokens (contract 8.16, 8.17). */

/** A lifetime: 100 days in seconds. */
const LONG = (100 * DAY) / 1000;

/** The id of a vault that there is not. */
const NOBODYS = "00000000-0000-4000-8000-000000000000";

let vault: string;
let items: string;

afterEach(() => void vi.useRealTimers());

beforeAll(async () => {
  vault = await makeVault("Passed on");
  items = `/v1/vaults/${vault}/items`;
});

interface Issued {
  readonly id: string;
  readonly token: string;
}

/** Asks for a token below another one. */
const issue = (parent: Issued, attributes: object = {}): Promise<Reply> =>
  client(parent.token)("POST", "/v1/tokens", {
    body: { name: "below", vaults: { [vault]: "r" }, delegate: true, ...attributes },
  });

const issued = async (parent: Issued, attributes: object = {}): Promise<Issued> => {
  const { status, body } = await issue(parent, attributes);
  expect([status, body]).toEqual([200, expect.objectContaining({ parent: parent.id })]);
  return body;
};

const makeRoot = (scope: Scope = { [vault]: "rwd" }, options: object = {}): Promise<Issued> =>
  makeToken(scope, { delegate: true, ...options });

/** A token that the admin has issued and the three generations below it, the last of which issues none. */
async function makeChain(options: object = {}): Promise<readonly [Issued, Issued, Issued, Issued]> {
  const root = await makeRoot(undefined, options);
  const first = await issued(root);
  const second = await issued(first);
  return [root, first, second, await issued(second, { delegate: false })];
}

const listedBy = async ({ token }: Issued): Promise<string[]> =>
  (await client(token)("GET", "/v1/tokens")).body.map(({ id }: Issued) => id);

const works = async ({ token }: Issued): Promise<boolean> => (await client(token)("GET", items)).status === 200;

const working = (tokens: readonly Issued[]): Promise<boolean[]> => Promise.all(tokens.map(works));

const revoke = ({ id }: Issued): Promise<Reply> => admin("DELETE", `/v1/admin/tokens/${id}`);

describe("POST /v1/tokens", () => {
  it("issues a token that works as one of the admin does, and tells from where it comes", async () => {
    const root = await makeRoot();
    const { status, body } = await issue(root, { vaults: { [vault]: "rw" }, expiresIn: 900 });
    expect([status, body]).toEqual([
      200,
      {
        id: expect.any(String),
        name: "below",
        dialect: "uuid",
        vaults: { [vault]: "rw" },
        delegate: true,
        parent: root.id,
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        token: expect.any(String),
      },
    ]);
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(900_000);
    const { token, ...attributes } = body;
    expect((await client(token)("GET", "/v1/token")).body).toEqual(attributes);
    expect((await admin("GET", `/v1/admin/tokens/${body.id}`)).body).toEqual(attributes);
    const item = await client(token)("POST", items, { body: LOGIN });
    expect([item.status, item.body.lastEditedBy]).toEqual([200, body.id]);
  });

  it("writes and reads ids in the dialect of the token of the request, which the new one inherits", async () => {
    const root = await makeRoot(undefined, { dialect: "connect" });
    const { body } = await issue(root);
    expect([body.dialect, body.parent, Object.keys(body.vaults)[0]]).toEqual([
      "connect",
      expect.stringMatching(/^[a-z2-7]{26}$/),
      expect.stringMatching(/^[a-z2-7]{26}$/),
    ]);
    expect(await listedBy(root)).toEqual([body.id]);
  });

  it.each([
    ["a token that was not issued with delegate", false, "issue tokens"],
    ["more than the parent has", true, `pass on this permission in vault ${NOBODYS}, which it does not have`],
  ])("is a 403 for %s, of which the log of the token tells", async (_, delegate, what) => {
    const parent = await makeToken({}, { delegate });
    const reply = await issue(parent, { vaults: { [NOBODYS]: "r" } });
    expect([...outcome(reply), reply.body.message]).toEqual([403, "out_of_scope", `the token may not ${what}`]);
    const { body: log } = await readLog(client(parent.token), 1);
    expect(log).toMatchObject([{ action: "CREATE", result: "DENY", actor: { id: parent.id } }]);
  });

  it("issues exactly what the parent contains: 200 random pairs", async () => {
    const ids = ["b0000000-0000-4000-8000-000000000001", "b0000000-0000-4000-8000-000000000002"];
    const permission = fc.constantFrom(...(Object.keys(PERMISSIONS) as Permission[]));
    const scope: fc.Arbitrary<VaultScope> = fc.oneof(
      permission,
      fc.record({ permissions: permission, items: fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1 }) }),
    );
    const grants = fc.dictionary(fc.constantFrom(vault, ...ids), scope, { maxKeys: 3, noNullPrototype: true });
    const seconds = fc.constantFrom(60, 3_600, 7_200);
    const stale = fc.option(fc.constantFrom(1, 30, 300), { nil: undefined });
    const grant = fc.record({ vaults: grants, expiresIn: seconds, stale });
    const grantsOfAll = fc.sample(grant, 30);
    const [parents, children] = [grantsOfAll.slice(0, 20), grantsOfAll.slice(20)];
    const outcomes = { issued: 0, refused: 0 };
    for (const parent of parents) {
      const root = await makeRoot(parent.vaults, parent);
      for (const child of [...children.slice(0, 9), { ...parent, expiresIn: parent.expiresIn - 5 }]) {
        const isWithin =
          Object.entries(child.vaults).every(([id, one]) => contains(parent.vaults[id], one)) &&
          child.expiresIn < parent.expiresIn &&
          (child.stale ?? 0) <= (parent.stale ?? 0);
        // Of one lifetime, the answer depends on the second in which it is asked.
        if (child.expiresIn === parent.expiresIn) continue;
        const { status } = await issue(root, { ...child, delegate: false });
        expect([parent, child, status === 200]).toEqual([parent, child, isWithin]);
        outcomes[isWithin ? "issued" : "refused"]++;
      }
    }
    console.log(`child tokens: ${outcomes.issued} pairs issued, ${outcomes.refused} refused`);
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(10);
  });

  it.each([
    ["a longer lifetime", { expiresIn: 601 }, 400, "invalid"],
    ["older reads", { stale: 11 }, 400, "invalid"],
    ["a service binding", { binding: true }, 400, "invalid"],
    ["no name", { name: "" }, 400, "invalid"],
    ["a permission that is none", { vaults: { [crypto.randomUUID()]: "x" } }, 400, "invalid"],
    ["a lifetime that is none", { expiresIn: 0 }, 400, "invalid"],
    ["a permission that the parent lacks", { vaults: { [NOBODYS]: "r" } }, 403, "out_of_scope"],
  ])("refuses %s, and inserts nothing", async (_, attributes, status, kind) => {
    const root = await makeRoot(undefined, { expiresIn: 600, stale: 10 });
    const reply = await issue(root, attributes);
    expect(outcome(reply)).toEqual([status, kind]);
    expect(await listedBy(root)).toEqual([]);
  });

  it("ends a token without a lifetime with its parent, and reads the primary where no stale is asked for", async () => {
    const root = await makeRoot(undefined, { expiresIn: 600, stale: 10 });
    const { body } = await issue(root);
    expect(body.expiresAt).toBe((await client(root.token)("GET", "/v1/token")).body.expiresAt);
    expect([body.stale, (await issue(root, { stale: 10 })).body.stale]).toEqual([undefined, 10]);
  });

  it("issues three generations, of which the third issues none", async () => {
    const [, , second, third] = await makeChain();
    const reply = await issue(second);
    expect(reply.body).toEqual({ status: 400, message: expect.stringContaining("delegate") });
    expect((await issue(third)).status).toBe(403);
  });

  it("is a 401 for a session of the console", async () => {
    const root = await makeRoot();
    const cookie = `${COOKIE}=${await signIn({ token: root.token })}`;
    const reply = await send("POST", "/v1/tokens", { headers: { ...CONSOLE, Cookie: cookie }, body: { name: "x", vaults: {} } });
    expect(reply.status).toBe(401);
  });

  it("answers a repeated request with the same token, also without a lifetime, and another token's with another one", async () => {
    const [root, other] = [await makeRoot(undefined, { expiresIn: 600 }), await makeRoot()];
    const headers = { "Idempotency-Key": "once" };
    const sendAs = (by: Issued, body: object) =>
      client(by.token)("POST", "/v1/tokens", { headers, body: { vaults: {}, name: "a", ...body } });
    const first = await sendAs(root, {});
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect((await sendAs(root, {})).body).toEqual(first.body);
    expect((await sendAs(root, { name: "b" })).kind).toBe("idempotency");
    expect((await sendAs(other, {})).body.id).not.toBe(first.body.id);
    expect(await listedBy(root)).toHaveLength(1);
    await revoke(first.body);
    expect((await sendAs(root, {})).kind).toBe("idempotency");
  });

  it("answers a repeated request also when its lifetime is longer than what the parent has left by then", async () => {
    const root = await makeRoot(undefined, { expiresIn: LONG });
    const ask = (attributes: object, index: number) => {
      const headers = { "Idempotency-Key": `${index}` };
      return client(root.token)("POST", "/v1/tokens", { headers, body: { name: "a", vaults: {}, ...attributes } });
    };
    const requests = [{ expiresIn: LONG }, {}];
    const first = await Promise.all(requests.map(ask));
    advanceClock(20 * DAY);
    const again = await Promise.all(requests.map(ask));
    expect(first.map(({ status }) => status)).toEqual([200, 200]);
    expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
    expect((await issue(root, { expiresIn: LONG })).status).toBe(400);
  });

  it("keeps at most 100 tokens below one that the admin has issued, in all generations together", async () => {
    const root = await makeRoot({});
    const middle = await issued(root, { vaults: {} });
    const few = await Promise.all([1, 2, 3, 4].map(() => issued(middle, { vaults: {}, delegate: false })));
    await env.DB.prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 94)
       INSERT INTO tokens (id, root_key_id, sealed, created_at, expires_at, claims, signed_by, ancestor_1, ancestor_2)
       SELECT printf('c0000000-0000-4000-8000-%012d', i), root_key_id, '', created_at, expires_at, '', signed_by, ancestor_1, id
       FROM n, tokens WHERE id = ?1`,
    )
      .bind(middle.id)
      .run();
    const none = { vaults: {}, delegate: false };
    const both = await Promise.all([issue(root, none), issue(middle, none)]);
    expect(both.map(({ status }) => String(status)).toSorted()).toEqual(["200", "507"]);
    expect((await issue(middle, none)).kind).toBe("quota");
    await revoke(few[0]!);
    expect((await issue(middle, none)).status).toBe(200);
    expect((await issue(root, none)).status).toBe(507);
    const { count, db } = countingDatabase();
    expect((await admin("DELETE", `/v1/admin/tokens/${root.id}`, { env: { DB: db } })).status).toBe(204);
    expect(count.calls).toBe(1);
    expect(await rowsBelow(root)).toBe(0);
    const ends = await endsBy("admin");
    expect(ends.filter((id) => id === root.id)).toEqual([root.id]);
    expect(ends.filter((id) => id.startsWith("c0000000-0000-4000-8000-0000000000"))).toHaveLength(94);
  });

  it("moves the expired tokens below the one at the top out of the allow-list, so that their number is bounded too", async () => {
    const root = await makeRoot({});
    const middle = await issued(root, { vaults: {} });
    const short: Issued[] = [];
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 5; count++)
        short.push((await issue(middle, { vaults: {}, delegate: false, expiresIn: 1 })).body);
      advanceClock(2_000);
    }
    expect(await rowsBelow(root)).toBe(6);
    expect((await admin("GET", `/v1/admin/tokens/${short[0]!.id}`)).body).toMatchObject({ endedAt: expect.any(String) });
  });

  it("counts as 50 requests of the token at the top, whichever token below it sends them", async () => {
    const [root, first, second] = await makeChain();
    const limited = { env: { TOKEN_RATE: limiterOf(3) } };
    const statuses: number[] = [];
    for (const by of [root, first, second, root])
      statuses.push((await client(by.token)("POST", "/v1/tokens", { body: { name: "x", vaults: {} }, ...limited })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  it("is a 507 before the database is so full that the writes of others are refused", async () => {
    const root = await makeRoot();
    const body = { name: "x", vaults: {} };
    const limit = 100_000_000;
    const request = { body, env: { DATABASE_LIMIT_MB: 100, DB: sizedDatabase(() => 0.85 * limit) } };
    await admin("GET", "/v1/admin/tokens", { env: request.env });
    expect(outcome(await client(root.token)("POST", "/v1/tokens", request))).toEqual([507, "database_full"]);
    expect((await admin("POST", "/v1/admin/tokens", request)).status).toBe(200);
  });
});

/** How many tokens are in the allow-list below one. */
async function rowsBelow({ id }: Issued): Promise<number> {
  const sql = "SELECT count(*) AS rows FROM tokens WHERE ?1 IN (ancestor_1, ancestor_2, ancestor_3)";
  return (await env.DB.prepare(sql).bind(id).first<{ rows: number }>())!.rows;
}

/** The tokens of which the log of the admin tells that somebody has ended them. */
async function endsBy(actor: string): Promise<string[]> {
  const sql =
    "SELECT item_id AS id FROM activity WHERE vault_id = ?1 AND action = 'DELETE' AND resource = 'TOKEN' AND actor = ?2";
  const { results } = await env.DB.prepare(sql).bind(NOWHERE, actor).all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** A D1 without room for one more row. */
const withoutRoomForEnded = (): D1Database => {
  let inserts = false;
  const rewrite = (sql: string): string => {
    inserts = sql.includes("INSERT INTO ended_tokens") || inserts;
    return sql;
  };
  const before = (statements: number) =>
    inserts && statements > 1 ? Promise.reject(new Error("D1_ERROR: database or disk is full: SQLITE_FULL")) : undefined;
  return wrapDatabase(env.DB, { rewrite, before });
};

describe("the end of a token", () => {
  const ENDS: Readonly<Record<string, (token: Issued, root: Issued) => Promise<unknown>>> = {
    "the admin": (token) => revoke(token),
    "the token at the top": (token, root) => client(root.token)("DELETE", `/v1/tokens/${token.id}`),
    "the admin, without room in D1": (token) =>
      admin("DELETE", `/v1/admin/tokens/${token.id}`, { env: { DB: withoutRoomForEnded() } }),
    "the token at the top, without room in D1": (token, root) =>
      client(root.token)("DELETE", `/v1/tokens/${token.id}`, { env: { DB: withoutRoomForEnded() } }),
  };

  // A token does not end itself.
  const CASES = Object.keys(ENDS).flatMap((by) =>
    [0, 1, 2, 3].slice(by.startsWith("the token at the top") ? 1 : 0).map((depth) => [by, depth] as const),
  );

  it.each(CASES)("by %s ends the generations below generation %i, and none above", async (by, depth) => {
    const chain = await makeChain();
    expect(await working(chain)).toEqual([true, true, true, true]);
    expect(await ENDS[by]!(chain[depth]!, chain[0])).toMatchObject({ status: 204 });
    expect(await working(chain)).toEqual([0, 1, 2, 3].map((generation) => generation < depth));
    // Without room the names are lost, and the queue brings the entry of the token itself.
    const hasRoom = !by.includes("without room");
    const ended = chain.slice(depth, hasRoom ? chain.length : depth + 1).map(({ id }) => id);
    await vi.waitFor(async () => {
      await flushBatch(env);
      const ends = await endsBy(by.startsWith("the admin") ? "admin" : chain[0].id);
      expect(ends.filter((id) => chain.some((one) => one.id === id)).toSorted()).toEqual(ended.toSorted());
    }, UNDER_LOAD);
    for (const id of hasRoom ? ended : [])
      expect((await admin("GET", `/v1/admin/tokens/${id}`)).body).toMatchObject({
        name: expect.any(String),
        endedAt: expect.any(String),
      });
  });

  it("leaves the other tokens of its parent in use", async () => {
    const root = await makeRoot();
    const [one, other] = [await issued(root), await issued(root)];
    await revoke(one);
    expect(await working([root, one, other])).toEqual([true, false, true]);
    expect(await listedBy(root)).toEqual([other.id]);
  });

  it("by its expiry is the end of all below it, before and after the clean-up", async () => {
    const chain = await makeChain({ expiresIn: 600 });
    advanceClock(HOUR);
    expect(await working(chain)).toEqual([false, false, false, false]);
    await cleanUp(env, Date.now());
    const listed = await Promise.all(chain.map(({ id }) => admin("GET", `/v1/admin/tokens/${id}`)));
    expect(listed.map(({ body }) => typeof body.endedAt)).toEqual(Array(4).fill("string"));
  });

  it("by TOKENS_NOT_BEFORE is the end of all below it, also of those that were issued later", async () => {
    const root = await makeRoot();
    advanceClock(10_000);
    const notBefore = new Date(Date.now() - 5_000).toISOString();
    const below = await issued(root);
    const later = await makeToken({ [vault]: "r" });
    const statuses = [root, below, later].map(
      async ({ token }) => (await client(token)("GET", items, { env: { TOKENS_NOT_BEFORE: notBefore } })).status,
    );
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
  });

  const DAMAGES = ["ancestor_1", "ancestor_2", "ancestor_3"].flatMap((column) =>
    ["'damaged'", "NULL"].flatMap((value) =>
      [0, 1, 2, 3].flatMap((row) => [0, 1, 2].map((end) => [column, value, row, end] as const)),
    ),
  );

  it.each(DAMAGES)(
    "ends all below it but the damaged row: %s = %s in generation %i, and the end of generation %i",
    async (column, value, row, end) => {
      const chain = await makeChain();
      await env.DB.prepare(`UPDATE tokens SET ${column} = ${value} WHERE id = ?1`).bind(chain[row]!.id).run();
      await revoke(chain[end]!);
      const left = (await working(chain)).flatMap((isWorking, generation) => (isWorking ? [generation] : []));
      expect(left.filter((generation) => generation >= end && generation !== row)).toEqual([]);
    },
  );

  it("is found by each request that issues a token at the same time: none is left", async () => {
    for (let round = 0; round < 10; round++) {
      const root = await makeRoot();
      const middle = await issued(root);
      const replies = await Promise.all([issue(root), issue(middle), revoke(root), issue(middle), issue(root)]);
      const tokens = replies.filter(({ body }) => body?.token).map(({ body }) => body as Issued);
      expect(await working([root, middle, ...tokens])).toEqual(Array(2 + tokens.length).fill(false));
      expect((await issue(middle)).status).toBe(401);
    }
  });
});

describe("GET and DELETE /v1/tokens", () => {
  it("show a token those that it has issued, and end those below it", async () => {
    const [root, first, second, third] = await makeChain();
    expect(await Promise.all([root, first, second, third].map(listedBy))).toEqual([[first.id], [second.id], [third.id], []]);
    const { body } = await client(root.token)("GET", "/v1/tokens");
    const { token: _, ...shown } = { ...(await client(first.token)("GET", "/v1/token")).body } as Record<string, unknown>;
    expect(body).toEqual([shown]);
  });

  it("answer with a 404 for itself, one above, one beside and one of another token", async () => {
    const [root, first] = await makeChain();
    const beside = await issued(root);
    const [other] = await makeChain();
    for (const { id } of [first, root, beside, other])
      expect((await client(first.token)("DELETE", `/v1/tokens/${id}`)).kind).toBe("token_not_found");
    expect(await working([root, first, beside, other])).toEqual([true, true, true, true]);
  });

  it("answer a repeated DELETE with a 204, and with a 401 when the token of the request has ended", async () => {
    const [root, first, second, third] = await makeChain();
    for (let time = 0; time < 2; time++) expect((await client(root.token)("DELETE", `/v1/tokens/${second.id}`)).status).toBe(204);
    expect((await client(root.token)("DELETE", `/v1/tokens/${third.id}`)).status).toBe(204);
    expect((await client(second.token)("DELETE", `/v1/tokens/${third.id}`)).status).toBe(401);
    expect((await client(second.token)("GET", "/v1/tokens")).status).toBe(401);
    expect(await working([root, first])).toEqual([true, true]);
  });

  it("show a damaged row as a broken token, which can be ended", async () => {
    const root = await makeRoot();
    const one = await issued(root);
    await env.DB.prepare("UPDATE tokens SET sealed = 'damaged' WHERE id = ?1").bind(one.id).run();
    const { body } = await client(root.token)("GET", "/v1/tokens");
    expect(body).toEqual([{ id: one.id, broken: "integrity", createdAt: expect.any(String), expiresAt: expect.any(String) }]);
    expect((await client(root.token)("DELETE", `/v1/tokens/${one.id}`)).status).toBe(204);
    expect(await working([root, one])).toEqual([true, false]);
  });
});
