import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "../../src/store/backup/part.ts";
import { recordingQueue } from "../support/activity.ts";
import { backUpAll } from "../support/backup.ts";
import { wrapBucket } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { admin, makeVault } from "../support/service.ts";
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

const contentKey = () => `contents/${id()}/${id()}/${id()}`;
const partsOf = async (key: string) => (await env.BACKUPS.list({ prefix: `incoming/${key}` })).objects.length;

describe("an object that is sent in parts", () => {
  const whole = pattern(300);
  const part = (key: string, first: number, length: number, { bytes = whole, size = 300, env: bindings = {} } = {}) => {
    const body = bytes.subarray(first, first + length);
    const headers = { ...lengthOf(body), "Content-Range": `bytes ${first}-${first + length - 1}/${size}` };
    return admin("PUT", `/v1/admin/backups/object?key=${key}`, { body, headers, env: bindings });
  };

  it("keeps its parts while R2 refuses the object, so that its last part is sent again (21.21)", async () => {
    const key = contentKey();
    await part(key, 0, 150);
    const BACKUPS = wrapBucket({ put: () => Promise.reject(new Error("R2")) }, env.BACKUPS);
    expect((await part(key, 150, 150, { env: { BACKUPS } })).status).toBe(503);
    expect((await part(key, 150, 150)).body).toEqual({ stored: true });
    expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(whole);
  });

  it("is there with its last part, and not before, and nothing is left of the parts (21.21)", async () => {
    const key = contentKey();
    for (const first of [0, 120, 0, 120]) {
      expect((await part(key, first, 120)).body).toEqual({ stored: true }); // each is sent again
      expect(await env.BACKUPS.head(key)).toBeNull();
    }
    expect((await part(key, 240, 60)).body).toEqual({ stored: true });
    expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(whole);
    expect(await partsOf(key)).toBe(0);
    for (const first of [0, 240]) expect((await part(key, first, 60)).body).toEqual({ stored: false });
    expect(await partsOf(key)).toBe(0);
  });

  it("is compared as a whole with the hash in its key (21.21)", async () => {
    const key = `vaults/${id()}/parts/${await sha256(whole)}`;
    await part(key, 0, 150, { bytes: new Uint8Array(300) });
    expect((await part(key, 150, 150)).status).toBe(422);
    expect(await env.BACKUPS.head(key)).toBeNull();
    await part(key, 0, 150);
    expect((await part(key, 150, 150)).body).toEqual({ stored: true });
  });

  it.each<[name: string, sent: readonly (readonly [first: number, length: number, size?: number])[]]>([
    ["the first", []],
    ["one between", [[0, 100]]],
    ["one of an object of this size", [[0, 240, 301]]],
    ["an end at its first byte", [[0, 250]]],
    ["one of at most 10", Array.from({ length: 10 }, (_, index) => [index * 24, 24] as const)],
  ])("is refused without %s of the parts before the last (21.21)", async (_, sent) => {
    const key = contentKey();
    for (const [first, length, size] of sent) await part(key, first, length, { ...(size !== undefined && { size }) });
    expect(await part(key, 240, 60)).toMatchObject({ status: 400, body: { message: expect.stringContaining("Content-Range") } });
    expect(await env.BACKUPS.head(key)).toBeNull();
  });

  it.each([
    ["bytes 0-298/300", 400],
    ["bytes 0-299/299", 400],
    ["bytes 1-0/300", 400],
    ["bytes */300", 400],
    ["bytes 0-299/*", 400],
    ["items 0-299/300", 400],
    ["bytes 0-299/100097721", 413],
  ])("is refused with the Content-Range %s", async (range, status) => {
    const key = contentKey();
    const headers = { ...lengthOf(whole), "Content-Range": range };
    expect((await admin("PUT", `/v1/admin/backups/object?key=${key}`, { body: whole, headers })).status).toBe(status);
    expect(await partsOf(key)).toBe(0);
  });

  it("and never sent to its end is deleted by the backup after a day (21.12)", async () => {
    const key = contentKey();
    await makeVault();
    await part(key, 0, 100);
    expect([(await backUpAll()).state, await partsOf(key)]).toEqual(["done", 1]);
    advanceClock(DAY + 60_000);
    expect([(await backUpAll()).state, await partsOf(key)]).toEqual(["done", 0]);
  });
});

it("a request for more than 50,000,000 bytes of an object is a 413: the platform ends it at 100 MB (21.21)", async () => {
  const headers = { "Content-Length": "50000001" };
  const key = `contents/${id()}/${id()}/${id()}`;
  const answer = await admin("PUT", `/v1/admin/backups/object?key=${key}`, { body: new ReadableStream(), headers });
  expect(answer).toMatchObject({ status: 413, body: { message: "The body is larger than 50000000 bytes" } });
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
