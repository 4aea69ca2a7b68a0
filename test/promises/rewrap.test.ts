import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { parseKeyList } from "../../src/crypto/key-list.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import { openToken, type TokenRow } from "../../src/store/tokens/token-rows.ts";
import { type KeyRow, wrappedKeys } from "../../src/store/vaults/rows.ts";
import { countingDatabase, rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { emptyBucket } from "../support/empty-bucket.ts";
import { endOfJob, runJob, serviceWith, startJob } from "../support/jobs.ts";
import { K1, keyringOf, listedKey, listKeys, newStages, rewrapAll, type Stages } from "../support/root-keys.ts";
import { runs } from "../support/runs.ts";
import { addKeyInDatabase } from "../support/sealed-columns.ts";
import { seedVaults, type Seeded } from "../support/seed-vaults.ts";
import { callWith, makeBindingToken } from "../support/service-binding.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault } from "../support/service.ts";

/** The rotation of a root key loses nothing, whatever happens beside it (contract 20.3; src/store/rotation/rewrap.ts says why). */

const TABLES = ["vaults", "tokens", "ended_tokens", "root_keys", "root_key_uses"];

beforeEach(async () => {
  // A message of the queue that an earlier file has sent may have ended a backup meanwhile, which would need the old root key.
  await emptyBucket(env.BACKUPS);
  await env.DB.batch(TABLES.map((table) => env.DB.prepare(`DELETE FROM ${table}`)));
  // A database with a proof, as every one that has a vault.
  await makeVault();
});

const sql = (query: string, ...values: unknown[]) =>
  env.DB.prepare(query)
    .bind(...values)
    .run();

const countUnder = (table: string) => `(SELECT count(*) FROM ${table} WHERE root_key_id = ?1) AS ${table}`;

const rowsUnder = async (key: string): Promise<unknown> =>
  env.DB.prepare(`SELECT ${["vaults", "tokens", "ended_tokens"].map(countUnder).join()}`)
    .bind(key)
    .first();

const NOTHING = { vaults: 0, tokens: 0, ended_tokens: 0 };

describe("a rotation under load", () => {
  const VAULTS = runs(50, 10_000);

  it(`re-wraps ${VAULTS} vaults while Workers with both neighbouring values read, write and issue tokens, without one error`, async () => {
    const stages = await newStages();
    const seeded = await seedVaults(VAULTS);
    const written = seeded.slice(0, 8);
    for (const [index, { vault }] of written.entries())
      await rebindCoordinator(vault, index % 2 === 0 ? stages.active : stages.staged);
    const statuses: number[] = [];
    const load = { done: false };
    const requests = Array.from({ length: 4 }, async (_, worker) => {
      for (let turn = worker; !load.done; turn++) {
        const workers = turn % 2 === 0 ? stages.active : stages.staged;
        statuses.push(...(await Promise.all(requestsOf(seeded, written, turn, workers))));
        await sleep(1); // workerd rings no alarm while it always has something to do
      }
    });
    const sum = await rewrapAll(stages.active);
    load.done = true;
    await Promise.all(requests);
    expect([...new Set(statuses)]).toEqual([200]);
    expect(statuses.length).toBeGreaterThan(runs(12, 1000));
    expect(sum.findings).toEqual([]);
    // Workers with the old value have issued tokens until the end.
    await rewrapAll(stages.active);
    expect(await rowsUnder("k1")).toEqual(NOTHING);
    expect(await listedKey(stages.active, "k1")).toMatchObject({
      state: "retired",
      vaults: 0,
      tokens: 0,
      endedTokens: 0,
      removable: true,
    });
    for (const { vault, token } of seeded.filter((_, index) => index % runs(5, 100) === 0))
      expect((await client(token)("GET", `/v1/vaults/${vault}`, { env: stages.removed })).status).toBe(200);
  });
});

function requestsOf(
  seeded: readonly Seeded[],
  written: readonly Seeded[],
  turn: number,
  bindings: Partial<Env>,
): Promise<number>[] {
  const read = seeded[(turn * 7) % seeded.length]!;
  const write = written[turn % written.length]!;
  const replies = [
    client(read.token)("GET", `/v1/vaults/${read.vault}`, { env: bindings }),
    client(write.token)("POST", `/v1/vaults/${write.vault}/items`, { body: LOGIN, env: bindings }),
    admin("POST", "/v1/admin/tokens", { body: { name: "beside", vaults: { [read.vault]: "r" } }, env: bindings }),
  ];
  return replies.map(async (reply) => (await reply).status);
}

/** A row of each kind, and a check that all of them serve. */
async function everyKind() {
  const { vault, call, items } = await freshVault();
  await call("POST", items, { body: { ...LOGIN, fields: [{ purpose: "PASSWORD", value: "secret" }] } });
  const { id: binding } = await makeBindingToken({ [vault]: "r" });
  const reader = await makeToken({ [vault]: "r" });
  const ended = await makeToken({ [vault]: "r" }, { name: "ended" });
  await admin("DELETE", `/v1/admin/tokens/${ended.id}`);
  const check = async (bindings: Partial<Env>) => {
    const get = callWith({ token: binding }, bindings, (secrets) => secrets.get(`op://${vault}/Login/password`));
    expect(await get).toBe("secret");
    const path = `/v1/vaults/${vault}/items`;
    for (const read of [call, client(reader.token)]) expect((await read("GET", path, { env: bindings })).body).toHaveLength(1);
    expect((await admin("GET", `/v1/admin/tokens/${ended.id}`, { env: bindings })).body).toMatchObject({ name: "ended" });
  };
  return { vault, check };
}

describe("a step that is cut off", () => {
  it("before or after any of its D1 calls is made again, and everything serves meanwhile", async () => {
    const { check } = await everyKind();
    const { publicKey } = (await keyringOf(env)).active;
    let [active, key, calls] = ["k1", K1, 0];
    let ROOT_KEYS = env.ROOT_KEYS;
    for (let step = 1; step <= 14; step++) {
      for (const when of ["before", "after"] as const) {
        const id = `${when}-${step}`;
        const added = crypto.getRandomValues(new Uint8Array(32)).toBase64();
        const verify = active === "k1" ? {} : { k1: publicKey };
        ROOT_KEYS = JSON.stringify({ active: id, keys: { [active]: key, [id]: added }, verify });
        [active, key, calls] = [id, added, 0];
        const fail = () => {
          if (++calls === step) throw new Error("D1_ERROR: Network connection lost.");
        };
        const DB = wrapDatabase(env.DB, { [when]: fail });
        const service = await serviceWith({ ROOT_KEYS }, { DB });
        const job = await startJob(service, { kind: "rewrap" });
        if (step % runs(4, 1) === 0) await check({ ROOT_KEYS });
        const { state, progress, findings } = await endOfJob(service, job);
        expect([state, progress.done === progress.total, findings]).toEqual(["done", true, []]);
        expect((await rowsUnder(id)) as object).toMatchObject({ vaults: 2, tokens: 3, ended_tokens: 1 });
      }
    }
    expect(calls).toBeLessThan(14);
    await check({ ROOT_KEYS });
  });
});

/** A D1 that changes the row before the slice writes its table. */
const changing = (statement: () => Promise<unknown>) => {
  let [writes, changed] = [false, false];
  return wrapDatabase(env.DB, {
    rewrite: (text) => ((writes ||= /^\s*UPDATE (vaults|tokens)/.test(text)), text),
    before: async () => {
      if (!writes || changed) return;
      changed = true;
      await statement();
    },
  });
};
const vaultOf = (id: string) => env.DB.prepare("SELECT root_key_id, keys FROM vaults WHERE id = ?1").bind(id).first();

describe("a row that changes between the read and the write of a slice", () => {
  it("stays as it is: a vault that was deleted, and one whose keys do not open any more", async () => {
    const { active } = await newStages();
    const [deleted, damaged] = [await makeVault(), await makeVault()];
    const change = async () => {
      await sql("DELETE FROM vaults WHERE id = ?1", deleted);
      await sql("UPDATE vaults SET keys = 'another' WHERE id = ?1", damaged);
    };
    await rewrapAll({ ...active, DB: changing(change) });
    expect([await vaultOf(deleted), await vaultOf(damaged)]).toEqual([null, { root_key_id: "k1", keys: "another" }]);
  });

  it("is wrapped by the next pass: a vault whose earlier key has left", async () => {
    const { active } = await newStages();
    const vault = await makeVault();
    await addKeyInDatabase(vault);
    const { keys } = (await vaultOf(vault))!;
    const newest = String(keys).split("\n")[0];
    const DB = changing(() => sql(`UPDATE vaults SET keys = '${newest}' WHERE id = ?1`, vault));
    expect(await rewrapAll({ ...active, DB })).toMatchObject({ findings: [], left: 0 });
    expect(parseKeyList(String((await vaultOf(vault))!["keys"]))).toHaveLength(1);
    expect(await rowsUnder("k1")).toEqual(NOTHING);
  });

  it("is wrapped by one of two operators that rewrap at the same time", async () => {
    const { active } = await newStages();
    await seedVaults(20);
    const sums = await Promise.all([rewrapAll(active), rewrapAll(active)]);
    expect(sums).toMatchObject([{ findings: [] }, { findings: [] }]);
    expect(await rowsUnder("k1")).toEqual(NOTHING);
  });
});

describe("a token for service bindings that is signed again", () => {
  it.each([1, 2])("after D1 call %i of a read is not refused", async (call) => {
    const { staged, active } = await newStages();
    const { vault, call: write, items } = await freshVault();
    await write("POST", items, { body: { ...LOGIN, fields: [{ purpose: "PASSWORD", value: "secret" }] } });
    const { id: token } = await makeBindingToken({ [vault]: "r" });
    let calls = 0;
    const DB = wrapDatabase(env.DB, {
      after: async () => {
        if (++calls === call) await rewrapAll(active);
      },
    });
    const read = callWith({ token }, { ...staged, DB }, (secrets) => secrets.get(`op://${vault}/Login/password`));
    expect(await read).toBe("secret");
    expect(calls).toBeGreaterThan(call);
    await rewrapAll(staged);
  });
});

describe("the earlier key of a vault", () => {
  it("is wrapped with the newest one, under its own id and number", async () => {
    const { active, leaked } = await newStages();
    const vault = await makeVault();
    await addKeyInDatabase(vault);
    const before = parseKeyList(String((await vaultOf(vault))!["keys"]));
    await rewrapAll(active);
    const row = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?1").bind(vault).first<KeyRow>())!;
    const after = parseKeyList(row.keys);
    expect(after.map(({ id, number }) => [id, number])).toEqual(before.map(({ id, number }) => [id, number]));
    expect(new Set([...before, ...after].map(({ data }) => data)).size).toBe(4);
    expect(await unwrapVaultKeys(await keyringOf(leaked), vault, wrappedKeys(row), 0)).toMatchObject({ ok: true });
  });
});

describe("after the removal", () => {
  it("the old key alone opens no row, whatever id the row has", async () => {
    const { vault, check } = await everyKind();
    const { active, removed } = await newStages();
    await rewrapAll(active);
    await check(removed);
    const old = await keyringOf({ ROOT_KEYS: K1 });
    const { results: vaults } = await env.DB.prepare("SELECT * FROM vaults").all<KeyRow>();
    const { results: tokens } = await env.DB.prepare("SELECT * FROM tokens").all<TokenRow>();
    const { results: ended } = await env.DB.prepare("SELECT * FROM ended_tokens").all<TokenRow>();
    expect([vaults.length, tokens.length, ended.length]).toEqual([2, 3, 1]);
    for (const row of vaults) {
      for (const rootKeyId of [row.root_key_id, "k1"])
        expect(await unwrapVaultKeys(old, row.id, { ...wrappedKeys(row), rootKeyId }, 0)).toMatchObject({ ok: false });
    }
    for (const row of [...tokens, ...ended]) {
      for (const root_key_id of [row.root_key_id, "k1"])
        expect(await openToken(old, { ...row, root_key_id })).toMatchObject({ ok: false });
    }
    const { status } = await admin("GET", `/v1/admin/vaults`, { env: { ROOT_KEYS: K1 } });
    expect([status, vaults.map(({ id }) => id)]).toEqual([200, expect.arrayContaining([vault])]);
  });
});

describe("Workers with the values of neighbouring stages on one state", () => {
  const before: Partial<Env> = { ROOT_KEYS: env.ROOT_KEYS };
  const PAIRS: readonly (readonly [string, (stages: Stages) => readonly [Partial<Env>, Partial<Env>]])[] = [
    ["before and staged", ({ staged }) => [before, staged]],
    ["staged and active", ({ staged, active }) => [staged, active]],
    ["active and removed, with `verify`", ({ active, removed }) => [active, removed]],
  ];

  it.each(PAIRS)("%s: neither answers 401 to a token of the other, before, during and after a rewrap", async (name, pairOf) => {
    const stages = await newStages();
    const [one, other] = pairOf(stages);
    const { vault, call, items } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    if (name.startsWith("active")) await rewrapAll(stages.active);
    const tokens = [call];
    for (const bindings of [one, other]) {
      const { body } = await admin("POST", "/v1/admin/tokens", { body: { name: "t", vaults: { [vault]: "rw" } }, env: bindings });
      tokens.push(client(body.token));
    }
    const ask = async () => {
      const statuses: number[] = [];
      for (const coordinator of [one, other]) {
        await rebindCoordinator(vault, coordinator);
        for (const token of tokens)
          for (const bindings of [one, other]) {
            statuses.push((await token("GET", `${items}/${id}`, { env: bindings })).status);
            statuses.push((await token("POST", items, { body: LOGIN, env: bindings })).status);
          }
      }
      return [...new Set(statuses)];
    };
    expect(await ask()).toEqual([200]);
    await rewrapAll(other);
    expect(await ask()).toEqual([200]);
    await rewrapAll(one);
    expect(await ask()).toEqual([200]);
  });
});

describe("the cost of a rewrap", () => {
  it("is at most 3 D1 calls for each 100 vaults and each 50 tokens, and a few rows read for each row", async () => {
    const { active } = await newStages();
    await seedVaults(99);
    const { count, db } = countingDatabase();
    const { progress } = await runJob(await serviceWith(active, { DB: db }), { kind: "rewrap" });
    expect(progress).toEqual({ done: 199, total: 199 });
    // Three slices with rows, one that finds the end of the vaults, one of the ended tokens, and one that finds that nothing is left.
    expect(count.calls).toBeLessThanOrEqual(3 * 6);
    expect(count.rowsRead).toBeLessThan(8 * 199);
  });

  it("is 2 D1 calls and a few rows read when nothing is left, whatever the database holds", async () => {
    const { active } = await newStages();
    await seedVaults(60);
    await rewrapAll(active);
    const { count, db } = countingDatabase();
    const { progress } = await runJob(await serviceWith(active, { DB: db }), { kind: "rewrap" });
    expect(progress).toEqual({ done: 0, total: 0 });
    expect([count.calls, count.rowsRead < 20, count.rowsWritten]).toEqual([2, true, 0]);
  });

  it("names rows that do not open, and goes on behind them", async () => {
    const { active } = await newStages();
    const lost = await makeVault();
    await sql("UPDATE vaults SET root_key_id = 'lost' WHERE id = ?1", lost);
    const damaged = await makeToken({});
    await sql("UPDATE tokens SET sealed = 'damaged' WHERE id = ?1", damaged.id);
    await makeToken({});
    const { rewrapped, left, findings } = await rewrapAll(active);
    expect([rewrapped, left]).toEqual([2, 2]);
    expect(findings).toMatchObject([
      { kind: "root_key_missing", id: "lost" },
      { kind: "row_unreadable", table: "tokens", id: damaged.id },
    ]);
    expect((await listKeys(active)).filter(({ removable }) => removable)).toEqual([]);
  });
});
