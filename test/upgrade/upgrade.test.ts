import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyMigrations, buildWorker } from "../../scripts/wrangler.ts";
import { type Answer, summary } from "./support/ask.ts";
import { readRelease, type Release, releases, restoreBuild, restoreState } from "./support/release.ts";
import { type Run, runWorker } from "./support/run.ts";
import { migratedSchema, storedSchema } from "./support/schema.ts";
import { REPLACED, UPLOADED } from "./support/writes.ts";

/**
 * Every kept release against this version, in both directions. The clock of the Workers is an hour after the release was
 * kept, so that its tokens and idempotency records are as old whenever the test runs.
 */

const HOUR = 60 * 60 * 1000;
const folder = mkdtempSync(join(tmpdir(), "item-vault-upgrade-"));
const current = join(folder, "current");
let built: Promise<void>;

beforeAll(() => {
  built = buildWorker(current);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The answers that are errors. */
const refused = (answers: Readonly<Record<string, Answer>>) => Object.entries(answers).filter(([, { status }]) => status >= 300);

/** The rules of a Worker on storage that no Worker of this version has written into. */
function servesKept(release: Release, run: () => Run): void {
  it("serves every kept read with the same answer", () => {
    expect(run().reads).toEqual(Object.fromEntries(Object.entries(release.reads).map(([name, { answer }]) => [name, answer])));
  });

  it("honours the kept Idempotency-Keys", () => {
    expect(run().repeated).toEqual(release.sample.repeatable.map(({ answer }) => answer));
  });

  it("refuses a kept Idempotency-Key with another request", () => {
    expect(run().clash.status).toBe(409);
  });

  it("refuses the token that was revoked", () => {
    expect(run().reads["a read with a revoked token"]).toMatchObject({ status: 401 });
  });

  it("refuses a token that has expired", () => {
    expect(run().expired.status).toBe(401);
  });

  it("lists the kept activity", () => {
    const kept = release.activity.length;
    expect(run().activity.slice(-kept)).toEqual(release.activity);
  });

  it("lists the kept tokens that have not expired", () => {
    const valid = release.tokens.filter(({ id }) => id !== release.sample.tokens.expired.id);
    expect(valid.length).toBeGreaterThan(0);
    expect(run().tokens).toEqual(expect.arrayContaining(valid.map((token): unknown => expect.objectContaining(token))));
  });
}

/** The rules of what a Worker writes. `writer` names it in its data. */
function writes(run: () => Run, writer: string): void {
  it("accepts every kind of write", () => {
    expect(refused(run().written.answers)).toEqual([]);
  });

  it("serves what it wrote", () => {
    const { answers } = run().later;
    expect(refused(answers).map(([name]) => name)).toContain(`the Item that the ${writer} deleted`);
    expect(answers[`the Item of the ${writer}`]).toMatchObject({ status: 200, body: { title: `Of the ${writer}` } });
    expect(answers[`the vault of the ${writer}`]).toMatchObject({ status: 200, body: { name: writer } });
    expect(answers[`the upload of the ${writer}`]).toEqual({ status: 200, body: summary(UPLOADED) });
    expect(answers[`the content of the ${writer}`]).toEqual({ status: 200, body: summary(REPLACED) });
  });
}

describe.each(releases())("release %s", (version) => {
  const release = readRelease(version);
  const clockOffset = release.keptAt + HOUR - Date.now();
  const kept = join(folder, version, "kept");
  const migrated = join(folder, version, "migrated");
  const unmigrated = join(folder, version, "unmigrated");
  const copy = join(folder, version, "current");
  const reads = Object.fromEntries(Object.entries(release.reads).map(([name, { request }]) => [name, request]));
  const repeat = release.sample.repeatable.map(({ request }) => request);
  let upgraded: Run;
  let rolledBack: Run;
  let early: Run;

  beforeAll(async () => {
    restoreBuild(version, kept);
    for (const state of [migrated, unmigrated]) restoreState(version, state);
    await Promise.all([applyMigrations(migrated), built]);
    const plan = { release, writer: "current", repeat, reads, again: {} };
    const runBoth = async () => {
      upgraded = await runWorker({ ...plan, again: reads, build: { folder: current, state: migrated, clockOffset } });
      const { later, written } = upgraded;
      const back = { writer: "kept", repeat: [written.keyed], reads: later.requests };
      rolledBack = await runWorker({ ...plan, ...back, build: { folder: kept, state: migrated, clockOffset } });
    };
    const runEarly = async () => {
      cpSync(current, copy, { recursive: true });
      early = await runWorker({ ...plan, build: { folder: copy, state: unmigrated, clockOffset } });
    };
    await Promise.all([runBoth(), runEarly()]);
  });

  it("has the current schema after the migrations", () => {
    expect(storedSchema(migrated)).toEqual(migratedSchema());
  });

  describe("the current Worker on the migrated database", () => {
    servesKept(release, () => upgraded);
    writes(() => upgraded, "current");

    it("reports no fault", () => {
      const { dependencies } = upgraded.health.body as { dependencies: readonly { status: string }[] };
      expect(dependencies.filter(({ status }) => status !== "ACTIVE")).toEqual([]);
    });
  });

  describe("the kept Worker on the database that the current Worker wrote into", () => {
    it("serves what the current Worker served, and applies no write of it a second time", () => {
      expect(rolledBack.reads).toEqual(upgraded.later.answers);
    });

    writes(() => rolledBack, "kept");
  });

  describe("the current Worker on the database before the migrations", () => {
    servesKept(release, () => early);
    writes(() => early, "current");
  });
});
