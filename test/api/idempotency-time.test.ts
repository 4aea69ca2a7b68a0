import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import worker from "../../src/index.ts";
import { openRecord, type RecordRow, sealRecord } from "../../src/store/write/idempotency.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** The lifetime of an idempotency record: 24 hours (contract 10.11). */

const HOUR = 60 * 60 * 1000;

const recordsOf = async (vault: string) =>
  (await env.DB.prepare("SELECT key, id, sealed FROM replays WHERE vault_id = ?1").bind(vault).all<RecordRow>()).results;

/** The UUIDv7 with its time moved back by `milliseconds`. */
function moveBack(id: string, milliseconds: number): string {
  const time = (parseInt(id.replace("-", "").slice(0, 12), 16) - milliseconds).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
}

/** Makes the idempotency records of a vault older. Their ids are part of the associated data, so they are sealed again. */
async function age(vault: string, milliseconds: number): Promise<void> {
  const keyring = await openKeyring(env.ROOT_KEYS);
  const row = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?1").bind(vault).first<Record<string, string>>())!;
  const wrapped = {
    rootKeyId: row["root_key_id"]!,
    dataKeyId: row["data_key_id"]!,
    dataKey: row["data_key"]!,
    indexKey: row["index_key"]!,
  };
  const keys = keyring.ok ? await unwrapVaultKeys(keyring.value, vault, wrapped, Date.now()) : keyring;
  if (!keys.ok) throw new Error("the vault's keys do not open");
  for (const record of await recordsOf(vault)) {
    const opened = await openRecord(keys.value, vault, record);
    if (!opened.ok) throw new Error("the idempotency record does not open");
    const older = { ...opened.value, id: moveBack(record.id, milliseconds) };
    const sealed = await sealRecord(keys.value, vault, older);
    await env.DB.prepare("UPDATE replays SET id = ?2, sealed = ?3 WHERE id = ?1").bind(record.id, older.id, sealed).run();
  }
}

/** A vault and a POST of an Item with a key. `post` repeats the POST, or sends another title with the same key. */
async function postWithKey() {
  const { vault, items, call } = await freshVault();
  const post = (title = "Once") => call("POST", items, { body: { ...LOGIN, title }, headers: { "Idempotency-Key": "key" } });
  return { vault, post, first: await post() };
}

describe("an Idempotency-Key", () => {
  it("is still in use after 23.9 hours", async () => {
    const { vault, post, first } = await postWithKey();
    await age(vault, 23.9 * HOUR);
    expect((await post()).text).toBe(first.text);
    expect((await post("Other")).status).toBe(409);
  });

  it("is free after 24.1 hours: the same request has a second effect", async () => {
    const { vault, post, first } = await postWithKey();
    await age(vault, 24.1 * HOUR);
    const second = await post();
    expect([second.status, second.body.id === first.body.id]).toEqual([200, false]);
  });

  it("is free after 24.1 hours for another request, which then uses it", async () => {
    const { vault, post } = await postWithKey();
    await age(vault, 24.1 * HOUR);
    const second = await post("Other");
    expect([second.status, second.body.title]).toEqual([200, "Other"]);
    expect([(await post("Other")).text, (await post()).status]).toEqual([second.text, 409]);
  });
});

describe("the scheduled handler", () => {
  it("deletes the idempotency records older than 24 hours, and no others", async () => {
    const [old, young] = [await postWithKey(), await postWithKey()];
    await age(old.vault, 24.1 * HOUR);
    await age(young.vault, 23.9 * HOUR);
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
    expect([await recordsOf(old.vault), (await recordsOf(young.vault)).length]).toEqual([[], 1]);
    expect((await young.post()).text).toBe(young.first.text);
  });

  it("uses the scheduled time of the cron event as the current time", async () => {
    const { vault } = await postWithKey();
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(Date.now() + 25 * HOUR) }), env);
    expect(await recordsOf(vault)).toEqual([]);
  });
});
