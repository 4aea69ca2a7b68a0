import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DAY, MINUTE } from "../../src/model/time.ts";
import { client, fetchRaw, freshVault, LOGIN } from "../support/service.ts";
import { flipped } from "../verify/support/vault.ts";

/** A read of damaged data is in /health and /metrics (contract 13.3, 13.4). */

/** The dependency `data` of /health. A new env object has no cached report. */
const dataOf = async () => {
  const report = JSON.parse(await (await fetchRaw("GET", "/health", { env: { ...env } })).text());
  return report.dependencies.find(({ service }: { service: string }) => service === "data");
};

const metricOf = async () =>
  /^item_vault_damaged_read_timestamp_seconds (\S+)$/m.exec((await client(env.METRICS_TOKEN)("GET", "/metrics")).text)?.[1];

/** Each damage, by the statement that makes it: ?1 is the vault, ?2 the Item. Then the path of the read below the vault, and its status. */
const READS = {
  "an Item": [`UPDATE items SET overview = ${flipped("overview")} WHERE vault_id = ?1 AND id = ?2`, "/items/:item", 500],
  "an Item of a list": [`UPDATE items SET overview = ${flipped("overview")} WHERE vault_id = ?1 AND id = ?2`, "/items", 200],
  "a version": [
    `UPDATE item_versions SET overview = ${flipped("overview")} WHERE vault_id = ?1 AND item_id = ?2`,
    "/items/:item/versions/1",
    500,
  ],
  "the row of a File": [
    `UPDATE files SET sealed = ${flipped("sealed")} WHERE vault_id = ?1 AND item_id = ?2`,
    "/items/:item",
    200,
  ],
  "the row of a File in a list": [
    `UPDATE files SET sealed = ${flipped("sealed")} WHERE vault_id = ?1 AND item_id = ?2`,
    "/items/:item/files",
    200,
  ],
  "a vault": ["UPDATE vaults SET attribute_version = 7 WHERE id = ?1 AND ?2 <> ''", "", 500],
  "the name of a vault in an Item": [
    `UPDATE vaults SET name = ${flipped("name")} WHERE id = ?1 AND ?2 <> ''`,
    "/items/:item",
    200,
  ],
  "the name of a vault in a list": [`UPDATE vaults SET name = ${flipped("name")} WHERE id = ?1 AND ?2 <> ''`, "/items", 200],
  "the keys of a vault": [
    "UPDATE vaults SET keys = substr(keys, 1, 42) || substr(keys, 127) || substr(keys, 126) WHERE id = ?1 AND ?2 <> ''",
    "",
    503,
  ],
} as const;

let tests = 0;

/** The isolate records one read in a minute. Each test has other minutes. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ++tests * 2 * MINUTE });
  await env.DB.prepare("DELETE FROM counters WHERE name = 'damaged_read_at'").run();
});
afterEach(() => vi.useRealTimers());

async function readDamaged([damage, path, status]: (typeof READS)[keyof typeof READS]): Promise<void> {
  const { vault, items, call } = await freshVault();
  const { id } = (await call("POST", items, { body: LOGIN })).body;
  await call("POST", `${items}/${id}/files?name=f`, { body: new Uint8Array([1]) });
  await env.DB.prepare(damage).bind(vault, id).run();
  expect((await call("GET", `/v1/vaults/${vault}${path.replace(":item", id)}`)).status).toBe(status);
}

describe("a read of damaged data", () => {
  it.each(Object.entries(READS))("is a warning of /health, and its time is in /metrics: %s", async (_, read) => {
    await readDamaged(read);
    // A poll moves the fake clock on.
    const readAt = String(Math.floor(Date.now() / 1000));
    await expect.poll(async () => (await dataOf()).status).toBe("WARNING");
    expect((await dataOf()).message).toBe("Data could not be decrypted in the last 24 hours: `item-vault admin verify` names it");
    expect(await metricOf()).toBe(readAt);
  });

  it("is no warning of /health after a day", async () => {
    await readDamaged(READS["an Item"]);
    await expect.poll(async () => (await dataOf()).status).toBe("WARNING");
    vi.setSystemTime(Date.now() + DAY);
    expect((await dataOf()).status).toBe("ACTIVE");
  });

  it("is not one of data that another key encrypts: with wrong ROOT_KEYS nothing is recorded", async () => {
    const { vault, token } = await freshVault();
    const key = btoa(String.fromCharCode(...new Uint8Array(32).fill(9)));
    const wrong = { ...env, ROOT_KEYS: JSON.stringify({ active: "k1", keys: { k1: key } }) };
    expect(
      (await fetchRaw("GET", `/v1/vaults/${vault}`, { env: wrong, headers: { Authorization: `Bearer ${token}` } })).status,
    ).not.toBe(200);
    expect([(await dataOf()).status, await metricOf()]).toEqual(["ACTIVE", undefined]);
  });
});
