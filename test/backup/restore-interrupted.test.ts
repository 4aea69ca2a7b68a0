import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { backUp, rowsInDatabase, stateOf, writesOf } from "../support/backup.ts";
import { sleep, wrapDatabase } from "../support/bindings.ts";
import { freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { endOfJob, JOBS, killOperator, type Service, serviceWith, startJob, tryAgain } from "../support/jobs.ts";
import { runs } from "../support/runs.ts";
import { admin } from "../support/service.ts";

/** A restore that fails or is killed at each of its calls and steps ends with the state of the snapshot (contract 21.22, 26.6). */

let vault: string;
let before: unknown;
let contents: string[];

async function currentState() {
  const marks = (await env.DB.prepare("SELECT * FROM restores WHERE vault_id = ?").bind(vault).all()).results;
  return { ...(await stateOf(vault)), marks, writes: writesOf(await rowsInDatabase(vault)) };
}

const restoredEntries = () =>
  env.DB.prepare("SELECT count(*) AS n FROM activity WHERE vault_id = ? AND event = 'restored'").bind(vault).first<number>("n");

beforeAll(async () => {
  const fresh = await freshFile(pattern(20_000));
  ({ vault } = fresh);
  await fresh.call("PATCH", fresh.path, { body: [{ op: "replace", path: "/title", value: "Other" }] });
  await backUp(vault);
  before = await currentState();
  contents = await objectsOf(vault);
});

let entries: number;

/** Each restore begins with rows that the snapshot does not have, and without the contents. */
beforeEach(async () => {
  entries = (await restoredEntries())!;
});

async function damageVault(): Promise<void> {
  await env.FILES.delete(contents);
  await env.DB.prepare("DELETE FROM item_versions WHERE vault_id = ?").bind(vault).run();
}

/** The vault is as the snapshot has it, and its log has one entry of this restore. */
async function expectRestored(job: { state: string; result: object; findings: unknown[] }): Promise<void> {
  expect(job).toMatchObject({ state: "done", findings: [], result: { restored: { vaults: 1, snapshot: 1 } } });
  expect(await currentState()).toEqual(before);
  expect(await objectsOf(vault)).toEqual(contents);
  expect(await restoredEntries()).toBe(++entries);
}

interface Fault {
  /** Called before and after each call. Throws where the call fails. */
  readonly before?: () => void | Promise<void>;
  readonly after?: () => void | Promise<void>;
}

const faultyBucket = (bucket: R2Bucket, fault: Fault): R2Bucket =>
  new Proxy(bucket, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        await fault.before?.();
        const answer = await method.apply(target, given);
        await fault.after?.();
        return answer;
      };
    },
  });

/** The bindings of which one has the fault. */
const FAULTY: Readonly<Record<string, (fault: Fault) => Partial<Env>>> = {
  DB: (fault) => ({ DB: wrapDatabase(env.DB, fault) }),
  BACKUPS: (fault) => ({ BACKUPS: faultyBucket(env.BACKUPS, fault) }),
  FILES: (fault) => ({ FILES: faultyBucket(env.FILES, fault) }),
};

const body = () => ({ kind: "restore", vault, overwrite: true });

/** In the short run some calls: FILES has few of them. */
const everyOf = (binding: string): number => runs(binding === "FILES" ? 2 : 8, 1);

/**
 * Runs restores, of each of which the call with another number has the fault, until one makes fewer calls. In: what the call does, and what
 * is done beside it once the job is started. Out: how many had the fault.
 */
async function atEachCall(
  binding: string,
  when: "before" | "after",
  fault: () => void | Promise<void>,
  beside: (service: Service) => Promise<void> = async () => undefined,
): Promise<number> {
  const every = everyOf(binding);
  for (let number = 1, faults = 0; ; number += every, faults++) {
    await damageVault();
    let calls = 0;
    const fails = () => (++calls === number ? fault() : undefined);
    // The Worker has the bindings of all tests: its checks are not part of the job.
    const service = await serviceWith({}, FAULTY[binding]!({ [when]: fails }));
    const id = await startJob(service, body());
    const isReached = () => calls >= number;
    while (!isReached() && !(await progressOf(service, id)).ended) await sleep(1);
    if (isReached()) await beside(service);
    await expectRestored(await endOfJob(service, id));
    if (!isReached()) return faults;
  }
}

const progressOf = async ({ bindings }: Service, id: string) => {
  const { body: job } = await admin("GET", `${JOBS}/${id}`, { env: bindings });
  return { ended: job.endedAt !== undefined, done: job.progress.done as number };
};

describe("a restore of which a call fails", () => {
  it.each(Object.keys(FAULTY).flatMap((binding) => (["before", "after"] as const).map((when) => [binding, when] as const)))(
    "ends with the state of the snapshot: %s, %s the call took effect",
    async (binding, when) => {
      const faults = await atEachCall(binding, when, () => {
        throw new Error("D1_ERROR: Network connection lost");
      });
      expect(faults).toBeGreaterThanOrEqual(1);
    },
  );
});

const silence = () => new Promise<never>(() => undefined);

describe("a restore that is killed", () => {
  it.each(["before", "after"] as const)("in a step, %s a call of D1, ends with the state of the snapshot", async (when) => {
    const faults = await atEachCall("DB", when, silence, async (service) => {
      await killOperator(service);
      await tryAgain(service);
    });
    expect(faults).toBeGreaterThan(runs(1, 15));
  });

  it("between two steps, after each of them, ends with the state of the snapshot", async () => {
    await damageVault();
    const service = await serviceWith({});
    const id = await startJob(service, body());
    const steps = new Set<number>();
    for (let ended = false; !ended;) {
      await tryAgain(service);
      await killOperator(service);
      const progress = await progressOf(service, id);
      steps.add(progress.done);
      ({ ended } = progress);
    }
    await expectRestored(await endOfJob(service, id));
    expect(steps.size).toBeGreaterThan(2);
  });
});

describe("a step of a restore", () => {
  it("makes at most 40 calls of D1 and of the buckets, however many Files the vault has", async () => {
    const fresh = await freshFile(pattern(20));
    const uploads = Array.from({ length: 40 }, async (_, index) =>
      fresh.call("POST", `${fresh.files}?name=${index}`, { body: pattern(20), headers: lengthOf(pattern(20)) }),
    );
    for (const { status } of await Promise.all(uploads)) expect(status).toBe(200);
    await backUp(fresh.vault);
    const steps: number[] = [];
    const count = () => void steps.push((steps.pop() ?? 0) + 1);
    const rewrite = (sql: string) => {
      // The engine compares the root keys before each step.
      if (sql.includes("FROM root_keys")) steps.push(0);
      return sql;
    };
    const counted = {
      DB: wrapDatabase(env.DB, { before: count, rewrite }),
      BACKUPS: faultyBucket(env.BACKUPS, { before: count }),
      FILES: faultyBucket(env.FILES, { before: count }),
    };
    for (const wanted of [{ vault: fresh.vault }, { vault: fresh.vault, item: fresh.item, overwrite: true }]) {
      await env.FILES.delete(await objectsOf(fresh.vault));
      steps.length = 0;
      const service = await serviceWith({}, counted);
      const job = await endOfJob(service, await startJob(service, { kind: "restore", ...wanted }));
      expect(job).toMatchObject({ state: "done", findings: [] });
      expect(steps.length).toBeGreaterThan(4);
      expect(Math.max(...steps)).toBeLessThanOrEqual(40);
      expect(await objectsOf(fresh.vault)).toHaveLength(41);
    }
  });
});
