import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fail, ok, type Refusal, type Result } from "../../src/model/result.ts";
import type { Commit } from "../../src/store/commit/commit.ts";
import type { Snapshot } from "../../src/store/commit/snapshot.ts";
import type { BatchOutcome } from "../../src/store/d1/database.ts";
import { commitGroup } from "../../src/vault/group.ts";
import type { CommitPorts } from "../../src/vault/ports.ts";
import { runs } from "../support/runs.ts";
import { changeOf, operationOf } from "./exploration/operations.ts";
import { createStore, NOTHING_KEPT, sealedEntry } from "./exploration/store.ts";

/**
 * How long the commit loop that ships reads on after an attempt of unknown outcome, and how often it calls a D1 that fails
 * (docs/consistency.md). D1 is a model, and the clock is virtual: it moves by the waits of the loop and by slow D1 calls.
 */

const OVERLOADED: Refusal = { ...fail("unavailable"), retry: false };

/** What a write does: an outcome without an effect, `lost` (committed, without an answer), or an effect that comes later. */
type Written = BatchOutcome | "lost" | { readonly lateBy: number };

interface Script {
  /** In: the current time. Out: why a read fails; `undefined` when it succeeds. */
  readonly read?: (time: number) => Refusal | undefined;
  /** In: the number of the write, from 1. */
  readonly write?: (attempt: number) => Written;
  /** Milliseconds that a D1 call takes. */
  readonly takes?: () => number;
  /** Whether another coordinator writes to the Item before a read. */
  readonly otherWrites?: () => boolean;
  /** Whether the coordinator has the rows in its cache. */
  readonly warm?: boolean;
  /** A wait of the loop as a part of the longest one, 0 to 1. */
  readonly jitter?: () => number;
}

function createModel(script: Script) {
  const { read, write = () => "committed", takes = () => 0, otherWrites = () => false, warm = true, jitter = () => 1 } = script;
  const store = createStore();
  const count = { time: 0, reads: 0, writes: 0, afterReads: 0 };
  const late: { at: number; run: () => void }[] = [];
  /** Lets time pass, with the effects that are due. */
  const pass = (milliseconds: number): void => {
    count.time += milliseconds;
    for (const effect of late.filter(({ at }) => at <= count.time)) late.splice(late.indexOf(effect), 1)[0]!.run();
  };
  const outcomeOf = (commit: Commit, attempt: number): BatchOutcome => {
    const written = write(attempt);
    if (written === "committed") return store.write(commit, attempt);
    if (written === "lost") return store.write(commit, attempt) === "stale" ? "stale" : "unknown";
    if (typeof written === "string") return written;
    late.push({ at: count.time + written.lateBy, run: () => void store.write(commit, attempt) });
    return "unknown";
  };
  const ports: CommitPorts = {
    cached: async () => (warm ? ok({ ...store.read(), applied: new Map() }) : undefined),
    async load(): Promise<Result<Snapshot>> {
      count.reads++;
      if (otherWrites()) await commitGroup(otherPorts, [operationOf(changeOf("patch", "another"))]);
      const failure = read?.(count.time);
      pass(takes());
      return failure ?? ok(store.read());
    },
    async write(commit) {
      const attempt = ++count.writes;
      const outcome = outcomeOf(commit, attempt);
      pass(takes());
      return { outcome, entries: new Map(commit.activities.map(({ id }) => [id, sealedEntry(id, attempt)])) };
    },
    backOff: async (retry) => pass(Math.round(jitter() * Math.min(2 ** (retry + 1), 2_000))),
    recordReleased: async () => undefined,
    databaseLevel: () => "ok",
    deleteCommitted: async () => undefined,
    onDefect: (error) => {
      throw error;
    },
    now: 1,
    clock: () => count.time,
    retention: NOTHING_KEPT,
    random: (size) => new Uint8Array(size),
  };
  const otherPorts: CommitPorts = {
    ...ports,
    cached: async () => undefined,
    load: async () => ok(store.read()),
    write: async (commit) => ({ outcome: store.write(commit, 0), entries: new Map() }),
  };
  /** How often the PATCH is in the Item. */
  const effects = (): number => {
    const item = store.read().items.values().next().value;
    return item?.ok ? item.value.tags.filter((tag) => tag === "mine").length : 0;
  };
  return { ports, count, effects, letLateEffectsHappen: () => pass(1_000_000) };
}

/** Sends one PATCH. Out: `ok` or the kind of its failure, and what was counted. */
async function run(script: Script) {
  const { ports, count, effects, letLateEffectsHappen } = createModel(script);
  const [answer] = await commitGroup(ports, [operationOf(changeOf("patch", "mine"))]);
  const counted = { ...count };
  letLateEffectsHappen();
  return { answer: answer!.ok ? "ok" : answer!.failure.kind, effects: effects(), ...counted };
}

const failingUntil = (until: number) => (time: number) => (time < until ? fail("unavailable") : undefined);

describe("after an attempt of unknown outcome", () => {
  it("a write that took effect is acknowledged when D1 answers again within 10 s", async () => {
    const result = await run({ write: () => "lost", read: failingUntil(8_000) });
    expect(result).toMatchObject({ answer: "ok", effects: 1, writes: 1 });
  });

  it("a write that did not take effect is written again when D1 answers again within 10 s", async () => {
    const result = await run({ write: (attempt) => (attempt === 1 ? "unknown" : "committed"), read: failingUntil(8_000) });
    expect(result).toMatchObject({ answer: "ok", effects: 1, writes: 2 });
  });

  it("a write whose batch takes effect seconds after its deadline is acknowledged, once", async () => {
    const result = await run({ write: (attempt) => (attempt === 6 ? { lateBy: 7_000 } : "unknown") });
    expect(result).toMatchObject({ answer: "ok", effects: 1, writes: 6 });
  });

  it("a write is `uncertain` when D1 does not answer for 10 s, after at most 20 reads", async () => {
    const result = await run({ write: () => "lost", read: failingUntil(60_000) });
    expect(result).toMatchObject({ answer: "uncertain", writes: 1 });
    expect(result.time).toBeGreaterThanOrEqual(10_000);
    expect(result.time).toBeLessThanOrEqual(12_000);
    expect(result.reads).toBeLessThanOrEqual(20);
  });

  it("a write is written six times at most, and only read after that", async () => {
    const result = await run({ write: () => "unknown" });
    expect(result).toMatchObject({ answer: "uncertain", effects: 0, writes: 6 });
    expect(result.reads).toBeGreaterThan(6);
  });

  it.each(["unavailable", "full", "refused"] as const)("a write that D1 then answers with `%s` is only read", async (outcome) => {
    const result = await run({ write: (attempt) => (attempt === 1 ? { lateBy: 5_000 } : outcome) });
    expect(result).toMatchObject({ answer: "ok", effects: 1, writes: 2 });
  });

  it("a write that did not take effect is `unavailable` as soon as another write has moved the fence", async () => {
    const result = await run({
      write: (attempt) => (attempt === 1 ? { lateBy: 5_000 } : "unavailable"),
      otherWrites: () => true,
    });
    expect(result).toMatchObject({ answer: "unavailable", effects: 0, writes: 2, reads: 1 });
  });

  it("a D1 that is overloaded is read again, with growing waits", async () => {
    const result = await run({ write: () => "lost", read: (time) => (time < 5_000 ? OVERLOADED : undefined) });
    expect(result).toMatchObject({ answer: "ok", effects: 1, writes: 1 });
    expect(result.reads).toBeLessThanOrEqual(15);
  });
});

describe("without an attempt of unknown outcome", () => {
  it.each([
    ["unavailable", "unavailable"],
    ["full", "database_full"],
  ] as const)("a write that D1 answers with `%s` is sent once", async (outcome, answer) => {
    expect(await run({ write: () => outcome })).toMatchObject({ answer, effects: 0, writes: 1, reads: 0 });
  });

  it("a D1 that is overloaded gets one read", async () => {
    expect(await run({ warm: false, read: () => OVERLOADED })).toMatchObject({ answer: "unavailable", writes: 0, reads: 1 });
  });

  it("a D1 that fails on reads gets six, within a second", async () => {
    const result = await run({ warm: false, read: () => fail("unavailable") });
    expect(result).toMatchObject({ answer: "unavailable", writes: 0, reads: 6 });
    expect(result.time).toBeLessThan(1_000);
  });
});

describe("a D1 that never answers, so that each call ends at its deadline of 10 s", () => {
  const silent: Script = { read: () => fail("unavailable"), write: () => "unknown", takes: () => 10_000 };

  it("makes a write `uncertain` after 20 s: one write and one read", async () => {
    expect(await run(silent)).toMatchObject({ answer: "uncertain", writes: 1, reads: 1 });
    expect((await run(silent)).time).toBeLessThan(20_100);
  });

  it("makes a write whose rows are not cached `unavailable` after 10 s: one read", async () => {
    expect(await run({ ...silent, warm: false })).toMatchObject({ answer: "unavailable", writes: 0, reads: 1 });
  });
});

/** How often an operation with this answer may have taken effect. */
const POSSIBLE: Readonly<Record<string, readonly number[]>> = {
  ok: [1],
  uncertain: [0, 1],
  unavailable: [0],
  internal: [0],
  database_full: [0],
};

describe("a D1 of random outcomes and durations", () => {
  it("gets an answer within 40 s that is true, and takes effect at most once", async () => {
    const written = fc.oneof(
      fc.constantFrom<Written>("committed", "lost", "unknown", "stale", "unavailable", "full", "refused"),
      fc.record({ lateBy: fc.integer({ min: 0, max: 60_000 }) }),
    );
    const reads = fc.infiniteStream(fc.constantFrom(undefined, undefined, fail("unavailable"), OVERLOADED));
    const duration = fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom(9_990, 10_000),
    );
    const property = fc.asyncProperty(
      fc.infiniteStream(written),
      reads,
      fc.infiniteStream(duration),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      fc.infiniteStream(fc.constantFrom(false, false, false, true)),
      fc.boolean(),
      async (...[writing, reading, taking, jittering, others, warm]) => {
        const { answer, effects, time } = await run({
          write: nextOf(writing),
          read: nextOf(reading),
          takes: nextOf(taking),
          jitter: nextOf(jittering),
          otherWrites: nextOf(others),
          warm,
        });
        expect(time).toBeLessThanOrEqual(40_000);
        expect([answer, POSSIBLE[answer]]).toEqual([answer, expect.arrayContaining([effects])]);
      },
    );
    await fc.assert(property, { numRuns: runs(200, 10_000) });
  });
});

const nextOf =
  <T>(stream: fc.Stream<T>) =>
  (): T =>
    stream.next().value as T;
