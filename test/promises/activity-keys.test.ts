import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { dayKey, openKeyring, type RootKey } from "../../src/crypto/keyring.ts";
import { open, seal } from "../../src/crypto/seal.ts";
import { timeOf } from "../../src/model/ids.ts";
import type { ActivityRow } from "../../src/store/activity/entry-rows.ts";
import type { SegmentEntry } from "../../src/store/activity/segments.ts";
import { readLog, segmentEntries } from "../support/activity.ts";
import { DAY } from "../support/faults.ts";
import { client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** The key under which an entry of the log is sealed: that of its day (docs/design/log.md). */

async function rootKey(): Promise<RootKey> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  if (!keyring.ok) throw new Error("ROOT_KEYS");
  return keyring.value.active;
}

/** A vault with a write and a read, and the row of the write. */
async function makeEntries() {
  const fresh = await freshVault();
  const written = await fresh.call("POST", fresh.items, { body: LOGIN, headers: { "User-Agent": "writer/1" } });
  await fresh.call("GET", fresh.items, { headers: { "User-Agent": "reader/1" } });
  const { body } = await readLog(fresh.call, 3);
  const id = written.headers.get("Request-Id")!;
  const row = await env.DB.prepare("SELECT id, vault_id AS log, root_key_id, sealed FROM activity WHERE id = ?").bind(id).first();
  return { ...fresh, row: row as unknown as ActivityRow, log: body as { actor: { userAgent: string } }[] };
}

/** Whether a row opens under a key. */
const openRow = async (key: CryptoKey, { log, id, root_key_id, sealed }: ActivityRow): Promise<boolean> =>
  (await open(key, { kind: "activity", vault: log, record: id, version: 0, key: root_key_id }, sealed)).ok;

/** Whether the line of a segment does. */
async function openLine(key: CryptoKey, { log, line }: SegmentEntry): Promise<boolean> {
  const first = String(line!.entries[0]![0]);
  return (await open(key, { kind: "handOver", vault: log, record: first, version: 0, key: line!.rootKey }, line!.sealed)).ok;
}

describe("an entry", () => {
  it("of a read, from a flush, and of a write, from its commit, opens", async () => {
    const { log } = await makeEntries();
    expect(log.slice(0, 2).map(({ actor }) => actor.userAgent)).toEqual(["reader/1", "writer/1"]);
  });

  it("opens under the key of its day and under no other", async () => {
    const { row, vault } = await makeEntries();
    const [read] = await segmentEntries(vault);
    const root = await rootKey();
    const day = timeOf(row.id);
    const openUnder = async (key: CryptoKey) => [await openRow(key, row), await openLine(key, read!)];
    expect(await openUnder(await dayKey(root, day))).toEqual([true, true]);
    for (const key of [root.registry, root.wrapping, await dayKey(root, day - DAY), await dayKey(root, day + DAY)])
      expect(await openUnder(key)).toEqual([false, false]);
  });

  it.each([
    ["another day", "id"],
    ["another log", "vault_id"],
  ])("that was moved to %s does not open", async (_, column) => {
    const [{ row, vault }, other] = [await makeEntries(), await freshVault()];
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
  for (let day = 0; day < 300; day++) await dayKey(root, day * DAY); // more than are kept
  const place = {
    kind: "activity",
    vault: crypto.randomUUID(),
    record: crypto.randomUUID(),
    version: 0,
    key: "k1",
  } as const;
  const again = await dayKey(root, Date.UTC(2026, 10, 21));
  expect(await open(again, place, await seal(key, place, "x"))).toMatchObject({ ok: true });
});
