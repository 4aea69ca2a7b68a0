import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { Activity } from "../../src/model/activity.ts";
import { firstIdAt, operationId, timeOf } from "../../src/model/ids.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { addEntry, type FlushMessage, flushBatch } from "../../src/store/activity/flush.ts";
import { dropOldest } from "../../src/store/activity/retention.ts";
import { filesOf } from "../../src/store/buckets/r2.ts";
import { deliverMessages, drainQueue, entryOf, fillLog, idsInLog, pagesOf, whileNearlyFull } from "../support/activity.ts";
import { wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { DAY } from "../support/faults.ts";
import { runs } from "../support/runs.ts";
import { seeded } from "../support/seeded.ts";
import { admin, client, makeToken, makeVault } from "../support/service.ts";

/**
 * Random histories of logs over eight days that go past their retention one after the other, compared with a plain list of entries: none is
 * lost, and none is shown twice, in pages or in the export (docs/design/log.md, contract 13.7, 13.10, 13.20 and 23.5).
 */

beforeAll(drainQueue);

afterEach(() => void vi.restoreAllMocks());

const DAYS = 8;
const STEPS = 30;

interface Stored {
  readonly message: FlushMessage;
  readonly entries: readonly Activity[];
}

/** The history of a seed. */
class History {
  readonly random: () => number;
  /** When the first day begins. It is past a retention of 36 days. */
  readonly start = Date.now() - (Date.now() % DAY) - 36 * DAY;
  /** What the logs have to show. */
  readonly entries = new Map<string, Activity>();
  /** What the archive may have before the day is past the retention: what a log dropped, and what came while the database was nearly full. */
  readonly early = new Set<string>();
  readonly waiting: Stored[] = [];
  readonly delivered: Stored[] = [];
  readonly ended = new Set<string>();
  /** How many days are past the retention. */
  past = 0;
  readonly logs: readonly string[];

  constructor(seed: number, logs: readonly string[]) {
    this.random = seeded(seed);
    this.logs = logs;
  }

  below = (count: number): number => Math.floor(this.random() * count);

  pick = <T>(of: readonly T[]): T => of[this.below(of.length)]!;

  /** The moment of some requests, often at the end of a day or at that of earlier ones. */
  moment(): number {
    const day = this.start + this.below(DAYS - 1) * DAY;
    return day + this.pick([DAY - 1_000, 3_600_000, 3_601_000, this.below(DAY - 2_000)]);
  }

  make(moment: number, log: string): Activity {
    const id = operationId(moment + this.below(2_000), crypto.getRandomValues(new Uint8Array(10)));
    const items = this.below(3) === 0 ? Array.from({ length: 25 }, () => crypto.randomUUID()) : undefined;
    const origin = { userAgent: "x".repeat(this.below(256)), requestIp: "" };
    if (log !== NOWHERE) return entryOf(log, { id, items, origin, result: this.pick(["SUCCESS", "SUCCESS", "DENY"]) });
    const kinds: Partial<Activity>[] = [
      { result: "DENY" },
      { resource: "SESSION", action: "CREATE" },
      {},
      { action: "UPDATE", item: crypto.randomUUID() },
    ];
    return entryOf(log, { resource: "TOKEN", id, items, origin, ...this.pick(kinds) });
  }

  /** A D1 and a bucket of which one call fails, before or after it has taken effect. */
  faults(): Partial<Env> {
    const [at, kind] = [this.below(10), this.below(6)];
    let calls = 0;
    const fail = () => {
      if (calls++ === at) throw new Error("D1_ERROR: Network connection lost.");
    };
    if (kind < 2) return { DB: wrapDatabase(env.DB, { [kind === 0 ? "before" : "after"]: fail }) };
    if (kind === 2) return { FILES: wrapBucket({ get: async (key: string) => (fail(), env.FILES.get(key)) }) };
    const put = async (...call: Parameters<R2Bucket["put"]>) => {
      if (kind === 3) fail();
      const done = await env.FILES.put(...call);
      if (kind === 4) fail();
      return done;
    };
    return kind === 5 ? {} : { FILES: wrapBucket({ put }) };
  }

  /** Requests of an isolate, and the flush of their entries. What D1 does not take waits in the queue. */
  async flush(moment: number, bindings: Partial<Env>): Promise<readonly Activity[]> {
    const open = this.logs.filter((log) => !this.ended.has(log));
    const entries = Array.from({ length: 1 + this.below(24) }, () => this.make(moment, this.pick(open)));
    for (const entry of entries) this.entries.set(entry.id, entry);
    const send = async (message: FlushMessage) => void this.waiting.push({ message, entries });
    const all = { ...env, ...bindings, ACTIVITY: { send } as unknown as Env["ACTIVITY"] };
    for (const entry of entries) void addEntry(all, entry);
    await flushBatch(all);
    return entries;
  }

  async deliver(stored: readonly Stored[], bindings: Partial<Env> = {}): Promise<void> {
    await deliverMessages(
      stored.map(({ message }) => message),
      bindings,
      (body) => {
        const place = this.waiting.findIndex(({ message }) => message === body);
        if (place >= 0) this.delivered.push(...this.waiting.splice(place, 1));
      },
    ).catch(() => undefined);
  }

  /** Some of the messages. The queue has given a message up long before its rows are past the retention. */
  repeated(): Stored[] {
    return this.waiting.concat(this.delivered.filter(({ message }) => this.isRecent(message))).filter(() => this.below(4) === 0);
  }

  isRecent = ({ rows }: FlushMessage): boolean => rows.every(({ id }) => timeOf(id) >= this.due());

  /** Unix milliseconds: what is earlier is past the retention. */
  due = (): number => Date.now() - (36 - this.past) * DAY;

  readonly steps: readonly (() => Promise<unknown>)[] = [
    async () => {
      const moment = this.moment();
      await Promise.all([this.flush(moment, {}), this.flush(moment, {})]);
    },
    () =>
      this.flush(this.moment(), {
        DB: wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: overloaded")) }),
      }),
    () => this.flush(this.moment(), { DB: wrapDatabase(env.DB, { after: () => Promise.reject(new Error("D1_ERROR: lost")) }) }),
    () =>
      whileNearlyFull(async (bindings) => {
        for (const { id } of await this.flush(this.moment(), bindings)) this.early.add(id);
      }),
    () => this.deliver(this.waiting.filter(() => this.below(2) === 0).toReversed(), this.faults()),
    () => this.deliver(this.repeated()),
    () => {
      const some = this.repeated();
      for (const { entries } of some) for (const { id } of entries) this.early.add(id);
      return whileNearlyFull((bindings) => this.deliver(some, bindings));
    },
    async () => {
      this.past = Math.min(DAYS - 2, this.past + this.below(2));
      await this.deliver(this.waiting.filter(({ message }) => !this.isRecent(message)));
      await Promise.all([this.clean(this.faults()), this.below(3) === 0 && this.clean()]);
    },
    async () => {
      const log = this.pick(this.logs);
      for (const { id, log: of } of this.entries.values()) if (of === log) this.early.add(id);
      const failing = { FILES: env.FILES, DB: env.DB, ...this.faults() };
      const drop = (bindings: Pick<Env, "FILES" | "DB">) =>
        dropOldest(bindings.DB, filesOf({ ...env, ...bindings }), log, 1 + this.below(100_000)).catch(() => undefined);
      await Promise.all([drop(failing), this.below(2) === 0 && drop(env)]);
    },
    async () => {
      const log = this.pick(this.logs.filter((one) => !this.ended.has(one)));
      const made = Array.from({ length: 1 + this.below(6) }, () =>
        entryOf(log, { id: this.make(this.moment(), log).id, action: "UPDATE", item: crypto.randomUUID() }),
      );
      for (const entry of made) this.entries.set(entry.id, entry);
      await fillLog(
        log,
        made.map(({ id }) => id),
        { action: "UPDATE" },
      );
    },
  ];

  /** A run of the clean-up. */
  clean(bindings: Partial<Env> = {}): Promise<void> {
    const retention = { ACTIVITY_RETENTION_DAYS: 36 - this.past } as unknown as Partial<Env>;
    return cleanUp({ ...env, ...bindings, ...retention }, Date.now()).catch(() => undefined);
  }

  /** The ids of a log in D1. */
  kept = async (log: string): Promise<string[]> => (await idsInLog(log)).filter((id) => this.entries.has(id));

  /** What the export shows. In: what is done between two pages. */
  async exported(limit: number, query = "", between?: () => Promise<unknown>): Promise<string[]> {
    const range = `since=${new Date(this.start).toISOString()}&until=${new Date(this.start + DAYS * DAY).toISOString()}`;
    const shown = await pagesOf(admin, `/v1/admin/activity/export?limit=${limit}&${range}${query}`, between);
    return shown.filter((id) => this.entries.has(id)).toSorted();
  }
}

const SEEDS = Array.from({ length: runs(2, 40) }, (_, seed) => seed + 1);

describe.each(SEEDS)("the history of seed %i", (seed) => {
  it("loses no entry and shows none twice, in the pages and in the export", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => undefined);
    const [a, b] = [await makeVault(), await makeVault()];
    const [reader, ended] = [await makeToken({ [a]: "r", [b]: "r" }), await makeToken({})];
    const history = new History(seed, [a, b, ended.id, NOWHERE]);
    const end = [STEPS / 2 + history.below(STEPS / 2), STEPS / 2 + history.below(STEPS / 2)];
    for (let step = 0; step < STEPS; step++) {
      if (step === end[0]) await admin("DELETE", `/v1/admin/vaults/${b}`).then(() => history.ended.add(b));
      if (step === end[1]) await admin("DELETE", `/v1/admin/tokens/${ended.id}`).then(() => history.ended.add(ended.id));
      await history.pick(history.steps)();
    }
    while (history.waiting.length > 0) await history.deliver(history.waiting.slice(0, 10));
    const all = [...history.entries.keys()].toSorted();

    const before = firstIdAt(history.start + DAYS * DAY);
    const readers = [
      { logs: [a, b], call: client(reader.token), path: "/v1/activity" },
      { logs: [NOWHERE], call: admin, path: "/v1/admin/activity" },
    ];
    for (const { logs, call, path } of readers) {
      const kept = (await Promise.all(logs.map(history.kept))).flat().toSorted();
      for (const limit of [4 + history.below(9), 1000]) {
        const shown = await pagesOf(call, `${path}?limit=${limit}&before=${before}`);
        expect(shown.filter((id) => history.entries.has(id))).toEqual(kept.toReversed());
      }
      const due = history.due();
      const expected = [...history.entries.values()].filter(({ id, log }) => logs.includes(log) && timeOf(id) >= due);
      expect(new Set(expected.map(({ id }) => id)).difference(history.early).difference(new Set(kept)), "not in D1").toEqual(
        new Set(),
      );
    }
    for (const limit of [1000, 20 + history.below(50)]) expect(await history.exported(limit)).toEqual(all);
    for (const log of [a, b, ended.id])
      expect(await history.exported(10 + history.below(300), `&vault=${log}`)).toEqual(
        all.filter((id) => history.entries.get(id)!.log === log),
      );
    // While everything goes past the retention.
    let pages = 0;
    const shown = await history.exported(20, "", async () => {
      if (pages++ % 2 > 0) return;
      history.past = Math.min(DAYS, history.past + 1);
      await history.clean(history.faults());
    });
    expect(shown).toEqual(all);
    history.past = DAYS;
    for (let run = 0; run < 3; run++) await history.clean();
    for (const log of history.logs) expect(await history.kept(log)).toEqual([]);
    expect(await history.exported(1000)).toEqual(all);
  });
});
