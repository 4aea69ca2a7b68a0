import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { countingDatabase } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { client, makeToken, makeVault } from "../support/service.ts";

/** What `POST /v1/resolve` costs in D1 calls and rows (docs/design/reads.md). */

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

  it("that do not exist take one D1 call, and one for the Files when a field does not exist", async () => {
    const missing = times(100, (index) => `op://production/nothing ${index}/password`);
    expect(await resolve(token, missing)).toMatchObject({ values: missing.map(() => 404), calls: 1 });
    expect(await resolve(token, ["op://production/item 1/x", "op://production/item 2/y"])).toMatchObject({
      values: [404, 404],
      calls: 2,
    });
  });
});
