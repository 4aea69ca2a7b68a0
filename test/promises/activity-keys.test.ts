import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { dayKey } from "../../src/crypto/day-keys.ts";
import { openKeyring, type RootKey } from "../../src/crypto/keyring.ts";
import { open, seal } from "../../src/crypto/seal.ts";
import { timeOf } from "../../src/model/ids.ts";
import type { ActivityRow } from "../../src/store/activity/entries.ts";
import { readLog, recordingQueue } from "../support/activity.ts";
import { rebindCoordinator } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";
import { client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** ACTIVITY_DAY_KEYS: the key under which an entry of the log is sealed (docs/decisions, 0013). */

const ON = { ACTIVITY_DAY_KEYS: "on" } as Partial<Env>;

async function rootKey(): Promise<RootKey> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("ROOT_KEYS");
  return keyring.value.active;
}

/** A vault with a write and a read, and the row of the read. */
async function makeEntries(bindings: Partial<Env>) {
  const fresh = await freshVault();
  await rebindCoordinator(fresh.vault, bindings);
  await fresh.call("POST", fresh.items, { body: LOGIN, headers: { "User-Agent": "writer/1" } });
  const queue = recordingQueue();
  await fresh.call("GET", fresh.items, { env: { ...bindings, ...queue.bindings }, headers: { "User-Agent": "reader/1" } });
  const { body } = await readLog(fresh.call, 3);
  return { ...fresh, row: queue.rows[0]!, log: body as { actor: { userAgent: string } }[] };
}

/** Whether a row opens under a key, as either form. */
async function openUnder(key: CryptoKey, { log, id, root_key_id, sealed }: ActivityRow): Promise<boolean[]> {
  const place = { vault: log, record: id, version: 0, key: root_key_id };
  const forms = (["activity", "activityOfDay"] as const).map((kind) => open(key, { kind, ...place }, sealed));
  return (await Promise.all(forms)).map(({ ok }) => ok);
}

describe("an entry", () => {
  it.each([
    ["off", {}],
    ["on", ON],
  ])("opens with ACTIVITY_DAY_KEYS %s when it was written, whatever it is when it is read", async (_, bindings) => {
    const { log, call } = await makeEntries(bindings);
    expect(log.slice(0, 2).map(({ actor }) => actor.userAgent)).toEqual(["reader/1", "writer/1"]);
    const { body } = await call("GET", "/v1/activity", { env: ON });
    expect(body).toEqual(log);
  });

  it("that is sealed under the key of its day opens under no other key", async () => {
    const { row } = await makeEntries(ON);
    const root = await rootKey();
    const day = timeOf(row.id);
    expect(await openUnder(await dayKey(root, day), row)).toEqual([false, true]);
    for (const key of [root.registry, root.wrapping, await dayKey(root, day - DAY), await dayKey(root, day + DAY)])
      expect(await openUnder(key, row)).toEqual([false, false]);
  });

  it("is sealed in the form of release 0.1.0 unless the setting is on", async () => {
    const { row } = await makeEntries({});
    expect(await openUnder((await rootKey()).registry, row)).toEqual([true, false]);
  });

  it.each([
    ["another day", "id"],
    ["another log", "vault_id"],
  ])("that was moved to %s does not open", async (_, column) => {
    const [{ row, vault }, other] = [await makeEntries(ON), await freshVault()];
    const reader = client((await makeToken({ [vault]: "r", [other.vault]: "r" })).token);
    const tomorrow = (parseInt(row.id.replace("-", "").slice(0, 12), 16) + DAY).toString(16).padStart(12, "0");
    const id = `${tomorrow.slice(0, 8)}-${tomorrow.slice(8)}${row.id.slice(13)}`;
    const value = column === "id" ? id : other.vault;
    await env.DB.prepare(`UPDATE activity SET ${column} = ?1 WHERE id = ?2`).bind(value, row.id).run();
    const requestId = column === "id" ? value : row.id;
    const entry = (await reader("GET", "/v1/activity")).body.find((one: { requestId: string }) => one.requestId === requestId);
    expect(entry).toEqual({ requestId, timestamp: expect.any(String), broken: "integrity" });
  });
});

it("the keys of one day are the same in each isolate, and not extractable", async () => {
  const root = await rootKey();
  const key = await dayKey(root, Date.UTC(2026, 10, 21, 23, 59));
  expect(await dayKey(root, Date.UTC(2026, 10, 21))).toBe(key);
  expect([key.extractable, root.base.extractable]).toEqual([false, false]);
  for (let day = 0; day < 200; day++) await dayKey(root, day * DAY); // more than are kept
  const place = {
    kind: "activityOfDay",
    vault: crypto.randomUUID(),
    record: crypto.randomUUID(),
    version: 0,
    key: "k1",
  } as const;
  const again = await dayKey(root, Date.UTC(2026, 10, 21));
  expect(await open(again, place, await seal(key, place, "x"))).toMatchObject({ ok: true });
});
