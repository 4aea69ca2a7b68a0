import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { type Claims, hashToken, signToken } from "../../src/crypto/token.ts";
import type { Secrets } from "../../src/index.ts";
import { flushBatch } from "../../src/store/activity/flush.ts";
import { sealToken } from "../../src/store/tokens/token-rows.ts";
import { countingDatabase } from "../support/bindings.ts";
import { login, seedItems } from "../support/seed.ts";
import { bind, callWith, makeBindingToken, refusalOf } from "../support/service-binding.ts";
import { admin, makeVault } from "../support/service.ts";

/** What calls of a service binding cost in D1 calls (contract 18.7). */

const field = (value: string) => ({ id: "password", type: "CONCEALED", purpose: "PASSWORD", label: "password", value }) as const;
const references = Array.from({ length: 100 }, (_, index) => `op://production/item ${index}/password`);

let vault: string;

beforeAll(async () => {
  vault = await makeVault("Production");
  const items = references.map((_, index) => login(vault, `Item ${index}`, { fields: [field(`value ${index}`)] }));
  await seedItems(env, vault, items);
  // This isolate has the keys of the vault from here on.
  await bind({ token: (await makeBindingToken({ [vault]: "r" })).id }).get(references[0]!);
});

const refused = (token: string) => costOf(token, (secrets) => refusalOf(secrets.get(references[0]!)));

/** Out: the answer of a call, and what it cost without its log entry, which is flushed after the answer. */
async function costOf<T>(token: string, call: (secrets: Secrets) => Promise<T>, bindings: Partial<Env> = {}) {
  // An isolate keeps one keyring, and a flush of other requests in between might open other root keys.
  await flushBatch(env);
  const { count, db } = countingDatabase();
  return callWith({ token }, { ...bindings, DB: db }, async (secrets) => ({ value: await call(secrets), ...count }));
}

describe("the calls of a service binding", () => {
  it("take two D1 calls at the first use of a token in an isolate, and then one", async () => {
    const { id } = await makeBindingToken({ [vault]: "r" });
    const get = () => costOf(id, (secrets) => secrets.get(references[7]!));
    expect(await get()).toMatchObject({ value: "value 7", calls: 2, rowsWritten: 0 });
    expect(await get()).toMatchObject({ value: "value 7", calls: 1, rowsWritten: 0 });
  });

  it("take one D1 call more in an isolate that does not have the keys of the vault", async () => {
    let space = 0;
    const calls = async () => {
      const { id } = await makeBindingToken({ [vault]: "r" });
      // The caches belong to a keyring: another text of the same keys makes a new one.
      const ROOT_KEYS = JSON.stringify(JSON.parse(env.ROOT_KEYS), undefined, ++space);
      const get = () => costOf(id, (secrets) => secrets.get(references[7]!), { ROOT_KEYS });
      return [(await get()).calls, (await get()).calls];
    };
    // An isolate keeps one keyring: work in the background with the other text replaces it between the two calls.
    await expect.poll(calls).toEqual([3, 1]);
  });

  it("take one D1 call for 100 references", async () => {
    const { id } = await makeBindingToken({ [vault]: "r" });
    await costOf(id, (secrets) => secrets.get(references[0]!));
    const { value, calls, rowsRead } = await costOf(id, (secrets) => secrets.resolve(references));
    expect(value).toEqual(references.map((reference, index) => ({ reference, value: `value ${index}` })));
    expect(calls).toBe(1);
    expect(rowsRead).toBeLessThan(400);
  });

  it("take two D1 calls when the token was revoked, and one when it was never issued", async () => {
    const { id } = await makeBindingToken({ [vault]: "r" });
    await costOf(id, (secrets) => secrets.get(references[0]!));
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(await refused(id)).toMatchObject({ value: { kind: "unauthorized" }, calls: 2 });
    expect(await refused(crypto.randomUUID())).toMatchObject({ value: { kind: "unauthorized" }, calls: 1 });
  });

  it("take no D1 call when the props name no token", async () => {
    expect(await refused("nonsense")).toMatchObject({ calls: 0 });
  });

  it("read with the claims of the row from the moment that it is another one of the same id", async () => {
    const { id } = await makeBindingToken({ [vault]: "r" });
    const answer = async () => (await costOf(id, (secrets) => secrets.resolve([references[0]!]))).value[0];
    expect(await answer()).toHaveProperty("value", "value 0");
    await replaceRow(id, {});
    expect(await answer()).toHaveProperty("status", 404);
    await replaceRow(id, { [vault]: "r" });
    expect(await answer()).toHaveProperty("value", "value 0");
  });
});

/** Replaces the row of a token for bindings by one of the same id with other vaults, as the service would write it. */
async function replaceRow(id: string, vaults: Claims["vaults"]): Promise<void> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("no keyring");
  const times = { issuedAt: Math.floor(Date.now() / 1000), expiresAt: Math.floor(Date.now() / 1000) + 60 };
  const claims: Claims = { id, name: "another", dialect: "uuid", vaults, binding: true, ...times };
  const values = [await sealToken(keyring.value.active, claims), await hashToken(await signToken(keyring.value, claims))];
  await env.DB.prepare("UPDATE tokens SET sealed = ?2, claims = ?3, created_at = ?4, expires_at = ?5 WHERE id = ?1")
    .bind(id, ...values, times.issuedAt * 1000, times.expiresAt * 1000)
    .run();
}
