import { describe, expect, it } from "vitest";
import { everyOrder } from "./exploration/turns.ts";
import { playUploads, type UploadScenario } from "./exploration/uploads.ts";

/**
 * An upload whose row two coordinators get, because the first was reset and goes on for a while. In every order: each row
 * has its content, and each content without a row has a pending record.
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

/** The behaviour of release 0.1.0: a refusal is final, whoever else may still carry out the operation. */
const refusalIsFinal: UploadScenario["plantUpload"] = (ports) => ({
  ...ports,
  write: async (...content) => ({ ...(await ports.write(...content)), tries: 1 }),
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
