import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "../../src/store/backup/sha256.ts";
import { recordingQueue } from "../support/activity.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { admin } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Objects that the operator brings back from a folder (contract 21.21). */

afterEach(() => void vi.useRealTimers());

const id = () => crypto.randomUUID();
const put = (key: string, body: Uint8Array, bindings?: Partial<Env>) =>
  admin("PUT", `/v1/admin/backups/object?key=${key}`, { body, headers: lengthOf(body), ...(bindings && { env: bindings }) });

describe("a content that the bucket of backups has", () => {
  it("stays as it is when another one of the same length is sent (21.21)", async () => {
    const key = `contents/${id()}/${id()}/${id()}`;
    expect((await put(key, pattern(300))).body).toEqual({ stored: true });
    expect((await put(key, new Uint8Array(300))).body).toEqual({ stored: false });
    expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(pattern(300));
  });

  it.each([
    ["a longer one", 200],
    ["a shorter one", 400],
  ])("is replaced where FILES has the length of the new one: %s was there (21.21)", async (_, length) => {
    const content = `${id()}/${id()}/${id()}`;
    await env.FILES.put(content, pattern(300));
    await env.BACKUPS.put(`contents/${content}`, pattern(length));
    expect((await put(`contents/${content}`, pattern(300))).body).toEqual({ stored: true });
    expect(await (await env.BACKUPS.get(`contents/${content}`))!.bytes()).toEqual(pattern(300));
  });

  it.each([
    ["shorter", 1],
    ["longer", 301],
  ])("stays as it is when a %s one is sent, whether FILES has it or not (21.21)", async (_, length) => {
    for (const isThere of [true, false]) {
      const content = `${id()}/${id()}/${id()}`;
      if (isThere) await env.FILES.put(content, pattern(300));
      await env.BACKUPS.put(`contents/${content}`, pattern(300));
      expect((await put(`contents/${content}`, pattern(length))).body).toEqual({ stored: false });
      expect(await (await env.BACKUPS.get(`contents/${content}`))!.bytes()).toEqual(pattern(300));
    }
  });
});

describe("the log of the admin", () => {
  it("has the first object that is stored in a minute, and none that stays as it is (21.11)", async () => {
    const { rows: entries, bindings } = recordingQueue();
    const [there = "", ...others] = [1, 2, 3].map(() => `contents/${id()}/${id()}/${id()}`);
    await env.BACKUPS.put(there, pattern(300));
    advanceClock(2 * 60_000);
    await put(there, pattern(300), bindings);
    expect(entries).toEqual([]);
    for (const key of others) await put(key, pattern(300), bindings);
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(1);
    advanceClock(60_000);
    await put(`contents/${id()}/${id()}/${id()}`, pattern(300), bindings);
    await expect.poll(() => entries.length, UNDER_LOAD).toBe(2);
    expect(entries).toMatchObject([1, 2].map(() => ({ action: "CREATE", result: "SUCCESS", resource: "BACKUP" })));
  });
});

describe("a part that the bucket of backups has", () => {
  it("is stored anew when it is old: a part that no snapshot names is deleted for its age (21.12, 21.21)", async () => {
    const key = `vaults/${id()}/parts/${await sha256(pattern(300))}`;
    const results = [];
    for (const days of [0, 0.25, 0.75]) {
      if (days > 0) advanceClock(days * DAY);
      results.push((await put(key, pattern(300))).body.stored);
      vi.useRealTimers();
    }
    expect(results).toEqual([true, false, true]);
    advanceClock(0.75 * DAY);
    const other = await put(key, new Uint8Array(300));
    expect([other.status, await (await env.BACKUPS.get(key))!.bytes()]).toEqual([422, pattern(300)]);
  });
});
