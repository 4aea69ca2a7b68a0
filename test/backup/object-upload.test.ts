import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "../../src/store/backup/part.ts";
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

it("a content that the bucket of backups has stays as it is, whatever length is sent (21.21)", async () => {
  const key = `contents/${id()}/${id()}/${id()}`;
  expect((await put(key, pattern(300))).body).toEqual({ stored: true });
  for (const length of [1, 300, 301]) expect((await put(key, new Uint8Array(length))).body).toEqual({ stored: false });
  expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(pattern(300));
});

it("an object of more bytes than the content of the largest File has is a 413 (21.21)", async () => {
  const headers = { "Content-Length": "100097721" };
  const key = `contents/${id()}/${id()}/${id()}`;
  const answer = await admin("PUT", `/v1/admin/backups/object?key=${key}`, { body: new ReadableStream(), headers });
  expect(answer).toMatchObject({ status: 413, body: { message: "The body is larger than 100097720 bytes" } });
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
