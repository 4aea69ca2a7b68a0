import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { VaultCoordinator } from "../../src/index.ts";
import type { Operation } from "../../src/model/operation.ts";
import { KEEP_NOTHING, rebindCoordinator, setVariables, wrapDatabase } from "../support/bindings.ts";
import { otherTag } from "../support/etags.ts";
import { advanceClock, HOUR, keyOf, type Place, pendingRecordsOf } from "../support/faults.ts";
import { bytesOf, freshItem, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { passDays, passDaysQuickly } from "../support/restore.ts";
import { restoreWaits, skipWaits } from "../support/waits.ts";

/** The pending record of a content: from before its upload to the commit of its row, and from the removal to its deletion. */

const BYTES = pattern(1000);
const OTHER = pattern(2000);
const MINUTE = HOUR / 60;
const lost = () => Promise.reject(new Error("D1_ERROR: Network connection lost."));

let at: Place;

beforeEach(async () => {
  at = await freshItem();
  await setVariables(at.vault, KEEP_NOTHING);
});

afterEach(() => {
  vi.useRealTimers();
  restoreWaits();
});

/** Uploads while D1 is down. The commit loop gives up without its waits, and the upload is answered 503. */
async function uploadInVain(): Promise<void> {
  skipWaits();
  expect((await at.upload(BYTES)).status).toBe(503);
  restoreWaits();
}

const wrote = (results: D1Result[]) => results.some(({ meta }) => meta.rows_written > 0);
const keysOf = async (name = at.vault) => (await pendingRecordsOf(name)).map(({ key }) => key);
const put = (file: string, bytes = OTHER) =>
  at.call("PUT", `${at.files}/${file}/content`, { body: bytes, headers: lengthOf(bytes) });
const coordinator = () => env.COORDINATOR.getByName(at.vault);
/** Lets the time of the alarm come. */
const ringOnce = () => {
  advanceClock(2 * MINUTE);
  return runDurableObjectAlarm(coordinator());
};
const alarmOf = () => runInDurableObject(coordinator(), (_, { storage }) => storage.getAlarm());

/** A coordinator that uses the storage of another one, as one that follows after a reset while the reset one still goes on. */
const besideOnSameStorage = {
  getByName: (name: string) => ({
    write: (operation: Operation) =>
      runInDurableObject(env.COORDINATOR.getByName(name), (_, state) =>
        new VaultCoordinator(state, { ...env, ...KEEP_NOTHING }).write(operation),
      ),
  }),
} as unknown as Env["COORDINATOR"];

describe("a pending record", () => {
  it("is deleted by the commit of the row", async () => {
    const { id } = (await at.upload(BYTES)).body;
    expect(await keysOf()).toEqual([]);
    const first = await keyOf(at.vault, id);
    await put(id);
    expect(await keysOf()).toEqual([first]);
  });

  it("stays for a content that one commit both added and released", async () => {
    const { id } = (await at.upload(BYTES)).body;
    const replies = await Promise.all(Array.from({ length: 5 }, () => put(id)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const live = await keyOf(at.vault, id);
    expect((await keysOf()).toSorted()).toEqual((await objectsOf(at.vault)).filter((key) => key !== live).toSorted());
  });

  it("stays for a content that another coordinator released before the commit that added the content has ended", async () => {
    const [{ id: other }, { id }] = [(await at.upload(OTHER)).body, (await at.upload(BYTES)).body];
    const [committed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const after = (results: D1Result[]) => (wrote(results) ? (committed.resolve(), gate.promise) : undefined);
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { after }) });
    const replacement = put(id);
    await committed.promise;
    expect((await at.call("DELETE", `${at.files}/${id}`, { env: { COORDINATOR: besideOnSameStorage } })).status).toBe(204);
    gate.resolve();
    expect((await replacement).status).toBe(200);
    await rebindCoordinator(at.vault, {});
    expect(await objectsOf(at.vault)).toHaveLength(3);
    await passDaysQuickly(at.vault, 31.1);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[await keyOf(at.vault, other)], []]);
  });

  it("that the coordinator could not delete is deleted by the alarm, and the content stays", async () => {
    let commits = 0;
    const DB = wrapDatabase(env.DB, { after: (results) => (wrote(results) && ++commits === 1 ? lost() : undefined) });
    await rebindCoordinator(at.vault, { DB });
    const { id } = (await at.upload(BYTES)).body;
    await rebindCoordinator(at.vault, {});
    expect(await keysOf()).toEqual([await keyOf(at.vault, id)]);
    await passDays(at.vault, 2);
    expect(await keysOf()).toEqual([]);
    await passDaysQuickly(at.vault, 40);
    expect(await bytesOf(await at.download(id))).toEqual(BYTES);
  });

  it("stays for an upload without an answer", async () => {
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before: lost }) });
    await uploadInVain();
    await rebindCoordinator(at.vault, {});
    expect(await keysOf()).toEqual(await objectsOf(at.vault));
    await passDays(at.vault, 31.9);
    expect(await objectsOf(at.vault)).toHaveLength(1);
    await passDays(at.vault, 1);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[], []]);
  });
});

describe("FILE_RETENTION_DAYS = 0", () => {
  const released = [
    ["deleted", (id: string) => at.call("DELETE", `${at.files}/${id}`), 0],
    ["deleted with its Item", () => at.call("DELETE", at.path), 0],
    ["replaced", (id: string) => put(id), 1],
  ] as const;

  it.each(released)("the next alarm deletes the content of a File that was %s", async (_, release, left) => {
    const { id } = (await at.upload(BYTES)).body;
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    await release(id);
    expect(await alarmOf()).toBeLessThan(Date.now() + 2 * 60_000);
    await ringOnce();
    expect([(await objectsOf(at.vault)).length, await keysOf()]).toEqual([left, []]);
  });

  it("an alarm between the record and the commit leaves the record", async () => {
    const { id } = (await at.upload(BYTES)).body;
    let rung = false;
    const DB = wrapDatabase(env.DB, {
      before: async (statements) => {
        if (rung || statements < 3) return;
        rung = true;
        await runDurableObjectAlarm(coordinator());
      },
    });
    await rebindCoordinator(at.vault, { DB, FILE_RETENTION_DAYS: 0 });
    expect((await at.call("DELETE", `${at.files}/${id}`)).status).toBe(204);
    expect([await objectsOf(at.vault), rung]).toMatchObject([{ length: 1 }, true]);
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    expect(await ringOnce(), "an alarm is set").toBe(true);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[], []]);
  });

  it("the first sweep deletes a content whose upload was not committed", async () => {
    await rebindCoordinator(at.vault, { DB: wrapDatabase(env.DB, { before: lost }), FILE_RETENTION_DAYS: 0 });
    await uploadInVain();
    await rebindCoordinator(at.vault, { FILE_RETENTION_DAYS: 0 });
    await passDays(at.vault, 0.9);
    expect(await objectsOf(at.vault)).toHaveLength(1);
    await passDays(at.vault, 0.2);
    expect([await objectsOf(at.vault), await keysOf()]).toEqual([[], []]);
  });
});

// 518,000 of 512 KiB: the name below has no room.
const FULL = Array.from({ length: 6 }, (_, n) => ({ id: `f${n}`, value: "x".repeat(64_700) }));
const LONG_NAME = "%01".repeat(1024);
const setFields = (value: readonly object[]) => at.call("PATCH", at.path, { body: [{ op: "replace", path: "/fields", value }] });

describe("an upload that two coordinators get, because the first was reset", () => {
  it("keeps its content when the second refuses it and the first commits it later", async () => {
    let first: Promise<unknown> = Promise.resolve();
    const gate = Promise.withResolvers<void>();
    const getByName = (name: string) => {
      const stub = env.COORDINATOR.getByName(name);
      return { expect: (place: never) => stub.expect(place), write };
    };
    let tries = 0;
    const write = async (operation: Operation) => {
      if (++tries > 1) return env.COORDINATOR.getByName(`${at.vault} again`).write(operation);
      first = gate.promise.then(async (): Promise<unknown> => await coordinator().write(operation));
      throw new Error("Durable Object reset because its code was updated.");
    };
    const bindings = { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
    expect((await setFields(FULL)).status).toBe(200);
    const refused = await at.upload(BYTES, `?name=${LONG_NAME}`, { env: bindings });
    expect([refused.status, refused.headers.get("Item-Vault-Error"), tries]).toEqual([503, "uncertain", 2]);
    await setFields([]);
    gate.resolve();
    expect(await first).toMatchObject({ ok: true });
    const [{ id }] = (await at.call("GET", at.files)).body;
    expect(await bytesOf(await at.download(id))).toEqual(BYTES);
  });

  it("leaves no content after a refusal of the only coordinator that got it", async () => {
    expect((await at.upload(BYTES, "?name=f", { headers: { "If-Match": otherTag(2) } })).status).toBe(412);
    expect(await objectsOf(at.vault)).toEqual([]);
  });
});
