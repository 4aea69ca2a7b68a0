import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { TABLES } from "../../src/store/tables/tables.ts";
import { renewCoordinator } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { sample } from "../support/runs.ts";
import { admin, freshVault, LOGIN, makeToken, type Reply } from "../support/service.ts";
import { keeping } from "../support/versions.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** Damaged counts and times: one costs the row that has it, and no other one (contract 13.18). */

afterEach(() => void vi.useRealTimers());

/** Counts that `verify --repair` makes again. */
const COUNTS = new Set([
  "items",
  "created",
  "deleted",
  "restored",
  "destroyed",
  "files",
  "file_bytes",
  "sealed_bytes",
  "versions_kept",
]);

const kindOf = ({ status, headers }: Reply) => (status < 300 ? status : headers.get("Item-Vault-Error"));

const NUMBERS = Object.entries(TABLES.vaults.columns).flatMap(([column, kind]) =>
  /^(number|time)/.test(kind)
    ? (["-1", "9007199254740991", "9223372036854775807"] as const).map((value) => [column, value] as const)
    : [],
);

it.each(sample(NUMBERS, 2))(
  "a vault with a damaged %s takes no write until it is repaired, and its Items are read: %s",
  async (column, value) => {
    const { vault, items, call } = await freshVault();
    const { id } = (await call("POST", items, { body: LOGIN })).body;
    await ignoreChecks(true);
    await env.DB.prepare(`UPDATE vaults SET ${column} = ${value} WHERE id = ?`).bind(vault).run();
    await ignoreChecks(false);
    await renewCoordinator(vault, {});
    const path = `/v1/admin/vaults/${vault}`;
    const kinds = [
      await call("GET", `/v1/vaults/${vault}`),
      await call("POST", items, { body: LOGIN }),
      await call("DELETE", `${items}/${id}`),
      await admin("PATCH", path, { body: { name: "Renamed" } }),
    ].map(kindOf);
    expect(kinds).toEqual(Array(4).fill("integrity"));
    expect((await call("GET", items)).body).toMatchObject([{ id }]);
    expect((await call("GET", `${items}/${id}`)).status).toBe(200);
    const { body } = await admin("GET", "/v1/admin/vaults");
    expect(body.find((one: { id: string }) => one.id === vault)).toMatchObject({ broken: "integrity" });
    await verifyAll({ vault, repair: true });
    expect(kindOf(await call("POST", items, { body: LOGIN }))).toBe(COUNTS.has(column) ? 200 : "integrity");
    expect((await admin("DELETE", path)).status).toBe(204);
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

it.each(["9223372036854775807", "9007199254740993", "-9223372036854775808", "-1", "0"])(
  "a PUT replaces an Item with the version %s, and a DELETE deletes another one",
  async (version) => {
    const { vault, items, call } = await freshVault();
    const create = async () => (await call("POST", items, { body: LOGIN })).body.id as string;
    const [one, other] = [await create(), await create()];
    await ignoreChecks(true);
    await env.DB.prepare(`UPDATE items SET version = ${version} WHERE vault_id = ?`).bind(vault).run();
    await ignoreChecks(false);
    await renewCoordinator(vault, {});
    expect((await call("PUT", `${items}/${one}`, { body: { ...LOGIN, id: one, vault: { id: vault } } })).status).toBe(200);
    expect((await call("DELETE", `${items}/${other}`)).status).toBe(204);
    expect((await call("GET", items)).body.map(({ id }: { id: string }) => id)).toEqual([one]);
  },
);

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
