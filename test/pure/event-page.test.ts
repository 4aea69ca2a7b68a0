import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type After,
  type Cursor,
  formatCursor,
  isAt,
  parseAfter,
  parseCursor,
  formatCursors,
  parseCursors,
} from "../../src/model/cursor.ts";
import type { VaultEvent } from "../../src/model/event.ts";
import { type EventPage, pageOf } from "../../src/store/events/events.ts";
import { runs } from "../support/runs.ts";

/** Which events a cursor leads to (contract 15.3 to 15.5): a table, and a property over logs with gaps and restores. */

const eventAt = ({ sequence, at }: Cursor): VaultEvent => ({
  sequence,
  at,
  type: "item.updated",
  item: null,
  version: null,
  actor: "admin",
});
/** The entries of writes whose times are 10 × their numbers. */
const numbered = (...numbers: number[]) => numbers.map((sequence) => eventAt({ sequence, at: 10 * sequence }));

/** Reads a page as events.ts does. Out: the numbers of its events and its `last`, or the kind of the failure. */
function read(after: After, entries: readonly VaultEvent[], head: Cursor, limit = 100, read_ = 1_000) {
  const from = typeof after === "string" ? 0 : after.sequence;
  const rows = after === "latest" ? [] : entries.filter(({ sequence }) => sequence >= from).slice(0, read_);
  const page = pageOf(after, { head, entries: rows, complete: rows.length < read_ }, limit);
  return page.ok ? [page.value.events.map(({ sequence }) => sequence), formatCursor(page.value.last)] : page.failure.kind;
}

const cursor = (sequence: number, at = 10 * sequence): Cursor => ({ sequence, at });
const text = (sequence: number, at = 10 * sequence) => formatCursor({ sequence, at });
const GONE = "cursor_gone";

describe("a page of events", () => {
  it.each<[string, After, number[], Cursor, unknown]>([
    ["follows the entry of its cursor", cursor(2), [1, 2, 3, 4], cursor(4), [[3, 4], text(4)]],
    ["is empty at the newest entry", cursor(4), [3, 4], cursor(4), [[], text(4)]],
    ["is empty at the newest write also when its entry is past the retention", cursor(4), [], cursor(4), [[], text(4)]],
    ["follows a cursor whose own entry is past the retention", cursor(2), [3, 4], cursor(4), [[3, 4], text(4)]],
    ["is gone when an entry after its cursor is past the retention", cursor(1), [3, 4], cursor(4), GONE],
    ["is gone when all entries are past the retention", cursor(1), [], cursor(4), GONE],
    ["is gone beyond the newest write", cursor(5), [3, 4], cursor(4), GONE],
    ["is gone at a repeated number with another time", cursor(3, 29), [2, 3, 4], cursor(4), GONE],
    ["is gone at the newest number with another time", cursor(4, 39), [3, 4], cursor(4), GONE],
    ["is gone at the newest number with another time, without entries", cursor(4, 39), [], cursor(4), GONE],
    ["is gone when the next entry is older than its cursor", cursor(2, 31), [3, 4], cursor(4), GONE],
    ["ends before a gap", cursor(1), [1, 2, 3, 5, 6], cursor(6), [[2, 3], text(3)]],
    ["is gone at a gap", cursor(3), [1, 2, 3, 5, 6], cursor(6), GONE],
    ["is gone when the newest write has no number", cursor(3), [1, 2, 3], cursor(4), GONE],
    ["of `latest` is empty", "latest", [1, 2], cursor(2), [[], text(2)]],
    ["of `0` has all entries", "oldest", [2, 3, 4], cursor(4), [[2, 3, 4], text(4)]],
    ["of `0` begins after the last gap", "oldest", [1, 2, 4, 6, 7], cursor(7), [[6, 7], text(7)]],
    ["of `0` is empty without entries", "oldest", [], cursor(4), [[], text(4)]],
    ["of `0` is empty when the newest write has no number", "oldest", [1, 2, 3], cursor(4), [[], text(4)]],
  ])("%s", (_, after, entries, head, expected) => {
    expect(read(after, numbered(...entries), head)).toEqual(expected);
  });

  it("has at most `limit` events, and the next one follows its `last`", () => {
    const entries = numbered(1, 2, 3, 4, 5);
    expect(read("oldest", entries, cursor(5), 2)).toEqual([[1, 2], text(2)]);
    expect(read(cursor(2), entries, cursor(5), 2, 3)).toEqual([[3, 4], text(4)]);
    expect(read(cursor(4), entries, cursor(5), 2, 3)).toEqual([[5], text(5)]);
  });
});

/** A write of the history that is in the database now. */
interface Write extends Cursor {
  numbered: boolean;
  kept: boolean;
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant("write" as const) },
  { weight: 1, arbitrary: fc.constant("write without a number" as const) },
  { weight: 3, arbitrary: fc.constant("take a cursor" as const) },
  { weight: 1, arbitrary: fc.record({ restore: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ forget: fc.nat(4) }) },
);

/** Runs a history. Out: the writes that the database has, and the cursors that a client took on the way. */
function run(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) {
  const writes: Write[] = [{ sequence: 1, at: 1, numbered: true, kept: true }];
  const cursors: Cursor[] = [];
  let now = 1;
  for (const one of steps) {
    now++;
    const { sequence, at } = writes.at(-1)!;
    if (one === "take a cursor") cursors.push({ sequence, at });
    else if (typeof one === "string") writes.push({ sequence: sequence + 1, at: now, numbered: one === "write", kept: true });
    else if ("restore" in one) writes.splice(Math.max(1, writes.length - one.restore));
    else for (const write of writes.slice(0, one.forget)) write.kept = false;
  }
  return { writes, cursors };
}

describe("a reader", () => {
  it("gets every event after its cursor once and in order, or is told that the cursor is gone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, limit) => {
        const { writes, cursors } = run(steps);
        const [head] = writes.slice(-1) as [Write];
        const entries = writes.filter(({ kept, numbered: has }) => kept && has).map(eventAt);
        for (const start of cursors) {
          const known = writes.some((write) => isAt(write, start));
          const own = entries.find(({ sequence }) => sequence === start.sequence);
          const later = writes.filter(({ sequence }) => sequence > start.sequence);
          const got: number[] = [];
          let position: Cursor = start;
          let page: EventPage | undefined;
          do {
            const rows = entries.filter(({ sequence }) => sequence >= position.sequence).slice(0, limit + 1);
            const result = pageOf(position, { head, entries: rows, complete: rows.length <= limit }, limit);
            page = result.ok ? result.value : undefined;
            got.push(...(page?.events ?? []).map(({ sequence }) => sequence));
            position = page?.last ?? position;
          } while (page?.more);
          expect(got).toEqual(later.map(({ sequence }) => sequence).slice(0, got.length));
          // The entry tells another history apart. Without it only the order of the times does.
          const certain = own !== undefined || start.sequence === head.sequence;
          expect(page !== undefined && certain && !known).toBe(false);
          expect(page === undefined || got.length === later.length).toBe(true);
          const complete = later.every(({ kept, numbered: has }) => kept && has);
          expect(known && complete && page === undefined).toBe(false);
        }
      }),
      { numRuns: runs(75) },
    );
  });
});

describe("a cursor as text", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(Date.UTC(2200, 0)), (sequence, at) => {
        expect(parseAfter(formatCursor({ sequence, at }))).toEqual({ sequence, at });
      }),
      { numRuns: runs(100, 1_000) },
    );
  });

  it.each(["", "1", "00", "-1", "1-", "-a", "1-A", "01-a", "1-0a", "1-aaaaaaaaaa", "1 -a", "1e3-a", "1-a,2-b", "Latest", "x"])(
    "is not %j",
    (given) => expect(parseAfter(given)).toBeUndefined(),
  );
});

describe("the positions of several vaults as text", () => {
  const position = fc.record({ sequence: fc.nat(2 ** 31), at: fc.nat(Date.UTC(2200, 0)) });

  it("are read as they were written, those of other vaults left out", () => {
    const vaults = fc.uniqueArray(fc.tuple(fc.uuid(), position), { maxLength: 5, selector: ([id]) => id.slice(0, 8) });
    fc.assert(
      fc.property(vaults, fc.nat(5), (entries, left) => {
        const readable = entries.slice(0, left);
        const written = formatCursors(new Map(entries));
        expect(
          parseCursors(
            written,
            readable.map(([id]) => id),
          ),
        ).toEqual(new Map(readable));
      }),
      { numRuns: runs(100, 1_000) },
    );
  });

  it("of 100 vaults have at most 4 KiB", () => {
    const longest = parseCursor("999999999999999-zzzzzzzzz")!;
    const entries = Array.from({ length: 100 }, () => [crypto.randomUUID(), longest] as const);
    expect(formatCursors(new Map(entries)).length).toBeLessThanOrEqual(4_096);
  });

  it("are no other text, and reading one throws nothing", () => {
    const given = fc.oneof(
      fc.string(),
      fc.string().map((rest) => `1.${rest}`),
    );
    fc.assert(
      fc.property(given, (other) => {
        expect(parseCursors(other, []) === undefined || /^1(\.|$)/.test(other)).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });
});
