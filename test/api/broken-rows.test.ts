import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { freshFile } from "../support/files.ts";
import { sample } from "../support/runs.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, outcome } from "../support/service.ts";
import { runSql } from "../support/sql.ts";
import { skipWaits, UNDER_LOAD } from "../support/waits.ts";

/** Rows of vaults and tokens that do not open: they are listed as broken, and can be deleted (contract 13.18). */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** How a vault's row stops opening, and the failure of it. */
const DAMAGES = [
  ["its name is damaged", "UPDATE vaults SET name = 'damaged' WHERE id = ?1", "integrity", 500],
  ["its description is damaged", "UPDATE vaults SET description = 'damaged' WHERE id = ?1", "integrity", 500],
  ["its name is that of another version", "UPDATE vaults SET attribute_version = 7 WHERE id = ?1", "integrity", 500],
  [
    "its data key is damaged",
    "UPDATE vaults SET keys = substr(keys, 1, 42) || substr(keys, 127) || substr(keys, 126) WHERE id = ?1",
    "misconfigured",
    503,
  ],
  ["its root key is missing", "UPDATE vaults SET root_key_id = 'lost' WHERE id = ?1", "misconfigured", 503],
] as const;

/** The counters of writes, as lines of /metrics. */
const writes = async () =>
  (await client(env.METRICS_TOKEN)("GET", "/metrics")).text
    .split("\n")
    .filter((line) => line.startsWith("item_vault_item_writes"));

const listed = async (id: string) => {
  const { status, body } = await admin("GET", "/v1/admin/vaults");
  expect(status).toBe(200);
  return body.find((vault: { id: string }) => vault.id === id);
};

describe.each(sample(DAMAGES, 2))("a vault that does not open, because %s,", (_, damage, kind, status) => {
  it("is listed for the admin as broken, with what is known, beside the others", async () => {
    const [broken, other] = [await freshVault(), await makeVault("Fine")];
    await broken.call("POST", broken.items, { body: LOGIN });
    const { name: _name, description: _description, ...known } = await listed(broken.vault);
    await runSql(damage, broken.vault);
    const { attributeVersion: _changed, ...expected } = { ...known, broken: kind };
    expect(await listed(broken.vault)).toEqual({ ...expected, attributeVersion: expect.any(Number) });
    expect(await listed(other)).toMatchObject({ name: "Fine" });
  });

  // What damages a text alone costs no write: vaults.test.ts.
  it.skipIf(damage.includes("'damaged'")).each([true, false])(
    "answers every other write with the failure: the cache of the coordinator is empty: %s",
    async (empty) => {
      const { vault, items, call } = await freshVault();
      const { id } = (await call("POST", items, { body: LOGIN })).body;
      await runSql(damage, vault);
      if (empty) await renewCoordinator(vault, {});
      // With a cache, the next write takes effect on the row that is cached: only a read shows the damage.
      if (!empty) await runSql("UPDATE vaults SET updated_at = updated_at + 1 WHERE id = ?1", vault);
      for (const reply of [
        await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "T" }] }),
        await call("POST", items, { body: LOGIN }),
        await call("DELETE", `${items}/${id}`),
        await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "New" } }),
      ]) {
        expect(outcome(reply)).toEqual([status, kind]);
      }
      expect(await env.DB.prepare("SELECT count(*) AS items FROM items WHERE vault_id = ?1").bind(vault).first("items")).toBe(1);
    },
  );

  it("can be deleted with all its rows, once, and its writes stay counted", async () => {
    const { vault, call, items } = await freshFile();
    await call("POST", items, { body: LOGIN });
    const before = await writes();
    await runSql(damage, vault);
    await renewCoordinator(vault, {});
    const revoke = () => admin("DELETE", `/v1/admin/vaults/${vault}`);
    const replies = await Promise.all([revoke(), call("POST", items, { body: LOGIN }), revoke()]);
    expect(replies[0].status).toBe(204);
    expect(replies[2].status).toBe(404);
    expect(replies[1].status).toBeGreaterThan(400);
    const rows = (table: string) =>
      env.DB.prepare(`SELECT count(*) AS rows FROM ${table} WHERE vault_id = ?1`).bind(vault).first("rows");
    for (const table of ["items", "files"]) await expect.poll(() => rows(table), UNDER_LOAD).toBe(0);
    expect(await listed(vault)).toBeUndefined();
    expect(await writes()).toEqual(before);
  });

  it.skipIf(damage.includes("'damaged'"))(
    "lets an attempt of unknown outcome be answered as uncertain, while its fence may still let it commit",
    async () => {
      skipWaits();
      const { vault, items, call } = await freshVault();
      let calls = 0;
      const before = async () => {
        if (++calls !== 2) return;
        await runSql(damage, vault);
        throw new Error("D1_ERROR: Network connection lost.");
      };
      await renewCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
      const reply = await call("POST", items, { body: LOGIN });
      // With another version of the vault the fence refuses the attempt, whenever it arrives.
      const expected = damage.includes("attribute_version") ? kind : "uncertain";
      expect(reply.kind).toBe(expected);
    },
  );

  it("answers its deletion as uncertain when an attempt may still take effect and D1 takes no further write", async () => {
    skipWaits();
    const { vault } = await freshVault();
    await runSql(damage, vault);
    let attempts = 0;
    const before = (statements: number) => {
      // Only the commit of a deletion has five statements, and that of a broken vault six.
      if (statements !== (damage.includes("'damaged'") ? 5 : 6)) return;
      throw new Error(
        ++attempts === 1 ? "D1_ERROR: Network connection lost." : "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
      );
    };
    await renewCoordinator(vault, { DB: wrapDatabase(env.DB, { before }) });
    const reply = await admin("DELETE", `/v1/admin/vaults/${vault}`);
    expect([attempts, reply.kind]).toEqual([2, "uncertain"]);
  });

  it("is the failure for a token that reads it, and counted in a list with others, which is the failure only when no other is in it", async () => {
    const [broken, other] = [await makeVault(), await makeVault()];
    const holder = client((await makeToken({ [broken]: "r", [other]: "r" })).token);
    await runSql(damage, broken);
    expect((await holder("GET", `/v1/vaults/${broken}`)).headers.get("Item-Vault-Error")).toBe(kind);
    const list = await holder("GET", "/v1/vaults");
    expect([list.body.map(({ id }: { id: string }) => id), list.headers.get("Item-Vault-Broken")]).toEqual([[other], "1"]);
    for (const [reader, path] of [
      [client((await makeToken({ [broken]: "r" })).token), "/v1/vaults"],
      [holder, `/v1/vaults?filter=${encodeURIComponent('name eq "Unknown"')}`],
    ] as const)
      expect((await reader("GET", path)).headers.get("Item-Vault-Error")).toBe(kind);
    expect((await holder("GET", `/v1/vaults/${other}`)).status).toBe(200);
    await admin("DELETE", `/v1/admin/vaults/${broken}`);
  });
});

describe("with root keys that are not those of the database", () => {
  const ROOT_KEYS = JSON.stringify({ active: "k9", keys: { k9: btoa("fedcba9876543210fedcba9876543210") } });

  it.each([
    ["GET", "/v1/admin/vaults"],
    ["DELETE", "/v1/admin/vaults/<vault>"],
    ["GET", "/v1/admin/tokens"],
    ["GET", "/v1/admin/tokens/<token>"],
  ])("nothing is shown as broken and no vault is deleted: %s %s is a 503", async (method, path) => {
    const vault = await makeVault();
    const { id } = await makeToken({});
    const target = path.replace("<vault>", vault).replace("<token>", id);
    await renewCoordinator(vault, { ROOT_KEYS });
    const { status, headers } = await admin(method, target, { env: { ROOT_KEYS } });
    expect([status, headers.get("Item-Vault-Error")]).toEqual([503, "misconfigured"]);
    expect(await listed(vault)).toMatchObject({ name: "Test" });
  });
});

describe.each([
  ["its sealed text is damaged", "UPDATE tokens SET sealed = 'damaged' WHERE id = ?1", "integrity"],
  ["its root key is missing", "UPDATE tokens SET root_key_id = 'lost' WHERE id = ?1", "misconfigured"],
])("a token whose row does not open, because %s,", (_, damage, kind) => {
  it("is listed as broken, with its times, and can be revoked", async () => {
    const {
      token: _token,
      name: _name,
      vaults: _vaults,
      dialect: _dialect,
      ...known
    } = (await admin("POST", "/v1/admin/tokens", { body: { name: "Broken", vaults: {} } })).body;
    await runSql(damage, known.id);
    const { status, body } = await admin("GET", "/v1/admin/tokens");
    expect(status).toBe(200);
    expect(body).toContainEqual({ ...known, broken: kind });
    expect((await admin("GET", `/v1/admin/tokens/${known.id}`)).body).toEqual({ ...known, broken: kind });
    expect((await admin("DELETE", `/v1/admin/tokens/${known.id}`)).status).toBe(204);
    expect((await admin("GET", `/v1/admin/tokens/${known.id}`)).body).toMatchObject({
      broken: kind,
      endedAt: expect.any(String),
    });
  });
});
