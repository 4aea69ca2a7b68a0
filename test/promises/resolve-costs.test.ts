import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { countingDatabase } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { client, makeToken, makeVault } from "../support/service.ts";

/** What `POST /v1/resolve` costs in D1 calls and rows (decision 0021), and that it finds every Item before and after the backfill. */

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));

const field = (value: string) => ({ id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value }) as const;

/** Resolves references. Out: the values or statuses, and what they cost. */
async function resolve(token: string, references: readonly string[]) {
  const { count, db } = countingDatabase();
  const { status, body } = await client(token)("POST", "/v1/resolve", { body: { references }, env: { DB: db } });
  expect(status).toBe(200);
  return { values: body.values.map(({ value, status: refused }: any) => value ?? refused), ...count };
}

/** A vault with so many Items `Item n`, and a token. */
async function vaultOf(name: string, items: number, value = (index: number) => `value ${index}`) {
  const vault = await makeVault(name);
  await seedItems(
    env,
    vault,
    times(items, (index) => login(vault, `Item ${index}`, { fields: [field(value(index))] })),
  );
  return { vault, token: (await makeToken({ [vault]: "r" })).token };
}

const references = (vault: string, count: number) => times(count, (index) => `op://${vault}/ITEM ${index}/password`);
const expected = (count: number) => times(count, (index) => `value ${index}`);

const forget = (vault: string, condition = "true") =>
  env.DB.prepare(`UPDATE items SET folded_index = NULL WHERE vault_id = ? AND ${condition}`).bind(vault).run();

/** As in a new isolate: the cache of vault keys belongs to a keyring. */
async function forgetKeys(): Promise<void> {
  const other = JSON.parse(env.ROOT_KEYS) as { keys: Record<string, string> };
  await openKeyring(JSON.stringify({ ...other, active: Object.keys(other.keys)[0] }, undefined, 1));
}

describe("100 references to 100 Items of a vault", () => {
  let vault: string;
  let token: string;
  beforeAll(async () => {
    ({ vault, token } = await vaultOf("Production", 300));
    await resolve(token, references("Production", 1));
  });

  it("take one D1 call and about 3 rows each, by name and by id", async () => {
    for (const name of ["production", vault]) {
      const { values, calls, rowsRead, rowsWritten } = await resolve(token, references(name, 100));
      expect([values, calls, rowsWritten]).toEqual([expected(100), 1, 0]);
      expect(rowsRead).toBeLessThan(400);
      console.log(`100 references: ${rowsRead} rows read`);
    }
  });

  it("take two D1 calls in an isolate that does not have the keys of the vault, and then one", async () => {
    await forgetKeys();
    expect(await resolve(token, references("production", 100))).toMatchObject({ values: expected(100), calls: 2 });
    expect(await resolve(token, references("production", 100))).toMatchObject({ values: expected(100), calls: 1 });
  });

  it("take two D1 calls more while titles are not indexed, and find every Item", async () => {
    await forget(vault, "id < '8'");
    expect(await resolve(token, references("production", 100))).toMatchObject({ values: expected(100), calls: 3 });
    await forget(vault);
    const { values, calls, rowsRead } = await resolve(token, references("production", 100));
    expect([values, calls]).toEqual([expected(100), 3]);
    expect(rowsRead).toBeLessThan(3_000);
  });

  it("that do not exist take one D1 call, and one for the Files when a field does not exist", async () => {
    await env.COORDINATOR.getByName(vault).foldTitles(vault);
    const missing = times(100, (index) => `op://production/nothing ${index}/password`);
    expect(await resolve(token, missing)).toMatchObject({ values: missing.map(() => 404), calls: 1 });
    expect(await resolve(token, ["op://production/item 1/x", "op://production/item 2/y"])).toMatchObject({
      values: [404, 404],
      calls: 2,
    });
  });
});

describe("a title that is not indexed", () => {
  it("that equals an indexed one makes a reference ambiguous", async () => {
    const { vault, token } = await vaultOf("Half", 1);
    await seedItems(env, vault, [login(vault, "ITEM 0", { fields: [field("other")] })]);
    await forget(vault, "id = (SELECT max(id) FROM items AS other WHERE other.vault_id = items.vault_id)");
    expect((await resolve(token, references("Half", 1))).values).toEqual([409]);
  });

  it("is found among 1,500, and a reference by title is a 503 when there are more, but not one by id", async () => {
    const { vault, token } = await vaultOf("Old", 1_500);
    await forget(vault);
    const { values, rowsRead, calls } = await resolve(token, references("Old", 2));
    expect([values, calls]).toEqual([expected(2), 3]);
    expect(rowsRead).toBeLessThan(10_000);
    const one = login(vault, "Last", { fields: [field("last")] });
    await seedItems(env, vault, [one]);
    await forget(vault);
    const more = await resolve(token, [...references("Old", 1), `op://Old/${one.id}/password`]);
    expect(more.values).toEqual([503, "last"]);
    expect(more.rowsRead).toBeLessThan(10_000);
  });
});

/** References by name to an Item of each vault. */
const named = (count: number) => times(count, (index) => `op://VAULT ${index}/same/password`);

describe("references to many vaults", () => {
  let vaults: string[];
  let token: string;
  beforeAll(async () => {
    vaults = await Promise.all(times(100, (index) => makeVault(`Vault ${index}`)));
    for (const vault of vaults) await seedItems(env, vault, [login(vault, "Same", { fields: [field(vault)] })]);
    token = (await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "r"])))).token;
    await resolve(token, ["op://vault 0/x/y"]);
  });

  it("take one D1 call up to 1,000 references × vaults, and two beyond", async () => {
    for (const [count, expectedCalls] of [
      [10, 1],
      [11, 2],
      [100, 2],
    ] as const) {
      const { values, calls, rowsRead } = await resolve(token, named(count));
      expect([values, calls]).toEqual([vaults.slice(0, count), expectedCalls]);
      expect(rowsRead).toBeLessThan(5_000);
      console.log(`${count} references × 100 vaults: ${calls} calls, ${rowsRead} rows read`);
    }
  });

  it("take one D1 call when the vaults are given by their ids", async () => {
    const { values, calls } = await resolve(
      token,
      vaults.map((vault) => `op://${vault}/same/password`),
    );
    expect([values, calls]).toEqual([vaults, 1]);
  });

  it("read as many rows for a vault that the token does not name as for one that does not exist", async () => {
    const hidden = await makeVault("Hidden");
    await seedItems(env, hidden, [login(hidden, "Same")]);
    const costs = [`op://${hidden}/same/x`, `op://${crypto.randomUUID()}/same/x`, "op://hidden/same/x", "op://missing/same/x"];
    const [first, ...others] = await Promise.all(costs.map((reference) => resolve(token, [reference])));
    for (const one of others) expect(one).toEqual(first);
    expect(first!.values).toEqual([404]);
  });
});

describe("references to large Items", () => {
  it("take one D1 call more for each 4 MiB", async () => {
    const { vault, token } = await vaultOf("Large", 20, (index) => `value ${index} ${"x".repeat(370_000)}`);
    await resolve(token, references(vault, 1));
    const { values, calls } = await resolve(token, references("Large", 20));
    expect(values.map((value: string) => value.split(" ", 2).join(" "))).toEqual(expected(20));
    const sizes = 20 * 370_000 * (4 / 3);
    expect(calls).toBe(1 + Math.ceil(sizes / (4 * 1024 * 1024)));
  });
});
