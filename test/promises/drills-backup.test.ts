import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { canary } from "../support/canary.ts";
import {
  beginDeployment,
  changePassword,
  hookedStorage,
  loseDatabase,
  mustRun,
  runStep,
  snapshotsOf,
  type UsedVault,
  useVault,
  wholeViewOf,
} from "../support/drills.ts";
import { advanceClock, DAY, HOUR } from "../support/faults.ts";
import { endOfJob, killOperator, runHourly, serviceWith, startJob } from "../support/jobs.ts";
import { isLong } from "../support/runs.ts";
import { admin, makeVault } from "../support/service.ts";
import { until } from "../support/waits.ts";

/** The drills of docs/operations.md for backups: each is restored, and judged by what clients then see. */

beforeEach(async () => {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockReturnValue();
  await beginDeployment();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The variables of an operator whose backup has many steps. */
const SMALL_STEPS: Partial<Env> = { JOB_STEP_CALLS: 4 };

const titlesIn = async ({ call, items }: UsedVault): Promise<string[]> =>
  (await call("GET", items)).body.map(({ title }: { title: string }) => title).toSorted();

const lost = () => {
  throw new Error("D1_ERROR: Network connection lost.");
};

type Act = () => Promise<void>;

/** Runs a backup of everything, of which one call of D1 or R2 fails. `act` runs right before that. Returns the job, and whether there was such a call. */
async function backUpWith(failing: number, when: "before" | "after", act: Act) {
  let calls = 0;
  const fail = async () => {
    if (++calls !== failing) return;
    await act();
    lost();
  };
  const job = await runStep("backup", {}, {}, { ...SMALL_STEPS, ...hookedStorage({ [when]: fail }) });
  return { job, isReached: calls >= failing };
}

/** As `backUpWith`; in place of a failure the operator is evicted, and its next instance goes on. */
async function backUpEvicted(failing: number, act: Act) {
  let [calls, isReached, hasEnded] = [0, false, false];
  const before = async () => {
    if (++calls !== failing) return;
    await act();
    isReached = true;
    await new Promise(() => undefined);
  };
  const service = await serviceWith({}, { ...SMALL_STEPS, ...hookedStorage({ before }) });
  const id = await startJob(service, { kind: "backup" });
  // The eviction ends the request that makes the step.
  void endOfJob(service, id).then(
    () => (hasEnded = true),
    () => undefined,
  );
  await until(() => isReached || hasEnded);
  if (isReached) await killOperator(service);
  advanceClock(HOUR);
  return { job: await endOfJob(service, id), isReached };
}

/** The ways in which a call of a backup kills its step. */
const KILLS = [
  (call: number, act: Act) => backUpWith(call, "before", act),
  (call: number, act: Act) => backUpWith(call, "after", act),
  backUpEvicted,
];

/** The short run kills each step once, because a step makes four calls. The long run kills each call in each way. */
const CALLS_APART = isLong ? 1 : 3;

describe("a backup that is killed at any of its steps", () => {
  it.each(isLong ? KILLS.keys().toArray() : [0])(
    "goes on, is whole, and restores to the moment that it names (%i)",
    async (way) => {
      let used = await useVault(await makeVault("Written"));
      const file = `${await used.create("With a File")}/files`;
      await used.upload(file.replace("/files", ""), "content");
      const view = (await used.call("GET", `${used.items}/${file}`)).body;
      const acknowledged = ["With a File"];
      for (let call = 1, kill = way, isReached = true; isReached; call += CALLS_APART, kill++) {
        const [before, during] = [`before ${call}`, `during ${call}`];
        await used.create(before);
        acknowledged.push(before);
        const began = Date.now();
        const killed = await KILLS[kill % KILLS.length]!(call, async () => void (await used.create(during)));
        const ended = Date.now();
        expect(killed.job).toMatchObject({ state: "done", findings: [], result: { backup: { behind: 0 } } });
        ({ isReached } = killed);
        advanceClock(HOUR);
        await used.create(`after ${call}`);

        await loseDatabase([used.vault]);
        const { restored } = await mustRun("restore");
        expect(restored).toMatchObject({ vaults: 1, leftOut: 0 });
        const takenAt = Date.parse(restored.takenAt);
        expect([takenAt >= began, takenAt <= ended]).toEqual([true, true]);
        used = await useVault(used.vault);
        const titles = await titlesIn(used);
        if (titles.includes(during)) acknowledged.push(during);
        expect(titles).toEqual(acknowledged.toSorted());
      }
      expect((await used.call("GET", `${used.items}/${file}`)).body).toEqual(view);
      await wholeViewOf(used);
      await mustRun("verify");
      await mustRun("verify", { backup: true });
    },
  );
});

/** Writes that the rate limit of a token (2,000 in 10 s, contract 12.1) admits while a call of D1 takes 30 ms. */
const WRITES_A_CALL = 6;
const LARGE_ITEMS = 16;

describe("a backup beside writers at the rate limit", () => {
  it("ends and is whole as of one moment, and no writer is refused", async () => {
    const first = await useVault(await makeVault("Busy"));
    for (let item = 0; item < LARGE_ITEMS; item++) {
      // More than one slice of the vault: a slice is of one moment by itself.
      const fields = Array.from({ length: 6 }, (_, field) => ({ label: `${field}`, value: "x".repeat(60_000) }));
      const { id } = (await first.call("POST", first.items, { body: { title: `large ${item}`, category: "LOGIN", fields } }))
        .body;
      await first.upload(id, `content ${item}`);
    }
    const writers = await Promise.all(
      [first, await useVault(first.vault)].map(async (used) => ({ used, item: await used.create("0"), written: 0 })),
    );
    const statuses = new Set<number>();
    const writeOnce = async (writer: (typeof writers)[number]) => {
      const body = [{ op: "replace", path: "/title", value: `${writer.written + 1}` }];
      statuses.add((await writer.used.call("PATCH", `${first.items}/${writer.item}`, { body })).status);
      writer.written++;
    };
    let calls = 0;
    const before = async () => {
      calls++;
      await Promise.all(
        writers.map(async (writer) => {
          for (let write = 0; write < WRITES_A_CALL; write++) await writeOnce(writer);
        }),
      );
    };
    await writeOnce(writers[0]!);
    const began = writers.map(({ written }) => written);
    const job = await runStep("backup", {}, {}, { ...SMALL_STEPS, ...hookedStorage({ before }) });
    expect(job).toMatchObject({ state: "done", findings: [], result: { backup: { behind: 0 } } });
    expect([[...statuses], writers[0]!.written]).toEqual([[200], 1 + calls * WRITES_A_CALL]);

    await mustRun("restore", { vault: first.vault, overwrite: true });
    const view = await wholeViewOf(first);
    const versions = await Promise.all(
      writers.map(async ({ item, written }, index) => {
        const { title, version } = (await first.call("GET", `${first.items}/${item}`)).body;
        expect([title, version - 1 >= began[index]!, version - 1 <= written]).toEqual([`${version - 1}`, true, true]);
        for (const old of (await first.call("GET", `${first.items}/${item}/versions`)).body)
          expect(old.title).toBe(`${old.version - 1}`);
        return version as number;
      }),
    );
    // Each other Item has two versions: its creation, and its File. So the version of the vault counts the writes of one moment.
    const { contentVersion } = (await first.call("GET", `/v1/vaults/${first.vault}`)).body;
    expect(contentVersion).toBe(LARGE_ITEMS * 2 + versions[0]! + versions[1]!);
    expect(Object.keys(view).length).toBeGreaterThan(50);
    await mustRun("verify");
    await mustRun("verify", { backup: true });
  });
});

/** Returns the sealed texts that D1 has of an Item, its versions and its Files. */
async function sealedTextsOf(vault: string, item: string): Promise<string[]> {
  const queries = [
    ...["items", "item_versions"].map((table) => `SELECT overview, details FROM ${table}`),
    ...["files", "file_versions"].map((table) => `SELECT sealed FROM ${table}`),
  ];
  const answers = await env.DB.batch<Record<string, string>>(
    queries.map((sql, index) =>
      env.DB.prepare(`${sql} WHERE vault_id = ?1 AND ${index === 0 ? "id" : "item_id"} = ?2`).bind(vault, item),
    ),
  );
  return answers.flatMap(({ results }) => results.flatMap((row) => Object.values(row)));
}

/** Returns those of the texts that are in an object of the bucket of backups. */
async function foundInBackups(vault: string, texts: readonly string[]): Promise<string[]> {
  const { objects } = await env.BACKUPS.list({ prefix: `vaults/${vault}/` });
  const contents = await Promise.all(objects.map(async ({ key }) => (await env.BACKUPS.get(key))!.text()));
  return texts.filter((text) => contents.some((content) => content.includes(text)));
}

const contentsIn = async (vault: string): Promise<number> =>
  (await env.BACKUPS.list({ prefix: `contents/${vault}/` })).objects.length;

/** A vault whose Item with the secret was in a backup, and then was destroyed at a call of the next one. */
async function destroyedDuring(call: number) {
  const used = await useVault(await makeVault());
  const secret = canary();
  await used.create("Other");
  const item = await used.create("Secret", secret);
  await used.upload(item, `a File with ${secret}`);
  await changePassword(used, item, `${secret} two`);
  await mustRun("backup", { vault: used.vault });
  const texts = await sealedTextsOf(used.vault, item);
  expect([await foundInBackups(used.vault, texts), await contentsIn(used.vault)]).toEqual([texts, 1]);
  await used.create("Since");
  let calls = 0;
  const before = async () => void (++calls === call && (await used.destroy(item)));
  const job = await runStep("backup", { vault: used.vault }, {}, { ...SMALL_STEPS, ...hookedStorage({ before }) });
  expect(job.state).toBe("done");
  return { ...used, secret, item, texts, isReached: calls >= call };
}

describe("an Item that is destroyed during a backup, whichever its call", () => {
  it("is in no part and no content after BACKUPS_KEPT idle nights, and no backup restores it", async () => {
    const all: Awaited<ReturnType<typeof destroyedDuring>>[] = [];
    do all.push(await destroyedDuring(all.length + 1));
    while (all.at(-1)!.isReached);
    const places = all.filter(({ isReached }) => isReached);
    expect(places.length).toBeGreaterThan(5);
    for (let night = 0; night < 3; night++) {
      advanceClock(DAY);
      const BACKUP_HOUR = new Date().getUTCHours();
      const jobs = await runHourly({ BACKUP_HOUR, BACKUPS_KEPT: 2 });
      expect(jobs).toContainEqual(expect.objectContaining({ kind: "backup", state: "done", findings: [] }));
    }
    for (const { vault, item, items, call, secret, texts, ...used } of places) {
      expect([await foundInBackups(vault, texts), await contentsIn(vault)]).toEqual([[], 0]);
      const snapshots = await snapshotsOf(vault);
      expect(snapshots.length).toBeGreaterThan(0);
      for (const snapshot of snapshots) {
        expect(await runStep("restore", { vault, snapshot, overwrite: true })).toMatchObject({ state: "done", findings: [] });
        expect((await call("GET", `${items}/${item}`)).status).toBe(404);
        expect(JSON.stringify(await wholeViewOf({ ...used, vault, items, call }))).not.toContain(secret);
        expect(await titlesIn({ ...used, vault, items, call })).toEqual(["Other", "Since"]);
        const refused = await admin("POST", "/v1/admin/jobs", { body: { kind: "restore", vault, item, snapshot } });
        expect(refused.status).toBe(404);
      }
    }
  });
});
