import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { TABLES } from "../../src/store/tables/tables.ts";
import { renewCoordinator } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { admin, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { keeping } from "../support/versions.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Counts that statements compute from what D1 has: a damaged one costs no other row, although CHECK bounds what is written. */

afterEach(() => void vi.useRealTimers());

const NUMBERS = Object.entries(TABLES.vaults.columns).flatMap(([column, kind]) => (kind.startsWith("number") ? [column] : []));

it.each(NUMBERS)(
  "no request to a vault is answered `internal` while its %s is the last integer that JavaScript counts",
  async (column) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await env.DB.prepare(`UPDATE vaults SET ${column} = ${Number.MAX_SAFE_INTEGER} WHERE id = ?`).bind(vault).run();
    await renewCoordinator(vault, {});
    const body = [{ op: "replace", path: "/title", value: "Changed" }];
    const kinds = new Set<string | null>();
    for (const [method, path, options] of [
      ["GET", items, {}],
      ["POST", items, { body: LOGIN }],
      ["POST", `${items}/${id}/files?name=f`, { body: new Uint8Array(3) }],
      ["PATCH", `${items}/${id}`, { body }],
      ["DELETE", `${items}/${id}`, {}],
      ["POST", `/v1/vaults/${vault}/deleted-items/${id}/restore`, {}],
      ["GET", `/v1/vaults/${vault}`, {}],
    ] as const)
      kinds.add((await call(method, path, options)).headers.get("Item-Vault-Error"));
    kinds.add((await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Renamed" } })).headers.get("Item-Vault-Error"));
    kinds.add((await admin("GET", "/v1/admin/vaults")).headers.get("Item-Vault-Error"));
    expect([...kinds].filter((kind) => kind !== "integrity")).toEqual([null]);
  },
);

it("a PUT replaces an Item with the last version that JavaScript counts", async () => {
  const { vault, items, call } = await freshVault();
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  await env.DB.prepare(`UPDATE items SET version = ${Number.MAX_SAFE_INTEGER} WHERE id = ?`).bind(id).run();
  await renewCoordinator(vault, {});
  const put = await call("PUT", `${items}/${id}`, { body: { ...LOGIN, id, vault: { id: vault } } });
  expect([put.status, put.body.version]).toEqual([200, 1]);
  expect((await call("GET", `${items}/${id}`)).body).toMatchObject({ title: LOGIN.title });
});

it.each(["9223372036854775807", "-9223372036854775808", "-1", "0"])(
  "vaults and tokens are made and ended, and the clean-up ends, while each count has the value %s",
  async (value) => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const { id: ended } = await makeToken({});
    await makeToken({}, { expiresIn: 60 });
    await ignoreChecks(true);
    await env.DB.batch(
      [
        `UPDATE root_key_uses SET vaults = ${value}, tokens = ${value}, ended_tokens = ${value}`,
        `INSERT OR REPLACE INTO past_writes (action, writes) VALUES ('CREATE', ${value}), ('UPDATE', ${value}), ('DELETE', ${value})`,
        `INSERT OR REPLACE INTO logs (vault_id, expired) VALUES ('${vault}', ${value})`,
        `INSERT OR REPLACE INTO counters (name, value) VALUES ('cleaned/token', ${value}), ('cleaned/log_entry', ${value})`,
      ].map((sql) => env.DB.prepare(sql)),
    );
    await ignoreChecks(false);
    const made = await admin("POST", "/v1/admin/vaults", { body: { name: "Another" } });
    expect(made.status).toBe(200);
    expect((await admin("DELETE", `/v1/admin/vaults/${made.body.id}`)).status).toBe(204);
    expect((await admin("DELETE", `/v1/admin/tokens/${ended}`)).status).toBe(204);
    advanceClock(400 * DAY);
    await cleanUp({ ...env, ...keeping(1, 30) }, Date.now());
    expect(await env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ?").bind(vault).first("n")).toBe(0);
    expect((await verifyAll({ repair: true })).findings).toContainEqual(
      expect.objectContaining({ kind: "counter_wrong", table: "root_key_uses", repaired: true }),
    );
  },
);
