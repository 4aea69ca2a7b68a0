import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { VERIFY } from "../../src/jobs/verify.ts";
import type { Finding } from "../../src/model/finding.ts";
import type { VerifyRequest } from "../../src/model/job.ts";
import { manifestKey } from "../../src/store/backup/object-keys.ts";
import { openStore } from "../../src/store/d1/database.ts";
import { type WriteRows, writeStep } from "../../src/store/jobs/step-fence.ts";
import { backUp, backUpAll, valueOf } from "../support/backup.ts";
import { watchBucket, wrapBucket, wrapDatabase } from "../support/bindings.ts";
import { lengthOf, objectsOf, pattern } from "../support/files.ts";
import { endOfJob, JOBS, serviceWith } from "../support/jobs.ts";
import { admin, makeVault } from "../support/service.ts";
import { copyStorage } from "./support/restore.ts";
import { flipObject, type Planted, plantVault } from "./support/vault.ts";
import { namesOf, type Options, run, verifyAll } from "./support/verify.ts";

/** The steps of a job of verify (contract 26.6): how much one of them does, and that one which is carried out twice loses nothing. */

const FILES = 60;

let planted: Planted;
let undo: () => Promise<void>;

beforeAll(async () => {
  planted = await plantVault();
  const { vault, call, items, item } = planted;
  const body = pattern(50);
  for (let count = 0; count < FILES; count++)
    await call("POST", `${items}/${item}/files?name=${count}`, { body, headers: lengthOf(body) });
  for (let count = 0; count < 18; count++) await backUp(vault, { full: true });
  for (let count = 0; count < 4; count++) await makeVault();
  await backUpAll();
  undo = await copyStorage();
});
afterEach(() => undo());

/** Damages of all kinds that can be repaired. */
async function damage(): Promise<void> {
  const { vault, other } = planted;
  for (const key of await objectsOf(vault)) await env.FILES.delete(key);
  await run("UPDATE vaults SET items = items - 1, file_bytes = 1 WHERE id = ?1", vault);
  await run("UPDATE items SET title_index = 'AAAAAAAAAAAAAAAAAAAAAA==', folded_index = title_index WHERE id = ?1", other);
  await run("UPDATE root_key_uses SET tokens = tokens - 1");
}

async function damageBackups(): Promise<void> {
  const { objects } = await env.BACKUPS.list({ prefix: `contents/${planted.vault}/` });
  await env.BACKUPS.delete(objects.map(({ key }) => key));
  for (const number of [1, 5, 9]) await flipObject(env.BACKUPS, manifestKey(planted.vault, number), 30);
}

interface Steps {
  readonly findings: readonly Finding[];
  /** The calls of D1 and R2 of each step. */
  readonly calls: readonly number[];
}

/** Carries out each step so often from its state, and keeps what the last time has reached. */
async function carryOut(options: Options, times = 1): Promise<Steps> {
  let count = 0;
  const add = () => void count++;
  const bindings = {
    COORDINATOR: env.COORDINATOR,
    FILES: watchBucket(env.FILES, add),
    BACKUPS: watchBucket(env.BACKUPS, add),
    DB: wrapDatabase(env.DB, { before: add }),
  };
  const job = crypto.randomUUID();
  const findings = new Map<string, Finding>();
  const calls: number[] = [];
  let [writes, hasWritten] = [0, false];
  let state = VERIFY.start({ quick: false, repair: false, acceptLoss: false, backup: false, ...options });
  const step = async () => {
    count = 0;
    const store = valueOf(await openStore({ ...env, ...bindings }, Date.now()));
    const write: WriteRows = async (statements) => {
      const written = await writeStep(store.db, { job, createdAt: 0, writes }, statements);
      hasWritten ||= written.ok;
      return written;
    };
    const stepped = valueOf(
      await VERIFY.step(
        { store, write, bindings, clock: Date.now, callsMax: 24 },
        JSON.parse(JSON.stringify(state)) as typeof state,
      ),
    );
    calls.push(count);
    return stepped;
  };
  for (let done = false; !done;) {
    for (let time = 1; time < times; time++) await step();
    const stepped = await step();
    ({ state, done } = stepped);
    [writes, hasWritten] = [writes + Number(hasWritten), false];
    for (const finding of stepped.findings ?? []) findings.set(JSON.stringify({ ...finding, repaired: undefined }), finding);
  }
  return { findings: [...findings.values()], calls };
}

describe("a step", () => {
  it.each([
    ["of a check", {}],
    ["of a quick check", { quick: true }],
    ["of a repair", { repair: true }],
    ["of a check of backups", { backup: true }],
  ])("%s makes at most 40 calls of D1 and R2, also where everything is damaged", async (_, input) => {
    const sound = await carryOut(input);
    await ("backup" in input ? damageBackups() : damage());
    const { calls, findings } = await carryOut(input);
    expect(Math.max(...sound.calls, ...calls)).toBeLessThanOrEqual(40);
    expect(calls.length).toBeGreaterThan(3);
    expect(findings.length).toBeGreaterThan(FILES);
  });

  it("that is carried out twice leaves the same repairs", async () => {
    await damage();
    const once = await carryOut({ repair: true });
    const left = namesOf(await verifyAll());
    await undo();
    await damage();
    await carryOut({ repair: true }, 2);
    expect(once.findings.every(({ repaired }) => repaired)).toBe(true);
    expect(once.findings.length).toBeGreaterThan(FILES + 3);
    expect(namesOf(await verifyAll())).toEqual(left);
    expect(left).toEqual([]);
  });
});

/** Coordinators that fail before each repair. They tell what is pending. */
const COORDINATOR = {
  getByName: (name: string) => ({
    async verify(vault: string, request: VerifyRequest) {
      if (request.kind !== "pending") throw new Error("the coordinator is down");
      return env.COORDINATOR.getByName(name).verify(vault, request);
    },
  }),
} as unknown as Env["COORDINATOR"];

describe("a repair", () => {
  it("whose coordinator fails is a finding that is not repaired, and the job goes on to the other vaults", async () => {
    const { vault } = planted;
    const next = [vault, await makeVault()];
    for (const id of next) await run("UPDATE vaults SET sealed_bytes = sealed_bytes + 1 WHERE id = ?1", id);
    const { findings } = await verifyAll({ repair: true, quick: true }, { COORDINATOR });
    const wrong = findings.filter(({ kind }) => kind === "counter_wrong");
    expect(wrong.map((one) => [one.vault, one.repaired])).toEqual(next.toSorted().map((id) => [id, false]));
  });

  it("of which R2 throws is a finding that is not repaired, and the others of its step are repaired", async () => {
    const [first, second] = (await objectsOf(planted.vault)).toSorted() as [string, string];
    await env.FILES.delete([first, second]);
    const put = (key: string, ...values: [ArrayBuffer]) => {
      if (key === first) throw new Error("put: We encountered an internal error. Please try again. (10001)");
      return env.FILES.put(key, ...values);
    };
    const bindings = { FILES: wrapBucket({ put }) };
    const { findings } = await verifyAll({ vault: planted.vault, repair: true, quick: true }, bindings);
    const repaired = Object.fromEntries(findings.map((one) => [`${one.vault}/${one.file}/${one.id}`, one.repaired]));
    expect(repaired).toEqual({ [first]: false, [second]: true });
  });

  it("is the same request with and without the attributes that are false", async () => {
    const service = await serviceWith({});
    const headers = { "Idempotency-Key": crypto.randomUUID() };
    const send = (body: object) => admin("POST", JOBS, { body: { kind: "verify", ...body }, headers, env: service.bindings });
    const first = await send({ quick: true });
    expect(first.status).toBe(202);
    expect(await send({ quick: true, repair: false, backup: null })).toMatchObject({ status: 202, body: { id: first.body.id } });
    await endOfJob(service, first.body.id);
  });

  it("whose answer is lost has taken effect, and is no finding any more", async () => {
    await run("UPDATE items SET title_index = 'AAAAAAAAAAAAAAAAAAAAAA==' WHERE id = ?1", planted.other);
    let [isWrite, losses] = [false, 0];
    const DB = wrapDatabase(env.DB, {
      rewrite(sql) {
        isWrite ||= /INSERT INTO job_writes/.test(sql);
        return sql;
      },
      after() {
        if (isWrite && losses++ === 0) throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const { findings } = await verifyAll({ vault: planted.vault, quick: true, repair: true }, { DB });
    expect(losses).toBeGreaterThan(1);
    expect(findings).toEqual([]);
  });

  it("ends with the job when the database was restored to a time before an earlier one", async () => {
    await run("UPDATE root_key_uses SET tokens = tokens - 1");
    await run("UPDATE items SET title_index = 'AAAAAAAAAAAAAAAAAAAAAA==' WHERE id = ?1", planted.other);
    let writes = 0;
    const DB = wrapDatabase(env.DB, {
      rewrite(sql) {
        if (/INSERT INTO job_writes/.test(sql)) writes++;
        return sql;
      },
      before: async () => void (writes === 2 && (await env.DB.prepare("DELETE FROM job_writes").run())),
    });
    await expect(verifyAll({ repair: true, quick: true }, { DB })).rejects.toThrow("database_restored");
  });
});
