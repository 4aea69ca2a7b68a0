import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { cleanUp } from "../../src/scheduled.ts";
import { KEEP_NOTHING, countingDatabase, wrapBucket } from "../support/bindings.ts";
import { advanceClock, DAY, freshContent, HOUR, pendingRecordsOf, runDueAlarms } from "../support/faults.ts";
import { objectsOf, pattern } from "../support/files.ts";
import { passDays, passDaysQuickly, removeRows } from "../support/restore.ts";
import { send } from "../support/service.ts";

/** Contents that have lost their row, because D1 was restored: the hourly run finds them (decision 0037). */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const run = (bindings: Partial<Env> = {}) => cleanUp({ ...env, ...bindings }, Date.now());

const CONTENT = pattern(10);

/** A File whose row D1 has lost. Out: also a function that brings it back. */
async function lostContent(variables: Partial<Env> = {}) {
  const made = await freshContent(CONTENT, variables);
  return { ...made, restore: await removeRows(made.at.vault, ["files"]) };
}

const countOf = async (kind: string): Promise<number> => {
  const { text } = await send("GET", "/metrics", { headers: { Authorization: `Bearer ${env.METRICS_TOKEN}` } });
  return Number(new RegExp(`^item_vault_cleaned_total\\{kind="${kind}"\\} (\\d+)$`, "m").exec(text)?.[1]);
};

describe("a content without a row", () => {
  it("is found, swept daily, and deleted after FILE_RETENTION_DAYS", async () => {
    const { at, key } = await lostContent();
    const [found, deleted] = [await countOf("content_without_row"), await countOf("content")];
    advanceClock(3 * DAY);
    await run();
    expect((await pendingRecordsOf(at.vault)).map((record) => record.key)).toEqual([key]);
    await run();
    expect((await countOf("content_without_row")) - found).toBe(1);
    await passDaysQuickly(at.vault, 30);
    expect(await objectsOf(at.vault)).toEqual([key]);
    await passDays(at.vault, 2);
    expect([await objectsOf(at.vault), await pendingRecordsOf(at.vault), (await countOf("content")) - deleted]).toEqual([
      [],
      [],
      1,
    ]);
  });

  it("is kept when its row comes back, also that of an earlier version", async () => {
    const [{ at, file, key, restore }, other] = [await lostContent(), await lostContent()];
    advanceClock(3 * DAY);
    await run();
    await passDaysQuickly(at.vault, 20);
    await restore();
    await other.restore();
    await other.at.call("DELETE", `${other.at.files}/${other.file}`);
    for (const { vault } of [at, other.at]) await passDays(vault, 15);
    expect([await objectsOf(at.vault), await pendingRecordsOf(at.vault)]).toEqual([[key], []]);
    expect(await objectsOf(other.at.vault)).toEqual([other.key]);
    expect((await at.download(file)).status).toBe(200);
  });

  it("is kept when its row is missing again only since less than the retention", async () => {
    const { at, key, restore } = await lostContent();
    advanceClock(3 * DAY);
    await run();
    await passDaysQuickly(at.vault, 20);
    await restore();
    await passDays(at.vault, 1);
    await removeRows(at.vault, ["files"]);
    await run();
    await passDaysQuickly(at.vault, 29);
    expect(await objectsOf(at.vault)).toEqual([key]);
  });

  it("proves nothing while D1 knows neither its vault nor the deletion", async () => {
    const { at, key } = await lostContent();
    await removeRows(at.vault, ["vaults", "activity"]);
    advanceClock(3 * DAY);
    await run();
    expect([await pendingRecordsOf(at.vault), await objectsOf(at.vault)]).toEqual([[], [key]]);
  });
});

describe("what is not a content without a row", () => {
  it("is a content with a row, a pending one, one that is a day old, and another object", async () => {
    const { at } = await freshContent(CONTENT, KEEP_NOTHING);
    const released = await freshContent(CONTENT, KEEP_NOTHING);
    await released.at.call("DELETE", `${released.at.files}/${released.file}`);
    await env.FILES.put("log/2026-01-01/one", "[]");
    const before = await countOf("content_without_row");
    advanceClock(3 * DAY);
    const young = await lostContent();
    const uploaded = new Date(Date.now() - 47 * HOUR);
    const list: R2Bucket["list"] = async (options) => {
      const listed = await env.FILES.list(options);
      const aged = listed.objects.map((object) =>
        object.key === young.key
          ? new Proxy(object, { get: (target, name) => (name === "uploaded" ? uploaded : Reflect.get(target, name)) })
          : object,
      );
      return { ...listed, objects: aged };
    };
    await run({ FILES: wrapBucket({ list }) });
    expect(await pendingRecordsOf(at.vault)).toEqual([]);
    expect(await pendingRecordsOf(young.at.vault)).toEqual([]);
    expect(await countOf("content_without_row")).toBe(before);
    await runDueAlarms(released.at.vault);
  });
});

/** Lists at most two objects of the whole bucket. */
const list: R2Bucket["list"] = (options) => env.FILES.list({ ...options, limit: options?.prefix === undefined ? 2 : 1000 });

describe("a run", () => {
  it("looks through a part of the bucket, and the next one goes on behind it; D1 is asked once for each part", async () => {
    const lost = [await lostContent(), await lostContent(), await lostContent(), await lostContent()];
    advanceClock(3 * DAY);
    const { db } = countingDatabase();
    const watched = async () => {
      const records = await Promise.all(lost.map(({ at }) => pendingRecordsOf(at.vault)));
      return records.filter(({ length }) => length > 0).length;
    };
    for (let runs = 0; (await watched()) < lost.length; runs++) {
      expect(runs).toBeLessThan(40);
      await run({ FILES: wrapBucket({ list }), DB: db });
    }
    expect(await (await env.FILES.get("positions/contents"))?.text()).toBeDefined();
  });

  it("goes on behind a vault whose coordinator fails, and then fails", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const lost = [await lostContent(), await lostContent()].toSorted((a, b) => (a.at.vault < b.at.vault ? -1 : 1));
    await env.FILES.delete("positions/contents");
    advanceClock(3 * DAY);
    const COORDINATOR = {
      getByName: (vault: string) => ({
        expire: async () => ({ ok: true, value: undefined }),
        watchContents: async (keys: string[]) => {
          if (vault === lost[0]!.at.vault) throw new Error("reset");
          return env.COORDINATOR.getByName(vault).watchContents(keys);
        },
      }),
    } as unknown as Env["COORDINATOR"];
    await expect(run({ COORDINATOR })).rejects.toThrow("a coordinator could not watch contents");
    expect(await pendingRecordsOf(lost[1]!.at.vault)).toHaveLength(1);
    await env.FILES.delete("positions/contents");
    await run();
    expect(await pendingRecordsOf(lost[0]!.at.vault)).toHaveLength(1);
  });
});
