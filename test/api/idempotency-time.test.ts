import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../src/index.ts";
import { changeRecords, recordRows } from "../support/records.ts";
import { freshVault, LOGIN } from "../support/service.ts";

/** The lifetime of an idempotency record: 24 hours (contract 10.11). */

const HOUR = 60 * 60 * 1000;

/** The UUIDv7 with its time moved back by `milliseconds`. */
function moveBack(id: string, milliseconds: number): string {
  const time = (parseInt(id.replace("-", "").slice(0, 12), 16) - milliseconds).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}${id.slice(13)}`;
}

/** Makes the idempotency records of a vault older. */
const age = (vault: string, milliseconds: number): Promise<void> =>
  changeRecords(vault, (record) => ({ ...record, id: moveBack(record.id, milliseconds) }));

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
    expect([await recordRows(old.vault), (await recordRows(young.vault)).length]).toEqual([[], 1]);
    expect((await young.post()).text).toBe(young.first.text);
  });

  it("uses the scheduled time of the cron event as the current time", async () => {
    const { vault } = await postWithKey();
    await worker.scheduled(createScheduledController({ scheduledTime: new Date(Date.now() + 25 * HOUR) }), env);
    expect(await recordRows(vault)).toEqual([]);
  });
});
