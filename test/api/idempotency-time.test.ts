import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { openKeyring } from "../../src/crypto/keyring.ts";
import { unwrapVaultKeys } from "../../src/crypto/vault-keys.ts";
import worker from "../../src/index.ts";
import { openRecord, type RecordRow, sealRecord } from "../../src/store/write/idempotency.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** How long an Idempotency-Key is kept: a day. */

const HOUR = 60 * 60 * 1000;

const replaysOf = async (vault: string) =>
  (await env.DB.prepare("SELECT key, id, sealed FROM replays WHERE vault_id = ?1").bind(vault).all<RecordRow>()).results;

/** The same UUIDv7 at an earlier time. */
function earlier(id: string, milliseconds: number): string {
  const time = (parseInt(id.replace("-", "").slice(0, 12), 16) - milliseconds).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
}

/** Makes the replays of a vault older: as their ids are part of what is sealed, they are sealed again. */
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
  for (const replay of await replaysOf(vault)) {
    const opened = await openRecord(keys.value, vault, replay);
    if (!opened.ok) throw new Error("the replay does not open");
    const older = { ...opened.value, id: earlier(replay.id, milliseconds) };
    const sealed = await sealRecord(keys.value, vault, older);
    await env.DB.prepare("UPDATE replays SET id = ?2, sealed = ?3 WHERE id = ?1").bind(replay.id, older.id, sealed).run();
  }
}

/** A vault to which one Item was added with the key; `again` sends that request again, or another. */
async function world() {
  const { vault, items, call } = await freshVault();
  const again = (title = "Once") => call("POST", items, { body: { ...LOGIN, title }, headers: { "Idempotency-Key": "key" } });
  return { vault, again, first: await again() };
}

describe("a key", () => {
  it("is kept for nearly a day", async () => {
    const { vault, again, first } = await world();
    await age(vault, 23.9 * HOUR);
    expect((await again()).text).toBe(first.text);
    expect((await again("Other")).status).toBe(409);
  });

  it("is free again after more than a day: the same request is a new one", async () => {
    const { vault, again, first } = await world();
    await age(vault, 24.1 * HOUR);
    const second = await again();
    expect([second.status, second.body.id === first.body.id]).toEqual([200, false]);
  });

  it("is free again after more than a day, for another request too, which is then kept", async () => {
    const { vault, again } = await world();
    await age(vault, 24.1 * HOUR);
    const second = await again("Other");
    expect([second.status, second.body.title]).toEqual([200, "Other"]);
    expect([(await again("Other")).text, (await again()).status]).toEqual([second.text, 409]);
  });
});

describe("the scheduled handler", () => {
  it("deletes what is older than a day, and nothing else", async () => {
    const [old, young] = [await world(), await world()];
    await age(old.vault, 24.1 * HOUR);
    await age(young.vault, 23.9 * HOUR);
    await worker.scheduled(createScheduledController({ scheduledTime: new Date() }), env);
    expect([await replaysOf(old.vault), (await replaysOf(young.vault)).length]).toEqual([[], 1]);
    expect((await young.again()).text).toBe(young.first.text);
  });

  it("goes by the time that it was called for", async () => {
    const { vault } = await world();
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(Date.now() + 25 * HOUR) }), env);
    expect(await replaysOf(vault)).toEqual([]);
  });
});
