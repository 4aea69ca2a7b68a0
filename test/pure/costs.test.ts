import { describe, expect, it } from "vitest";
import { dollarsPerMillion, dollarsPerMonth, mostPerDay, sumOf } from "../../bench/costs/arithmetic.ts";
import { usageOf } from "../../bench/costs/usage.ts";

/** The arithmetic of the table of costs in docs/operations.md. Its counts come from `npm run bench -- costs`. */

const NOTHING = { d1: 0, r2: 0 };

const NO_FLUSH = { d1: 0, rowsRead: 0, rowsWritten: 0 };

describe("the dollars of a million operations", () => {
  it.each([
    ["nothing", {}, 0],
    ["one request", { requests: 1 }, 0.3],
    ["3 rows written and 1,000 read", { rowsWritten: 3, rowsRead: 1_000 }, 4],
    ["a message, written, read and deleted", { queue: 3 }, 1.2],
    ["one object written to R2, one read", { r2Writes: 1, r2Reads: 1 }, 4.86],
    ["0.1 s of a Durable Object of 128 MB", { objectRequests: 1, objectDuration: 0.0128 }, 0.31],
  ])("are the sum of its units by their prices: %s", (_, usage, dollars) => {
    expect(dollarsPerMillion(usage)).toBeCloseTo(dollars, 10);
  });
});

describe("the dollars of a month", () => {
  it.each([
    ["nothing", {}, NOTHING, 5],
    ["all that is included", { requests: 10e6, rowsWritten: 50e6, queue: 1e6 }, { d1: 5, r2: 10 }, 5],
    ["a million requests more", { requests: 11e6 }, NOTHING, 5.3],
    ["the example of Queues: a million messages a day", { queue: 90e6 }, NOTHING, 5 + 35.6],
    ["2 GB more in D1 and 100 GB more in R2", {}, { d1: 7, r2: 110 }, 5 + 1.5 + 1.5],
  ])("are the plan and what is beyond it: %s", (_, usage, stored, dollars) => {
    expect(dollarsPerMonth(usage, stored)).toBeCloseTo(dollars, 10);
  });
});

describe("the operations of a day on Workers Free", () => {
  it.each([
    ["one request", { requests: 1 }, { times: 100_000, unit: "Worker requests" }],
    ["a message beside a request", { requests: 1, queue: 3 }, { times: 3_333, unit: "queue operations" }],
    ["only CPU", { cpu: 3 }, undefined],
  ])("are those until the first limit: %s", (_, usage, most) => {
    expect(mostPerDay(usage)).toEqual(most);
  });
});

describe("the usage", () => {
  it("of several operations is the sum by their numbers", () => {
    const parts = [
      [2, { requests: 1 }],
      [3, { requests: 1, queue: 3 }],
    ] as const;
    expect(sumOf(parts)).toMatchObject({ requests: 5, queue: 9, rowsRead: 0 });
  });

  it("of a request with a log entry has the rows of its flush, and a part of the end of its segment", () => {
    const counts = {
      rowsRead: 3,
      rowsWritten: 0,
      objectCalls: 0,
      objectMs: 0,
      r2: 0,
      flush: { d1: 1, rowsRead: 8, rowsWritten: 1 },
    };
    const usage = usageOf(counts, { cpu: 2 });
    expect(usage).toMatchObject({ requests: 1, rowsRead: 11, queue: 0, cpu: 3 });
    expect(usage.rowsWritten).toBeCloseTo(1 + 1 / 70, 10);
  });

  it("of a write has the rows that are deleted later", () => {
    const counts = { rowsRead: 35, rowsWritten: 5, objectCalls: 1, objectMs: 80, r2: 0, flush: NO_FLUSH };
    expect(usageOf(counts, { cpu: 4, deletedLater: 3 })).toMatchObject({ rowsWritten: 8, queue: 0 });
  });

  it("of an upload has a write to R2 and the time of its coordinator", () => {
    const counts = { rowsRead: 26, rowsWritten: 4, objectCalls: 2, objectMs: 200, r2: 1, flush: NO_FLUSH };
    const usage = usageOf(counts, { cpu: 10, objectRows: 3, writesR2: true });
    expect(usage).toMatchObject({ r2Writes: 1, r2Reads: 0, objectRequests: 2, objectRows: 3 });
    expect(usage.objectDuration).toBeCloseTo(0.0256, 10);
  });
});
