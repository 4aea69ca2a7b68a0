import { describe, expect, it } from "vitest";
import { fail } from "../../src/model/result.ts";
import { everyOrder } from "./exploration/turns.ts";
import { playUploads, type UploadScenario } from "./exploration/uploads.ts";

/**
 * An upload whose row two coordinators get, because the first was reset and goes on for a while; and the record of a
 * content that is deleted with the commit of its row. In every order: each row has its content, and each content without a
 * row has a pending record.
 */

/** Out: how many orders there are, and how often each rule is broken. */
async function explore(scenario: UploadScenario) {
  const broken = { missing: 0, orphans: 0, lost: 0 };
  const orders = await everyOrder(async (turns) => {
    const outcome = await playUploads(turns, scenario);
    for (const rule of ["missing", "orphans", "lost"] as const) if (outcome[rule].length > 0) broken[rule]++;
  });
  return { orders, broken };
}

const NOTHING_BROKEN = { missing: 0, orphans: 0, lost: 0 };
const AGAIN = { coordinators: 2, reset: true, faults: 0, kinds: [], awaits: ["read", "write", "discard"] } as const;

/** The first write has a coordinator of its own. */
const BESIDE = { ...AGAIN, coordinators: 3 } as const;

/** A fault: a refusal is taken as final, whoever else may still carry out the operation. */
const refusalIsFinal: UploadScenario["plantUpload"] = (ports) => ({
  ...ports,
  async write(...content) {
    const { answer } = await ports.write(...content);
    // Nothing else is uncertain where there are no faults.
    const isRefused = !answer.ok && answer.failure.kind === "uncertain";
    return { answer: isRefused ? fail("precondition") : answer, tries: 1 };
  },
});

describe("an upload that is sent to a second coordinator while the first one goes on", () => {
  it.each<[string, UploadScenario]>([
    ["alone", { ...AGAIN, writes: ["upload"], awaits: ["read", "write", "answer", "discard", "committed"] }],
    ["a replaced content", { ...AGAIN, writes: ["replace"], awaits: ["read", "write", "answer", "discard", "committed"] }],
    ["alone, one fault", { ...AGAIN, writes: ["upload"], faults: 1, kinds: ["evict", "evict after", "late", "before", "after"] }],
    ["beside a deletion of the Item", { ...BESIDE, writes: ["delete-item", "upload"] }],
    ["a replaced content beside a deletion of the File", { ...BESIDE, writes: ["delete-file", "replace"] }],
    ["with an If-Match that a concurrent write fulfils", { ...BESIDE, writes: ["delete-file", "upload-next"] }],
  ])("leaves every row its content, and no content without a row or record: %s", async (_, scenario) => {
    const { orders, broken } = await explore(scenario);
    expect(broken).toEqual(NOTHING_BROKEN);
    expect(orders).toBeGreaterThan(10);
  });

  it("lacks its content when the refusal of the second coordinator is taken as final", async () => {
    const { broken } = await explore({ ...BESIDE, writes: ["delete-file", "upload-next"], plantUpload: refusalIsFinal });
    expect(broken.missing).toBeGreaterThan(0);
  });
});

describe("an upload that is repeated with its Idempotency-Key", () => {
  const KEYED = { faults: 0, kinds: [], awaits: ["read", "write", "discard"] } as const;
  const KINDS = ["evict", "evict after", "late", "before", "after"] as const;

  it.each<[string, UploadScenario]>([
    ["one coordinator", { ...KEYED, coordinators: 1, faults: 1, kinds: KINDS, writes: ["upload-keyed", "upload-keyed"] }],
    ["two coordinators", { ...KEYED, coordinators: 2, faults: 1, kinds: KINDS, writes: ["upload-keyed", "upload-keyed"] }],
    ["beside a deletion", { ...KEYED, coordinators: 3, writes: ["upload-keyed", "delete-file", "upload-keyed"] }],
    ["beside a deletion of the Item", { ...KEYED, coordinators: 3, writes: ["upload-keyed", "delete-item", "upload-keyed"] }],
    [
      "beside a deletion, one fault",
      { ...KEYED, coordinators: 2, faults: 1, kinds: ["late", "after"], writes: ["upload-keyed", "upload-keyed", "delete-file"] },
    ],
    ["sent to a second coordinator", { ...KEYED, coordinators: 2, reset: true, writes: ["upload-keyed", "upload-keyed"] }],
  ])("leaves every row its content, and no content without a row or record: %s", async (_, scenario) => {
    const { orders, broken } = await explore(scenario);
    expect(broken).toEqual(NOTHING_BROKEN);
    expect(orders).toBeGreaterThan(10);
  });
});

const COMMITTED = { coordinators: 1, faults: 1, kinds: ["evict", "evict after", "crash"] } as const;

const REFUSED = ["read", "write", "discard"] as const;
const RELEASED = ["record", "write", "committed"] as const;

/** A bug: the record is deleted before the commit. */
const deletedBefore: UploadScenario["plantCommit"] = (ports) => ({
  ...ports,
  deleteCommitted: () => undefined,
  async write(commit) {
    await ports.deleteCommitted(commit);
    return ports.write(commit);
  },
});

describe("the record of a content whose row is committed", () => {
  const awaits = ["record", "write", "answer", "committed"];

  it.each<[string, UploadScenario]>([
    ["an upload, two faults", { ...COMMITTED, writes: ["upload"], awaits, faults: 2 }],
    ["a replaced content, two faults", { ...COMMITTED, writes: ["replace"], awaits, faults: 2 }],
    ["a content that is replaced and deleted", { ...COMMITTED, writes: ["replace", "delete-file"], awaits }],
    [
      "a content that one coordinator replaces and another deletes",
      { ...COMMITTED, coordinators: 2, writes: ["replace", "delete-file"], awaits: RELEASED },
    ],
  ])("is deleted after the commit, unless another commit releases the content: %s", async (_, scenario) => {
    const { orders, broken } = await explore(scenario);
    expect(broken).toEqual(NOTHING_BROKEN);
    expect(orders).toBeGreaterThan(10);
  });

  it("leaves a content behind when it is deleted before the commit", async () => {
    const scenario = { ...COMMITTED, coordinators: 2, writes: ["upload", "delete-item"], awaits: REFUSED } as const;
    expect((await explore({ ...scenario, plantCommit: deletedBefore })).broken.orphans).toBeGreaterThan(0);
    expect((await explore(scenario)).broken).toEqual(NOTHING_BROKEN);
  });

  it("leaves a content behind when a release in between is not respected", async () => {
    const scenario = { ...COMMITTED, coordinators: 2, writes: ["replace", "delete-file"], awaits: RELEASED } as const;
    expect((await explore({ ...scenario, deleteAny: true })).broken.orphans).toBeGreaterThan(0);
  });
});
