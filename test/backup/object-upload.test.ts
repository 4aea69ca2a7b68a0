import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256 } from "../../src/store/backup/sha256.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { lengthOf, pattern } from "../support/files.ts";
import { admin } from "../support/service.ts";

/** Objects that the operator brings back from a folder (contract 21.21). */

afterEach(() => void vi.useRealTimers());

const id = () => crypto.randomUUID();
const put = (key: string, body: Uint8Array) =>
  admin("PUT", `/v1/admin/backups/object?key=${key}`, { body, headers: lengthOf(body) });

describe("a content that the bucket of backups has", () => {
  it("stays as it is when another one of the same length is sent (21.21)", async () => {
    const key = `contents/${id()}/${id()}/${id()}`;
    expect((await put(key, pattern(300))).body).toEqual({ stored: true });
    expect((await put(key, new Uint8Array(300))).body).toEqual({ stored: false });
    expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(pattern(300));
  });

  it("is replaced by one of another length: a copy of it was cut off (21.21)", async () => {
    const key = `contents/${id()}/${id()}/${id()}`;
    await env.BACKUPS.put(key, pattern(200));
    expect((await put(key, pattern(300))).body).toEqual({ stored: true });
    expect(await (await env.BACKUPS.get(key))!.bytes()).toEqual(pattern(300));
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
