import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { lengthOf, pattern } from "../support/files.ts";
import { admin } from "../support/service.ts";

/** Objects that the operator brings back from a folder (contract 21.21). */

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
