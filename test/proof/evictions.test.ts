import { describe, expect, it } from "vitest";
import { runs } from "../support/runs.ts";
import { awaitsOf, everyOrder } from "./exploration/turns.ts";
import { playUploads, type UploadScenario } from "./exploration/uploads.ts";
import { play, type Scenario } from "./exploration/writes.ts";
import { checkHistory } from "./history/check.ts";

/**
 * Coordinators that are evicted, Workers that end in the middle of a request, and D1 calls that take effect after their
 * deadline, at every await of a write. docs/consistency.md states what must hold.
 */

const FAULTY = ["evict", "evict after", "late"] as const;

async function countWrong(scenario: Scenario): Promise<{ orders: number; wrong: number }> {
  let wrong = 0;
  const orders = await everyOrder(async (turns) => {
    if (checkHistory(await play(turns, scenario)).length > 0) wrong++;
  });
  return { orders, wrong };
}

describe("a coordinator that is evicted, or a D1 call that takes effect late", () => {
  it.each<[string, Omit<Scenario, "kinds">]>([
    ["one write, two faults", { writes: ["patch"], coordinators: 1, faults: 2 }],
    [
      "one write that two coordinators get, two faults",
      { writes: ["again"], coordinators: 2, faults: 2, awaits: awaitsOf(["write", "late"], ["read"]) },
    ],
    ["one write sent twice with its key, one fault", { writes: ["twice"], coordinators: 1, faults: 1 }],
    ["two writes, one coordinator, one fault", { writes: ["put", "patch"], coordinators: 1, faults: 1 }],
    [
      "two writes, two coordinators, one fault",
      { writes: ["patch", "delete"], coordinators: 2, faults: 1, awaits: ["arrival", "read", "write", "late"] },
    ],
    [
      "a conditional write and another, one fault",
      { writes: ["once", "put"], coordinators: 2, faults: 1, awaits: ["read", "write", "late"] },
    ],
  ])("loses and doubles no write, in any order: %s", async (_, scenario) => {
    const { orders, wrong } = await countWrong({ ...scenario, kinds: FAULTY });
    expect(wrong).toBe(0);
    expect(orders).toBeGreaterThan(5);
  });

  it("loses and doubles no write whose attempts may all take effect late, also while the loop only reads", async () => {
    const scenario = { coordinators: 1, faults: runs(5, 6), kinds: ["late"], awaits: ["read", "late"] } as const;
    const { orders, wrong } = await countWrong({ ...scenario, writes: ["patch"] });
    expect(wrong).toBe(0);
    expect(orders).toBeGreaterThan(1_000);
  });

  it("loses a write when no fence refuses the late D1 call of another coordinator", async () => {
    const scenario = {
      writes: ["patch", "patch"],
      coordinators: 2,
      faults: 1,
      kinds: ["late"],
      broken: { fence: true },
    } as const;
    expect((await countWrong({ ...scenario, awaits: ["read", "write", "late"] })).wrong).toBeGreaterThan(0);
    expect((await countWrong({ ...scenario, awaits: ["read", "write", "late"], broken: {} })).wrong).toBe(0);
  });
});

const UPLOADS = { coordinators: 1, faults: 1, kinds: ["evict", "evict after", "late", "before", "after", "crash"] } as const;
const STEPS = ["record", "content", "stored", "read", "write", "answer", "discard", "late"];

/** Out: how many orders there are, and how often each rule is broken. */
async function explore(scenario: UploadScenario) {
  const broken = { missing: 0, orphans: 0, lost: 0 };
  const orders = await everyOrder(async (turns) => {
    const outcome = await playUploads(turns, scenario);
    if (outcome.missing.length > 0) broken.missing++;
    if (outcome.orphans.length > 0) broken.orphans++;
    if (outcome.lost.length > 0) broken.lost++;
  });
  return { orders, broken };
}

/** A bug: the released contents are recorded after the commit. */
const plantCommit: UploadScenario["plantCommit"] = (ports) => ({
  ...ports,
  recordReleased: async () => undefined,
  async write(commit) {
    const attempt = await ports.write(commit);
    await ports.recordReleased(commit);
    return attempt;
  },
});

/** A bug: the content is recorded after it was stored. */
const plantUpload: UploadScenario["plantUpload"] = (ports) => ({
  ...ports,
  record: async () => ({ ok: true, value: undefined }),
  async receive(key) {
    const received = await ports.receive(key);
    await ports.record();
    return received;
  },
});

describe("an upload or deletion that is interrupted between record, content, commit and answer", () => {
  it.each<[string, UploadScenario]>([
    ["an upload, two faults", { ...UPLOADS, writes: ["upload"], awaits: STEPS, faults: 2 }],
    ["a replaced content, two faults", { ...UPLOADS, writes: ["replace"], awaits: STEPS, faults: 2 }],
    ["a deleted File, two faults", { ...UPLOADS, writes: ["delete-file"], awaits: STEPS, faults: 2 }],
    ["a deleted Item, two faults", { ...UPLOADS, writes: ["delete-item"], awaits: STEPS, faults: 2 }],
    [
      "an upload into an Item that is deleted",
      { ...UPLOADS, writes: ["upload", "delete-item"], awaits: ["content", "write", "discard", "late"] },
    ],
    [
      "a content that two coordinators replace",
      { ...UPLOADS, writes: ["replace", "replace"], coordinators: 2, awaits: awaitsOf(["read", "write", "late"], ["record"]) },
    ],
    [
      "a content that one coordinator replaces and another deletes",
      {
        ...UPLOADS,
        writes: ["replace", "delete-file"],
        coordinators: 2,
        awaits: awaitsOf(["write", "discard", "late"], ["record", "read"]),
      },
    ],
  ])("leaves every row its content, and no content without a row after the alarms: %s", async (_, scenario) => {
    const { orders, broken } = await explore(scenario);
    expect(broken).toEqual({ missing: 0, orphans: 0, lost: 0 });
    expect(orders).toBeGreaterThan(10);
  });

  it("leaves a content behind when the commit loop records the released contents after the commit", async () => {
    const { broken } = await explore({ ...UPLOADS, writes: ["delete-file"], awaits: STEPS, plantCommit });
    expect(broken.orphans).toBeGreaterThan(0);
  });

  it("leaves a content behind when the upload is recorded after its content was stored", async () => {
    const { broken } = await explore({ ...UPLOADS, writes: ["upload"], awaits: STEPS, plantUpload });
    expect(broken.orphans).toBeGreaterThan(0);
  });
});
