import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { writeId } from "../../src/model/dialect.ts";
import { DAY } from "../../src/model/time.ts";
import { changed } from "../openapi/support/recipes.ts";
import { prepareTarget, startWorld, type World } from "../openapi/support/targets.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { changedTables, rowsByTable } from "../support/canary.ts";
import { advanceClock } from "../support/faults.ts";
import { admin, client, makeVault, outcome, type Reply } from "../support/service.ts";

/**
 * Requests that are repeated with their Idempotency-Key (contract 10.7 to 10.9, 10.17): each operation that reads the key. That another request
 * with the key is a 409, statuses.test.ts has for each of them. What later writes change is in idempotency.test.ts.
 */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});

afterEach(() => void vi.useRealTimers());

/** Operations whose second request gets another answer than the first, and which. */
const OTHERWISE: Readonly<Record<string, string>> = {
  deleteVault: "vault_not_found",
};
/** Operations of which other files of tests have this, because a job or an upload goes on after the answer. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  createJob: "test/api/jobs.test.ts",
  renewVaultKey: "test/promises/renew.test.ts",
  uploadFile: "test/files/upload-idempotency.test.ts",
  replaceFileContent: "test/files/upload-idempotency.test.ts",
};
const answerOf = ({ status, text, headers }: Reply) => [status, text, headers.get("ETag")];

describe("a request that is repeated with its Idempotency-Key", () => {
  const IDEMPOTENT = ROWS.filter(
    ({ idempotent, operationId: id }) => idempotent && !Object.hasOwn(OTHERWISE, id) && !Object.hasOwn(ELSEWHERE, id),
  );

  it.each(IDEMPOTENT.map((row) => [row.operationId, row] as const))(
    "has one effect and one answer, one after the other and at the same time: %s",
    async (_, row) => {
      for (const count of [1, 5]) {
        const target = await prepareTarget(world, row);
        const headers = { "Idempotency-Key": crypto.randomUUID() };
        const ask = () => changed({ headers: { ...(target.request.headers as object), ...headers } })({ world, row, target });
        const replies = await Promise.all(Array.from({ length: count }, ask));
        const before = await rowsByTable();
        for (let again = 0; again < 2; again++) replies.push(await ask());
        expect(replies[0]!.status).toBeLessThan(300);
        expect(replies.map(answerOf)).toEqual(replies.map(() => answerOf(replies[0]!)));
        expect(changedTables(before, await rowsByTable())).toEqual([]);
      }
    },
  );

  /** Without the routes of the admin: each successful request to them has an entry, also a repeated one (contract 13.21). */
  const LOGGED_BY_COMMIT = IDEMPOTENT.filter(({ path }) => !path.startsWith("/v1/admin"));

  it.each(LOGGED_BY_COMMIT.map((row) => [row.operationId, row] as const))("has one entry in the log: %s", async (_, row) => {
    const target = await prepareTarget(world, row);
    const headers = { ...(target.request.headers as object), "Idempotency-Key": crypto.randomUUID() };
    const replies: Reply[] = [];
    for (let count = 0; count < 3; count++) replies.push(await changed({ headers })({ world, row, target }));
    const ids = replies.map((reply) => reply.headers.get("Request-Id"));
    const entries = env.DB.prepare("SELECT id FROM activity WHERE id IN (SELECT value FROM json_each(?1))");
    expect(await entries.bind(JSON.stringify(ids)).raw()).toEqual([[ids[0]]]);
  });

  it.each(Object.entries(OTHERWISE))("is refused the second time: %s is %s", async (operation, kind) => {
    const row = ROWS.find(({ operationId }) => operationId === operation)!;
    const target = await prepareTarget(world, row);
    const ask = () => changed({ headers: { "Idempotency-Key": "once" } })({ world, row, target });
    expect([outcome(await ask()), outcome(await ask())]).toEqual([
      [204, null],
      [404, kind],
    ]);
  });
});

const postVault = (name: string, key: string) =>
  admin("POST", "/v1/admin/vaults", { body: { name }, headers: { "Idempotency-Key": key } });
const countVaults = async () => (await admin("GET", "/v1/admin/vaults")).body.length;

/** Contract 10.8, 10.9 and 10.13. */
describe("a repeated write to a vault", () => {
  it("returns the vault as it is now after it was renamed, and creates another one for another key", async () => {
    const key = crypto.randomUUID();
    const { body } = await postVault("Mine", key);
    const renamed = await admin("PATCH", `/v1/admin/vaults/${body.id}`, { body: { name: "Renamed" } });
    expect((await postVault("Mine", key)).text).toBe(renamed.text);
    expect((await postVault("Mine", crypto.randomUUID())).body.id).not.toBe(body.id);
  });

  it("creates no vault after the first one was deleted", async () => {
    const key = crypto.randomUUID();
    const { body } = await postVault("Mine", key);
    await admin("DELETE", `/v1/admin/vaults/${body.id}`);
    const before = await countVaults();
    await postVault("Mine", key);
    expect(await countVaults()).toBe(before);
  });

  it("has no second effect after another PATCH, and returns the vault as it is now", async () => {
    const { body } = await postVault("Mine", crypto.randomUUID());
    const patch = (name: string, key: string) =>
      admin("PATCH", `/v1/admin/vaults/${body.id}`, { body: { name }, headers: { "Idempotency-Key": key } });
    expect((await patch("First", "one")).body.name).toBe("First");
    const second = await patch("Second", "two");
    expect((await patch("First", "one")).text).toBe(second.text);
    expect(second.body).toMatchObject({ name: "Second", attributeVersion: 3 });
  });
});

const tokensOf = async (name: string): Promise<{ id: string }[]> =>
  (await admin("GET", "/v1/admin/tokens")).body.filter((token: { name: string }) => token.name === name);

async function newRequest() {
  const vault = await makeVault();
  const name = crypto.randomUUID();
  const body = { name, vaults: { [vault]: "rw" } };
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const post = (other: object = {}, bindings: Partial<Env> = {}) =>
    admin("POST", "/v1/admin/tokens", { body: { ...body, ...other }, headers, env: bindings });
  return { vault, name, post };
}

/** Contract 10.19. */
describe("a repeated request for a token", () => {
  it("gets the same token after days, which works", async () => {
    const { vault, name, post } = await newRequest();
    const first = await post();
    advanceClock(3 * DAY);
    const second = await post();
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await tokensOf(name)).toHaveLength(1);
    expect((await client(second.body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it("gets the same vaults in a token of the dialect connect", async () => {
    const { vault, post } = await newRequest();
    const first = await post({ dialect: "connect" });
    expect(first.body.vaults).toEqual({ [writeId(vault, "connect")]: "rw" });
    expect((await post({ dialect: "connect" })).text).toBe(first.text);
  });

  it("gets the token after D1 has lost the first answer", async () => {
    const { vault, name, post } = await newRequest();
    let lost = false;
    const after = (results: D1Result[]) => {
      if (results.length < 2 || lost) return;
      lost = true;
      throw new Error("D1_ERROR: Network connection lost.");
    };
    expect((await post({}, { DB: wrapDatabase(env.DB, { after }) })).status).toBe(503);
    const { body } = await post();
    expect((await tokensOf(name)).map(({ id }) => id)).toEqual([body.id]);
    expect((await client(body.token)("GET", `/v1/vaults/${vault}`)).status).toBe(200);
  });

  it("gets the same token with a new active root key", async () => {
    const { post } = await newRequest();
    const first = await post();
    const { keys } = JSON.parse(env.ROOT_KEYS);
    const ROOT_KEYS = JSON.stringify({ active: "k2", keys: { ...keys, k2: btoa("fedcba9876543210fedcba9876543210") } });
    expect((await post({}, { ROOT_KEYS })).body).toEqual(first.body);
  });

  it("compares what is asked for, not the bytes: a default may be written out, an id in its other form", async () => {
    const { vault, post } = await newRequest();
    const first = await post();
    const same = { vaults: { [vault.toUpperCase()]: "rw" }, dialect: "uuid", expiresIn: 90 * 24 * 60 * 60 };
    expect((await post(same)).body).toEqual(first.body);
  });

  it.each([
    ["name", () => ({ name: "other" })],
    ["vaults", () => ({ vaults: {} })],
    ["permissions", (vault: string) => ({ vaults: { [vault]: "r" } })],
    ["dialect", () => ({ dialect: "connect" })],
    ["lifetime", () => ({ expiresIn: 60 })],
  ] as const)("is a 409 when it asks for another %s", async (_, change) => {
    const { vault, name, post } = await newRequest();
    await post();
    expect(outcome(await post(change(vault)))).toEqual([409, "idempotency"]);
    expect(await tokensOf(name)).toHaveLength(1);
  });

  it("is a 409 after the token was revoked or has expired: it is not issued again", async () => {
    const { name, post } = await newRequest();
    await admin("DELETE", `/v1/admin/tokens/${(await post()).body.id}`);
    expect(outcome(await post())).toEqual([409, "idempotency"]);
    expect(await tokensOf(name)).toEqual([]);
    const short = await newRequest();
    await short.post({ expiresIn: 60 });
    advanceClock(61_000);
    expect(outcome(await short.post({ expiresIn: 60 }))).toEqual([409, "idempotency"]);
  });

  it("does not use the id of a vault that was created with the same key", async () => {
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const vault = await admin("POST", "/v1/admin/vaults", { body: { name: "Same" }, headers });
    const token = await admin("POST", "/v1/admin/tokens", { body: { name: "same", vaults: {} }, headers });
    expect([vault.status, token.status, vault.body.id === token.body.id]).toEqual([200, 200, false]);
  });

  it("to revoke one is a 204 again, also twice at the same time (contract 10.22)", async () => {
    const { id } = (await (await newRequest()).post()).body;
    const revoke = async () => (await admin("DELETE", `/v1/admin/tokens/${id}`)).status;
    expect([...(await Promise.all([revoke(), revoke()])), await revoke()]).toEqual([204, 204, 204]);
  });
});
