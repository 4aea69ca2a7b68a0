import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Activity } from "../../src/model/activity.ts";
import { operationId } from "../../src/model/ids.ts";
import type { FlushMessage } from "../../src/store/activity/flush.ts";
import { deliverMessages, messageOf, pagesOf, whileNearlyFull } from "../support/activity.ts";
import { wrapDatabase } from "../support/bindings.ts";
import { runs } from "../support/runs.ts";
import { seeded } from "../support/seeded.ts";
import { admin, client, makeToken, makeVault } from "../support/service.ts";

/** Whatever becomes of its messages, the log is a plain list of entries: in its pages, filters, total and export (docs/design/log.md). */

afterEach(() => void vi.restoreAllMocks());

const lost = wrapDatabase(env.DB, { after: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
const failed = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: D1 DB is overloaded.")) });

it.each<[string, typeof whileNearlyFull]>([
  ["in D1", (run) => run({})],
  ["in the archive", whileNearlyFull],
])("an entry is stored although its id is the Item of a denied request that is stored before it, %s", async (_, whilst) => {
  const [vault, now] = [await makeVault(), Date.now() - 60_000];
  const make = (seconds: number, more: Partial<Activity> = {}): Activity => {
    const id = operationId(now + seconds * 1_000, crypto.getRandomValues(new Uint8Array(10)));
    const origin = { userAgent: "", requestIp: "" };
    return { id, log: vault, action: "READ", result: "SUCCESS", actor: "admin", item: null, version: null, origin, ...more };
  };
  const [earlier, read] = [make(0), make(1)];
  const denied = make(2, { action: "DELETE", result: "DENY", item: read.id });
  // One segment or archived object has the first two.
  await whilst(async (bindings) => {
    await deliverMessages([await messageOf([earlier, denied])], bindings);
    await deliverMessages([await messageOf([read])], bindings);
  });
  const exported = await pagesOf(admin, `/v1/admin/activity/export?vault=${vault}&limit=1000`);
  expect(exported.filter((id) => [earlier, read, denied].some((entry) => entry.id === id)).toSorted()).toEqual(
    [earlier.id, read.id, denied.id].toSorted(),
  );
});

describe.each(Array.from({ length: runs(3, 60) }, (_, seed) => seed + 1))("the history of seed %i", (seed) => {
  it("gives in pages, by filters, as a total and in the export each entry once, and none of a log outside of the scope", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const random = seeded(seed);
    const below = (count: number) => Math.floor(random() * count);
    const [a, b, other] = [await makeVault(), await makeVault(), await makeVault()];
    const [actors, now] = [[crypto.randomUUID(), crypto.randomUUID()], Date.now() - 60_000];
    const delivered = new Set<string>();
    const [entries, messages]: [Activity[], FlushMessage[]] = [[], []];
    /** Entries of the last minute, in any order. */
    const make = (log: string): Activity => {
      const id = operationId(now + below(60_000), crypto.getRandomValues(new Uint8Array(10)));
      const origin = { userAgent: "x".repeat(below(256)), requestIp: "" };
      const result = below(3) === 0 ? "DENY" : "SUCCESS";
      return { id, log, action: "READ", result, actor: actors[below(2)]!, item: null, version: null, origin };
    };
    const batches = Array.from({ length: 40 }, () => {
      const log = [a, b, other][below(3)]!;
      return Array.from({ length: 1 + below(30) }, () => make(log));
    });
    // A client chooses the id of the Item in a denied request: also that of an entry that is not stored yet.
    const heads = batches.map((batch) => batch.map(({ id }) => id).toSorted()[0]!);
    for (const batch of batches) {
      const some = batch.map((entry) => Object.assign(entry, below(4) > 0 ? {} : { item: heads[below(heads.length)]! }));
      entries.push(...some);
      const message = await messageOf(some);
      messages.push(message);
      const kind = below(10);
      if (kind === 0) await deliverMessages([message], { DB: lost }).catch(() => undefined);
      if (kind === 1) await deliverMessages([message], { DB: failed }).catch(() => undefined);
      if (kind === 2) await whileNearlyFull((bindings) => deliverMessages([message], bindings));
      // Again, beside another isolate that delivers an earlier message.
      await Promise.all([deliverMessages([message]), deliverMessages([messages[below(messages.length)]!])]);
      for (const { id } of some) delivered.add(id);
    }
    const { token } = await makeToken({ [a]: "r", [b]: "r" });
    const call = client(token);
    const made = (await pagesOf(call, "/v1/activity?limit=1000&action=CREATE")).length;
    const expected = (matches: (entry: Activity) => boolean) =>
      entries
        .filter((entry) => entry.log !== other && matches(entry))
        .map(({ id }) => id)
        .toSorted()
        .toReversed();
    const all = expected(() => true);
    const first = "before=ffffffff-ffff-7fff-bfff-ffffffffffff";
    for (const limit of [1 + below(20), 100, 1000])
      expect((await pagesOf(call, `/v1/activity?limit=${limit}&${first}`)).filter((id) => delivered.has(id))).toEqual(all);
    expect((await pagesOf(call, "/v1/activity?limit=37")).filter((id) => delivered.has(id))).toEqual(all);
    expect(await pagesOf(call, `/v1/activity?result=DENY&limit=50`)).toEqual(expected(({ result }) => result === "DENY"));
    expect(await pagesOf(call, `/v1/activity?actor=${actors[0]}&vault=${a}`)).toEqual(
      expected(({ actor, log }) => actor === actors[0] && log === a),
    );
    // A message that was delivered again counts again.
    const range = (await call("GET", "/v1/activity?limit=1")).headers.get("Content-Range")!;
    const total = Number(range.replace("1-1/", "").replace("*", "1001"));
    expect(total).toBeGreaterThanOrEqual(Math.min(1_001, all.length + made));
    for (const log of [a, b, other]) {
      const exported = await pagesOf(admin, `/v1/admin/activity/export?vault=${log}&limit=${1 + below(1000)}`);
      const ofLog = entries.filter((entry) => entry.log === log).map(({ id }) => id);
      expect(exported.filter((id) => delivered.has(id)).toSorted()).toEqual(ofLog.toSorted());
    }
  });
});

describe.each([
  ["24 isolates with 11 reads of 100 Items each", 24, 11, 100],
  ["40 isolates with 40 reads of 12 Items each", 40, 40, 12],
  ["60 isolates with 5 to 11 reads of 100 Items each", 60, 0, 100],
])("batches of the same second: %s", (_, isolates, reads, items) => {
  it("gives each entry once in the pages, by a filter too, whatever of the segments overlaps", async () => {
    const vault = await makeVault();
    const random = seeded(isolates);
    const now = Date.now() - 60_000;
    const [ids, actor] = [Array.from({ length: items }, () => crypto.randomUUID()), crypto.randomUUID()];
    const origin = { userAgent: "x".repeat(256), requestIp: "" };
    const batches = Array.from({ length: isolates }, () =>
      Array.from({ length: reads || 5 + Math.floor(random() * 7) }, (): Activity => {
        const id = operationId(now + Math.floor(random() * 1_000), crypto.getRandomValues(new Uint8Array(10)));
        return { id, log: vault, action: "READ", result: "SUCCESS", actor, item: null, items: ids, version: null, origin };
      }),
    );
    for (const batch of batches) await deliverMessages([await messageOf(batch)]);
    const all = batches.flatMap((batch) => batch.map(({ id }) => id));
    const expected = all.toSorted().toReversed();
    const call = client((await makeToken({ [vault]: "r" })).token);
    for (const query of [
      "limit=100&before=ffffffff-ffff-7fff-bfff-ffffffffffff",
      "limit=50&result=SUCCESS&action=READ",
      "limit=300",
    ]) {
      const found = (await pagesOf(call, `/v1/activity?${query}`)).filter((id) => all.includes(id));
      expect(found.length).toBe(expected.length);
      expect(found).toEqual(expected);
    }
  });
});
