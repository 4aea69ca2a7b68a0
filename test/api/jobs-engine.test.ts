import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { startBackup } from "../../src/scheduled.ts";
import { backUpAll } from "../support/backup.ts";
import { countingDatabase } from "../support/bindings.ts";
import { freshFile } from "../support/files.ts";
import { endOfJob, inOperator, JOBS, operatorOf, runJob, serviceWith, startJob, rebindOperator } from "../support/jobs.ts";
import { admin, makeVault } from "../support/service.ts";

/** The engine of jobs: states that are damaged, and jobs of which others are in the way (contract 26.6). */

type Service = Awaited<ReturnType<typeof serviceWith>>;

/** Rings the alarm. Out: what it has thrown. */
const ring = (service: Service): Promise<string | undefined> =>
  runInDurableObject(operatorOf(service), (operator) =>
    operator.alarm().then(
      () => undefined,
      (error: unknown) => String(error),
    ),
  );

const stateOf = async ({ bindings }: Service, id: string) => (await admin("GET", `${JOBS}/${id}`, { env: bindings })).body.state;

async function stateAndReason({ bindings }: Service, id: string) {
  const { state, reason } = (await admin("GET", `${JOBS}/${id}`, { env: bindings })).body;
  return { state, reason };
}

/** An operator whose alarm does not ring by itself: its jobs stay as they are. */
async function startHeld(service: Service, body: object): Promise<string> {
  const id = await startJob(service, body);
  await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = ? WHERE id = ?", Date.now() + 3_600_000, id));
  return id;
}

describe("a damaged state never costs more than its job", () => {
  it.each([
    ["backup", "{"],
    ["restore", "{"],
    ["backup", "null"],
    ["restore", "{}"],
    ["expire", "{}"],
  ])("a %s with the state %s ends, keeps no other job from its steps, and the alarm never throws", async (kind, data) => {
    const service = await serviceWith({});
    const id = await startHeld(service, { kind: "verify" });
    await inOperator(service, (sql) =>
      sql.exec(
        "UPDATE jobs SET kind = ?, holds = 'vaults', data = ?, state = 'running', tries = 10, due = 1, ended_at = NULL WHERE id = ?",
        kind,
        data,
        id,
      ),
    );
    const other = await startHeld(service, { kind: "verify" });
    await inOperator(service, (sql) => sql.exec("UPDATE jobs SET due = 2 WHERE id = ?", other));
    const thrown = [await ring(service), await ring(service), await ring(service)].filter((error) => error !== undefined);
    expect({ thrown, ...(await stateAndReason(service, id)), other: await stateOf(service, other) }).toEqual({
      thrown: [],
      state: "failed",
      reason: "internal",
      other: "done",
    });
  });

  it("a restore whose state is damaged can be stopped", async () => {
    const service = await serviceWith({});
    const id = await startHeld(service, { kind: "verify" });
    await inOperator(service, (sql) =>
      sql.exec(
        "UPDATE jobs SET kind = 'restore', holds = 'vaults', data = '{', ended_at = NULL, state = 'running' WHERE id = ?",
        id,
      ),
    );
    expect((await admin("DELETE", `${JOBS}/${id}`, { env: service.bindings })).status).toBe(200);
  });
});

/** The steps that a job of everything took, and what it has reached. */
async function stepsOf(body: object, calls: number) {
  const service = await serviceWith({}, { JOB_STEP_CALLS: calls });
  const { id, state, result } = await runJob(service, body);
  const [row] = await inOperator(service, (sql) => [...sql.exec<{ steps: number }>("SELECT steps FROM jobs WHERE id = ?", id)]);
  return { state, result, steps: row!.steps };
}

describe("the budget of a step", () => {
  it.each([[{ kind: "backup" }], [{ kind: "verify" }], [{ kind: "verify", backup: true }]])(
    "is JOB_STEP_CALLS: %j ends with it at 1 as well, in more steps",
    async (body) => {
      for (let vaults = 0; vaults < 3; vaults++) await freshFile();
      await backUpAll();
      const [large, small] = [await stepsOf(body, 24), await stepsOf(body, 1)];
      expect([large.state, small.state]).toEqual(["done", "done"]);
      expect(small.steps).toBeGreaterThan(large.steps);
    },
  );

  it("is JOB_STEP_CALLS: a restore ends with it at 1 as well", async () => {
    const { vault } = await freshFile();
    await backUpAll();
    expect(await stepsOf({ kind: "restore", vault, overwrite: true }, 1)).toMatchObject({
      state: "done",
      result: { restored: { items: 1 } },
    });
  });

  it("is half as large at each further try, so that a step that was killed is tried smaller", async () => {
    for (let vaults = 0; vaults < 8; vaults++) await makeVault();
    const calls: number[] = [];
    for (const tries of [0, 1, 2, 3]) {
      const { count, db } = countingDatabase();
      const service = await serviceWith({}, { DB: db });
      const id = await startHeld(service, { kind: "verify" });
      await inOperator(service, (sql) => sql.exec("UPDATE jobs SET tries = ?, due = 1 WHERE id = ?", tries, id));
      count.calls = 0;
      await ring(service);
      calls.push(count.calls);
    }
    expect(calls).toEqual(calls.toSorted((a, b) => b - a));
    expect(new Set(calls).size).toBe(calls.length);
  });
});

/** A text with so many UTF-16 code units, of which some are surrogates. */
const long = (length: number): string => "x\u{1F511}".repeat(length / 3);

describe("a state that does not fit into a row", () => {
  it("is kept in several, whole, and goes with its job", async () => {
    // A step makes ten calls of a coordinator, and its state has what the last one has answered.
    const lengths = [1_500_000, 4_500_000, 600_000];
    const answers = ["", ...lengths.flatMap((length) => Array.from({ length: 10 }, () => long(length)))];
    let calls = 0;
    let wrong = 0;
    const expire = async ({ after }: { after: string }) => {
      if (after !== answers[calls]) wrong++;
      return { ok: true, value: answers[++calls] };
    };
    const service = await serviceWith({}, { COORDINATOR: { getByName: () => ({ expire }) } as unknown as Env["COORDINATOR"] });
    const id = await startHeld(service, { kind: "verify" });
    const data = JSON.stringify({
      waiting: [{ vault: crypto.randomUUID(), place: "z", versions: 0 }],
      after: "",
      listed: "z",
      done: 0,
    });
    await inOperator(service, (sql) =>
      sql.exec("UPDATE jobs SET kind = 'expire', data = ?, due = 1, state = 'running', ended_at = NULL WHERE id = ?", data, id),
    );
    expect(await endOfJob(service, id)).toMatchObject({ state: "done", findings: [] });
    expect([calls, wrong]).toEqual([answers.length, 0]);
    const pieces = () => inOperator(service, (sql) => sql.exec("SELECT count(*) AS n FROM job_data").one()["n"]);
    expect(await pieces()).toBe(0);
  });
});

describe("a state that is too long", () => {
  it("is not kept: a job of many vaults goes on from the state before, without the vault that is under way", async () => {
    const endless = { expire: async () => ({ ok: true, value: "x".repeat(9_000_000) }) };
    const service = await serviceWith({}, { COORDINATOR: { getByName: () => endless } as unknown as Env["COORDINATOR"] });
    const id = await startHeld(service, { kind: "verify" });
    const vault = crypto.randomUUID();
    const data = JSON.stringify({ waiting: [{ vault, place: "z", versions: 0 }], after: "", listed: "z", done: 0 });
    await inOperator(service, (sql) =>
      sql.exec("UPDATE jobs SET kind = 'expire', data = ?, due = 1, state = 'running', ended_at = NULL WHERE id = ?", data, id),
    );
    const { state, findings } = await endOfJob(service, id);
    expect({ state, findings }).toMatchObject({ state: "done", findings: [{ kind: "vault_skipped", vault }] });
  });
});

describe("a job that waits", () => {
  it("waits for one that has begun, also when that seems to be younger because the clock went back", async () => {
    const service = await serviceWith({});
    const held = await startHeld(service, { kind: "verify" });
    const waiting = await startHeld(service, { kind: "verify" });
    await inOperator(service, (sql) => {
      sql.exec(
        "UPDATE jobs SET holds = 'vaults/1', created_at = created_at + 3600000, state = 'running', ended_at = NULL WHERE id = ?",
        held,
      );
      sql.exec("UPDATE jobs SET holds = 'vaults', due = 1, state = 'waiting', ended_at = NULL WHERE id = ?", waiting);
    });
    await ring(service);
    expect(await stateOf(service, waiting)).toBe("waiting");
    await admin("DELETE", `${JOBS}/${held}`, { env: service.bindings });
    expect((await endOfJob(service, waiting)).state).toBe("done");
  });
});

describe("a backup of all vaults", () => {
  it("leaves no vault out because the operator cannot open ROOT_KEYS: nothing is wrong with the vault then", async () => {
    await makeVault();
    const service = await serviceWith({});
    await rebindOperator(service, { ROOT_KEYS: "malformed" });
    const id = await startHeld(service, { kind: "backup" });
    const data = await inOperator(
      service,
      (sql) => sql.exec<{ data: string }>("SELECT data FROM jobs WHERE id = ?", id).one().data,
    );
    const queued = JSON.stringify({ ...JSON.parse(data), queue: ["11111111-1111-4111-8111-111111111111"], began: 1 });
    await inOperator(service, (sql) => sql.exec("UPDATE jobs SET data = ?, tries = 9, due = 1 WHERE id = ?", queued, id));
    await ring(service);
    const { body } = await admin("GET", `${JOBS}/${id}`, { env: service.bindings });
    expect({ state: body.state, reason: body.reason, findings: body.findings }).toEqual({
      state: "failed",
      reason: "misconfigured",
      findings: [],
    });
  });
});

describe("the nightly backup", () => {
  it("waits once, however many nights another job keeps it waiting", async () => {
    const service = await serviceWith({});
    const id = await startHeld(service, { kind: "verify" });
    await inOperator(service, (sql) =>
      sql.exec(
        "UPDATE jobs SET holds = 'vaults/11111111-1111-4111-8111-111111111111', state = 'running', due = 9e15, ended_at = NULL WHERE id = ?",
        id,
      ),
    );
    for (let night = 0; night < 3; night++)
      await startBackup({ ...env, ...service.bindings, BACKUP_HOUR: 0 }, Date.UTC(2026, 0, 1 + night));
    const waiting = await inOperator(
      service,
      (sql) => sql.exec("SELECT 1 FROM jobs WHERE kind = 'backup' AND ended_at IS NULL").toArray().length,
    );
    expect(waiting).toBe(1);
  });
});
