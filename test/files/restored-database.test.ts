import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KEEP_NOTHING, rebindCoordinator } from "../support/bindings.ts";
import { DAY, freshContent, type Place, pendingRecordsOf, recordUpload } from "../support/faults.ts";
import { bytesOf, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { runHourly } from "../support/jobs.ts";
import { passDays, passDaysQuickly, removeRows } from "../support/restore.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** D1 that was restored to an earlier minute, perhaps only for a while: no content is deleted that a row may need again. */

const BYTES = pattern(1000);
const ALL = ["vaults", "items", "files", "activity"] as const;

let at: Place;
let file: string;
let key: string;

beforeEach(async () => {
  ({ at, file, key } = await freshContent(BYTES, KEEP_NOTHING));
});

afterEach(() => {
  vi.useRealTimers();
});

const stored = async (one = key) => (await env.FILES.head(one)) !== null;
const remove = () => at.call("DELETE", `${at.files}/${file}`);
const replace = () => at.call("PUT", `${at.files}/${file}/content`, { body: BYTES, headers: lengthOf(BYTES) });
const download = async () => bytesOf(await at.download(file));

const recordAgain = () => recordUpload(at.vault, at.item, key);

describe("a content that was uploaded after the minute to which D1 is restored", () => {
  it("is still stored when the restore is undone a day later", async () => {
    const putBack = await removeRows(at.vault, ["files"]);
    await passDays(at.vault, 2);
    await putBack();
    expect(await download()).toEqual(BYTES);
  });

  it("is still stored when its coordinator was evicted before it deleted the record", async () => {
    await recordAgain();
    const putBack = await removeRows(at.vault, ["files"]);
    await passDays(at.vault, 31);
    await putBack();
    expect(await download()).toEqual(BYTES);
    await passDays(at.vault, 1);
    expect(await pendingRecordsOf(at.vault)).toEqual([]);
    await passDaysQuickly(at.vault, 40);
    expect(await download()).toEqual(BYTES);
  });

  it("is deleted when every sweep during FILE_RETENTION_DAYS found no row, and not before", async () => {
    await recordAgain();
    await removeRows(at.vault, ["files"]);
    await passDays(at.vault, 31.9);
    expect(await stored()).toBe(true);
    await passDays(at.vault, 1);
    expect([await stored(), await pendingRecordsOf(at.vault)]).toEqual([false, []]);
  });

  it("is kept for FILE_RETENTION_DAYS from the last sweep that found the vault itself missing", async () => {
    await recordAgain();
    const putFilesBack = await removeRows(at.vault, ["files"]);
    await passDays(at.vault, 20);
    const putBack = await removeRows(at.vault, ["vaults", "items", "activity"]);
    await passDays(at.vault, 2);
    await putBack();
    await passDays(at.vault, 30);
    expect(await stored()).toBe(true);
    await putFilesBack();
    expect(await download()).toEqual(BYTES);
  });
});

it("a content that D1 has forgotten is never deleted, and `verify` names it", async () => {
  await removeRows(at.vault, ["files"]);
  await passDaysQuickly(at.vault, 3);
  await runHourly();
  await passDaysQuickly(at.vault, 40);
  expect(await objectsOf(at.vault)).toEqual([key]);
  const { findings } = await verifyAll({ vault: at.vault, quick: true });
  expect(findings).toContainEqual(
    expect.objectContaining({ kind: "content_orphaned", vault: at.vault, file, id: key.split("/")[2] }),
  );
});

describe("a content that was released", () => {
  it.each([
    ["a deleted File", remove],
    ["a replaced File", replace],
  ])("is kept when its row came back, and D1 lacks it again at the end of the retention: %s", async (_, release) => {
    const putBackLater = await removeRows(at.vault, ["files"]);
    await putBackLater();
    await release();
    await passDays(at.vault, 5);
    const putNewerBack = await removeRows(at.vault, ["files"]);
    await putBackLater(); // D1 is restored
    await passDays(at.vault, 20);
    const putBack = await removeRows(at.vault, ["files"]);
    await putNewerBack(); // the restore is undone for a while
    await passDays(at.vault, 10);
    await removeRows(at.vault, ["files"]);
    await putBack();
    expect(await download()).toEqual(BYTES);
  });
});

describe("a D1 that knows neither the vault nor its deletion", () => {
  it("deletes no content: of an upload, of a deleted File, of a deleted vault", async () => {
    const other = (await at.upload(BYTES, "?name=other")).body.id;
    await at.call("DELETE", `${at.files}/${other}`);
    await recordAgain();
    const putBack = await removeRows(at.vault, ALL);
    await runInDurableObject(env.COORDINATOR.getByName(at.vault), (_, { storage }) =>
      storage.sql.exec(
        "INSERT INTO watched (key, item, due, next_sweep) VALUES (?1, '', ?2, ?2)",
        `${at.vault}/`,
        Date.now() + DAY,
      ),
    );
    await passDays(at.vault, 45);
    expect([await objectsOf(at.vault), await pendingRecordsOf(at.vault)]).toMatchObject([{ length: 2 }, { length: 3 }]);
    await putBack();
    await passDays(at.vault, 1);
    expect(await pendingRecordsOf(at.vault)).toHaveLength(1);
    expect(await download()).toEqual(BYTES);
    await passDays(at.vault, 31);
    expect(await objectsOf(at.vault)).toEqual([key]);
    expect(await download()).toEqual(BYTES);
  });

  it("deletes none with FILE_RETENTION_DAYS = 0 either", async () => {
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    await remove();
    await removeRows(at.vault, ALL);
    await passDays(at.vault, 3);
    expect(await stored()).toBe(true);
  });
});

it("a malformed FILE_RETENTION_DAYS deletes nothing", async () => {
  await remove();
  await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: "" } as unknown as Partial<Env>);
  await passDaysQuickly(at.vault, 40);
  expect(await stored()).toBe(true);
});
