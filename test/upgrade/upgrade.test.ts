import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyMigrations, buildWorker } from "../../scripts/wrangler.ts";
import { type Answer, type StoredRequest, summary } from "./support/ask.ts";
import { recordRelease } from "./support/record.ts";
import {
  bundleCurrent,
  readRelease,
  type Release,
  RELEASES,
  releases,
  restoreBuild,
  restoreState,
  writeRelease,
} from "./support/release.ts";
import { rotate, type Rotation } from "./support/rotation.ts";
import { type Refusals, type Run, runRefusing, runWorker } from "./support/run.ts";
import { forgetMigrations, migratedSchema, migrateStored, storedRows, storedSchema } from "./support/schema.ts";
import { REPLACED, UPLOADED } from "./support/writes.ts";

/**
 * Every kept release against this version, in both directions. The clock of the Workers is an hour after the release was
 * kept, so that the age of its tokens and idempotency records does not depend on the day of the test. The long run, and every run without a
 * kept release, also keeps this checkout as a release, in a folder of the test.
 */

const HOUR = 60 * 60 * 1000;
/** The long run builds and migrates by wrangler's commands, each of which takes seconds. */
const isLong = process.env["LONG_RUN"] === "1";
const folder = mkdtempSync(join(tmpdir(), "item-vault-upgrade-"));
const current = join(folder, "current");
const CHECKOUT = "of-this-checkout";
const KEPT = releases();
const COMPARED = isLong || KEPT.length === 0 ? [...KEPT, CHECKOUT] : KEPT;
/** The folder of a kept release. */
const folderOf = (version: string): string => (version === CHECKOUT ? join(folder, "releases") : RELEASES);
let built: Promise<void>;

beforeAll(() => {
  built = isLong ? buildWorker(current) : bundleCurrent(current);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The answers that are errors. */
const errorsOf = (answers: Readonly<Record<string, Answer>>) => Object.entries(answers).filter(([, { status }]) => status >= 300);

/** The answers of a release to the kept reads. */
const answersOf = ({ reads }: Release) => Object.fromEntries(Object.entries(reads).map(([name, { answer }]) => [name, answer]));

/** Tests a Worker on storage into which no Worker of this version has written. */
function testKeptData(releaseOf: () => Release, run: () => Run): void {
  it("answers every kept read as the release did", () => {
    expect(run().reads).toEqual(answersOf(releaseOf()));
  });

  it("gives the first answers to the kept Idempotency-Keys", () => {
    expect(run().repeated).toEqual(releaseOf().sample.repeatable.map(({ answer }) => answer));
  });

  it("refuses a kept Idempotency-Key with another request body", () => {
    expect(run().keyConflict.status).toBe(409);
  });

  it("refuses the token that was revoked", () => {
    expect(run().reads["a read with a revoked token"]).toMatchObject({ status: 401 });
  });

  it("refuses a token that has expired", () => {
    expect(run().expired.status).toBe(401);
  });

  it("lists the kept activity", () => {
    const { activity } = releaseOf();
    expect(run().activity.slice(-activity.length)).toEqual(activity);
  });

  it("lists the kept tokens that have not expired", () => {
    const { tokens, sample } = releaseOf();
    const valid = tokens.filter(({ id }) => id !== sample.tokens.expired.id);
    expect(valid.length).toBeGreaterThan(0);
    expect(run().tokens).toEqual(expect.arrayContaining(valid.map((token): unknown => expect.objectContaining(token))));
  });
}

/** Tests the writes of a Worker. `writer` is its name in the data that it wrote. */
function testWrites(run: () => Run, writer: string): void {
  it("accepts every kind of write", () => {
    expect(errorsOf(run().written.answers)).toEqual([]);
  });

  it("serves the records that it wrote", () => {
    const { answers } = run().readsAfterWrites;
    expect(errorsOf(answers).map(([name]) => name)).toContain(`the Item that the ${writer} deleted`);
    expect(answers[`the Item of the ${writer}`]).toMatchObject({ status: 200, body: { title: `Of the ${writer}` } });
    expect(answers[`the vault of the ${writer}`]).toMatchObject({ status: 200, body: { name: writer } });
    expect(answers[`the upload of the ${writer}`]).toEqual({ status: 200, body: summary(UPLOADED) });
    expect(answers[`the content of the ${writer}`]).toEqual({ status: 200, body: summary(REPLACED) });
  });
}

/**
 * The release whose database the current Worker gets without the migrations. One is enough: the Worker compares the number of
 * its schema with a least one (test/promises/schema-version.test.ts).
 */
const UNMIGRATED = KEPT.at(-1) ?? CHECKOUT;

/** Keeps this checkout as a release. */
async function keepCheckout(): Promise<void> {
  const [build, state] = [join(folder, "checkout"), join(folder, "checkout-state")];
  cpSync(current, build, { recursive: true });
  mkdirSync(state);
  const release = await recordRelease({ folder: build, state }, { version: CHECKOUT, commit: "none" });
  writeRelease(release, build, state, folderOf(CHECKOUT));
}

describe.each(COMPARED)("release %s", (version) => {
  const from = folderOf(version);
  const kept = join(folder, version, "kept");
  const migrated = join(folder, version, "migrated");
  const unmigrated = join(folder, version, "unmigrated");
  const copy = join(folder, version, "current");
  let release: Release;
  let reads: Readonly<Record<string, StoredRequest>>;
  let upgraded: Run;
  let rolledBack: Run;
  let refusals: Refusals;
  let rotation: Rotation;
  let unmigratedBefore: ReturnType<typeof storedRows>;

  beforeAll(async () => {
    await built;
    if (version === CHECKOUT) await keepCheckout();
    release = readRelease(version, from);
    const clockOffset = release.keptAt + HOUR - Date.now();
    reads = Object.fromEntries(Object.entries(release.reads).map(([name, { request }]) => [name, request]));
    const repeat = release.sample.repeatable.map(({ request }) => request);
    restoreBuild(version, kept, from);
    restoreState(version, migrated, from);
    if (isLong) await applyMigrations(migrated);
    else migrateStored(migrated);
    const plan = { release, writer: "current", repeat, reads, again: {} };
    const runBoth = async () => {
      const build = { folder: current, state: migrated, clockOffset };
      upgraded = await runWorker({ ...plan, again: reads, build, isCurrent: true });
      const { readsAfterWrites, written, history } = upgraded;
      const rollback = { writer: "kept", repeat: [written.keyed, history!.bound.request], reads: readsAfterWrites.requests };
      rolledBack = await runWorker({ ...plan, ...rollback, build: { folder: kept, state: migrated, clockOffset } });
    };
    const runUnmigrated = async () => {
      if (version !== UNMIGRATED) return;
      restoreState(version, unmigrated, from);
      forgetMigrations(unmigrated);
      cpSync(current, copy, { recursive: true });
      unmigratedBefore = storedRows(unmigrated);
      refusals = await runRefusing({ ...plan, build: { folder: copy, state: unmigrated, clockOffset } });
    };
    const runRotation = async () => {
      if (version !== UNMIGRATED) return;
      const [state, folders] = [
        join(folder, version, "rotated"),
        ["rotating", "keeping"].map((name) => join(folder, version, name)),
      ];
      restoreState(version, state, from);
      migrateStored(state);
      cpSync(current, folders[0]!, { recursive: true });
      restoreBuild(version, folders[1]!, from);
      const [rotating, keeping] = folders.map((name) => ({ folder: name, state, clockOffset }));
      rotation = await rotate({ release, current: rotating!, kept: keeping!, reads });
    };
    await Promise.all([runBoth(), runUnmigrated().then(runRotation)]);
  });

  it("has the current schema after the migrations", () => {
    expect(storedSchema(migrated)).toEqual(migratedSchema());
  });

  describe("the current Worker on the migrated database", () => {
    testKeptData(
      () => release,
      () => upgraded,
    );
    testWrites(() => upgraded, "current");

    it("accepts a write that expects the ETag that it sent, and refuses one that expects another or a version", () => {
      const { tag, ifMatch } = upgraded.conditions;
      expect(tag).toMatch(/^"\d+-[0-9a-f]{16}"$/);
      expect(ifMatch).toEqual({ own: 200, version: 412, other: 412 });
    });

    it("keeps the version that the release wrote last", () => {
      const { versions, earlier } = upgraded.history!;
      const first = release.reads["an Item with every type of field (uuid)"]!.answer;
      expect(versions.map(({ current: isCurrent }) => isCurrent)).toEqual(versions.map((_, index) => index === 0));
      expect(versions[0]!.version).toBeGreaterThan((first.body as { version: number }).version);
      expect(earlier).toEqual(first);
    });

    it("keeps the content of a File that it replaces", () => {
      const content = release.reads["the small content (uuid)"]!.answer;
      expect(upgraded.history!.content).toEqual(content);
    });

    it("reports every dependency in /health as ACTIVE", () => {
      const { dependencies } = upgraded.health.body as { dependencies: readonly { status: string }[] };
      expect(dependencies.filter(({ status }) => status !== "ACTIVE")).toEqual([]);
    });
  });

  describe("the kept Worker on the database that the current Worker wrote into", () => {
    it("gives the same answers as the current Worker, and applies none of its writes a second time", () => {
      expect(rolledBack.reads).toEqual(upgraded.readsAfterWrites.answers);
    });

    it("accepts a write that expects the ETag that it sent, and refuses one that expects an ETag of the current Worker", () => {
      expect(rolledBack.conditions.ifMatch).toEqual({ own: 200, version: 412, other: 412 });
    });

    it("gives no text for a token for service bindings, also when the request for it is repeated", () => {
      const { id, ...issued } = upgraded.history!.bound.answer.body as { id: string };
      expect(issued).toMatchObject({ binding: true });
      expect(issued).not.toHaveProperty("token");
      expect(rolledBack.repeated[1]).toEqual({ status: 200, body: { id, ...issued } });
    });

    testWrites(() => rolledBack, "kept");
  });

  if (version !== UNMIGRATED) return;

  describe("the kept Worker on rows that the current Worker has rewrapped under another root key", () => {
    it("answers every kept read as before, and accepts every kind of write", () => {
      const { progress } = rotation.rewrapped.body as { progress: { done: number; total: number } };
      expect(rotation.rewrapped).toMatchObject({ status: 200, body: { state: "done", findings: [] } });
      expect([progress.total > 4, progress.total - progress.done]).toEqual([true, 0]);
      expect(rotation.reads).toEqual(answersOf(release));
      expect(errorsOf(rotation.written.answers)).toEqual([]);
    });
  });

  describe("the current Worker on the database before the migrations", () => {
    const COMMAND = "wrangler d1 migrations apply DB --remote";

    it("answers every data route 503 with the command to run", () => {
      const answers = Object.entries(refusals.answers);
      expect(answers.length).toBeGreaterThan(Object.keys(reads).length);
      for (const answer of answers) {
        const body: unknown = { status: 503, message: expect.stringContaining(COMMAND) };
        expect(answer).toEqual([answer[0], { status: 503, body }]);
      }
    });

    it("reports the schema in /health as ERROR, with the command to run", () => {
      const { dependencies } = refusals.health.body as { dependencies: readonly { service: string }[] };
      const schema = dependencies.find(({ service }) => service === "schema");
      expect(schema).toEqual({ service: "schema", status: "ERROR", message: expect.stringContaining(COMMAND) as string });
    });

    it("changes nothing in it", () => {
      expect(storedRows(unmigrated)).toEqual(unmigratedBefore);
    });
  });
});
