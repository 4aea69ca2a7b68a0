import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { backUp, lostAfter, rowOf, stateOf } from "../support/backup.ts";
import { rebindCoordinator, sleep, wrapDatabase } from "../support/bindings.ts";
import { advanceClock, DAY } from "../support/faults.ts";
import { freshFile, lengthOf, objectsOf, pattern } from "../support/files.ts";
import { runHourly, runJob, serviceWith } from "../support/jobs.ts";
import { passDaysQuickly as passDays } from "../support/restore.ts";
import { restore } from "../support/restores.ts";
import { runs } from "../support/runs.ts";
import { admin, type Client, freshVault, LOGIN } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";
import { newReceiver, ringWhenDue } from "../support/webhooks.ts";

/** The restore of single vaults into a deployment that is in use (contract 21.22 and 21.23). */

afterEach(() => void vi.useRealTimers());

const patch = (call: Client, path: string, value: string) =>
  call("PATCH", path, { body: [{ op: "replace", path: "/title", value }] });

describe("a vault that was deleted by mistake", () => {
  it("comes back with its Files and its log, and its contents are not deleted when their retention ends", async () => {
    const fresh = await freshFile(pattern(20_000));
    const { vault, call, path } = fresh;
    const before = await stateOf(vault);
    const contents = await objectsOf(vault);
    await backUp(vault);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    expect(await call("GET", path)).toMatchObject({ status: 404 });
    expect(await restore({ vault })).toMatchObject({ status: 200, body: { state: "done", existing: "deleted" } });
    expect(await stateOf(vault)).toEqual(before);
    const { results } = await env.DB.prepare(
      "SELECT action, event FROM activity WHERE vault_id = ? AND item_id IS NULL ORDER BY id",
    )
      .bind(vault)
      .all();
    expect(results).toEqual([
      { action: "CREATE", event: null },
      { action: "DELETE", event: null },
      { action: "CREATE", event: "restored" },
    ]);
    await passDays(vault, 40);
    expect(await objectsOf(vault)).toEqual(contents);
    expect((await env.FILES.list({ prefix: `${vault}/` })).objects).toHaveLength(1);
  });

  it("keeps its contents when the sweep that deletes them is under way", async () => {
    const { vault } = await freshFile(pattern(20_000));
    const contents = await objectsOf(vault);
    await backUp(vault);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    let begun: () => void;
    const sweeping = new Promise<void>((resolve) => (begun = resolve));
    const remove = async (keys: string[]) => {
      begun();
      await sleep(150);
      await env.FILES.delete(keys);
    };
    await rebindCoordinator(vault, { FILES: { list: env.FILES.list.bind(env.FILES), delete: remove } as unknown as R2Bucket });
    advanceClock(31 * DAY);
    const alarm = (async () => {
      for (let due = 0; due < 3; due++) {
        await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
        advanceClock(31 * DAY);
      }
    })();
    await sweeping;
    expect(await restore({ vault })).toMatchObject({ status: 200 });
    await alarm;
    expect(await objectsOf(vault)).toEqual(contents);
  });

  it("keeps what a restore has written when the clean-up runs in between", async () => {
    const { vault, call, path } = await freshFile();
    await patch(call, path, "Other");
    const before = await stateOf(vault);
    await backUp(vault);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    for (let calls = 1; ; calls += runs(6, 1)) {
      const { status } = await restore({ vault }, { DB: lostAfter(calls) });
      await runHourly();
      await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
      if (status === 200) break;
    }
    expect(await stateOf(vault)).toEqual(before);
  });
});

describe("a vault that has changed since its snapshot", () => {
  it("is not replaced without being told to, and then has nothing that is newer", async () => {
    const fresh = await freshFile(pattern(20_000));
    const { vault, items, one, call, path } = fresh;
    const before = await stateOf(vault);
    const cursor = (await call("GET", `/v1/vaults/${vault}/events?after=latest`)).body.last;
    const snapshotContents = await objectsOf(vault);
    await backUp(vault);
    await patch(call, path, "Newer");
    await call("PUT", `${one}/content`, { body: pattern(300), headers: lengthOf(pattern(300)) });
    await call("POST", items, { body: { ...LOGIN, title: "new" } });
    const later = (await call("GET", `/v1/vaults/${vault}/events?after=latest`)).body.last;
    const changed = await stateOf(vault);
    expect(await restore({ vault })).toMatchObject({ status: 409, body: { message: expect.stringContaining("newer") } });
    expect(await restore({ vault, dryRun: true })).toMatchObject({ status: 409 });
    expect(await stateOf(vault)).toEqual(changed);

    expect(await restore({ vault, overwrite: true })).toMatchObject({ status: 200, body: { existing: "newer", state: "done" } });
    expect(await stateOf(vault)).toEqual(before);
    expect(await call("GET", `/v1/vaults/${vault}/events?after=${later}`)).toMatchObject({ status: 410 });
    expect((await call("GET", `/v1/vaults/${vault}/events?after=${cursor}`)).body.events).toEqual([]);
    // The coordinator has cached the newer rows.
    expect(await patch(call, path, "After")).toMatchObject({ status: 200, body: { title: "After" } });
    const { events } = (await call("GET", `/v1/vaults/${vault}/events?after=${cursor}`)).body;
    expect(events).toMatchObject([{ type: "item.updated" }]);
    await passDays(vault, 40);
    expect(await objectsOf(vault)).toEqual(snapshotContents);
  });

  it("is replaced with overwrite also when it is written to while the restore copies contents (21.23)", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    const before = await stateOf(vault);
    const write = (title: string) => call("POST", items, { body: { ...LOGIN, title } });
    await write("second");
    let isRemoved = false;
    // A writer that never pauses until the row is removed: one write between the comparison and the removal is enough.
    const whileThere = async (): Promise<void> => {
      isRemoved ||= (await rowOf(vault)) === null;
      if (!isRemoved) await write("during");
    };
    const DB = wrapDatabase(env.DB, { before: whileThere });
    const service = await serviceWith({}, { DB });
    expect(await runJob(service, { kind: "restore", vault, overwrite: true })).toMatchObject({
      state: "done",
    });
    expect(await stateOf(vault)).toEqual(before);
  });

  it("is not replaced without overwrite when it is written to while the restore copies contents", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    await backUp(vault);
    let isWritten = false;
    const before = async (): Promise<void> => {
      if (isWritten) return;
      isWritten = true;
      await call("POST", items, { body: LOGIN });
    };
    const service = await serviceWith({}, { DB: wrapDatabase(env.DB, { before }) });
    expect(await runJob(service, { kind: "restore", vault })).toMatchObject({ state: "failed", reason: "backup_newer" });
    expect((await call("GET", items)).body).toHaveLength(2);
  });

  it("is replaced where it is as its snapshot, and a second restore changes nothing", async () => {
    const { vault } = await freshFile();
    await backUp(vault);
    const before = await stateOf(vault);
    for (const _ of [1, 2]) {
      expect(await restore({ vault })).toMatchObject({ status: 200, body: { existing: "older" } });
      expect(await stateOf(vault)).toEqual(before);
    }
  });

  it("sends its webhooks no event twice, and then tells them to begin again (contract 21.27)", async () => {
    const { vault, items, call } = await freshVault();
    const receiver = newReceiver();
    await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: receiver.url } });
    await call("POST", items, { body: LOGIN });
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    await backUp(vault);
    expect((await receiver.received()).length).toBe(1);
    await call("POST", items, { body: LOGIN });
    await runDurableObjectAlarm(env.COORDINATOR.getByName(vault));
    await restore({ vault, overwrite: true });
    advanceClock(1); // a cursor tells apart two writes of the same number by their times
    await call("POST", items, { body: LOGIN });
    const types = async () => (await receiver.received()).map(({ event }) => event.type);
    // The alarm of the write may run at the same time.
    await vi.waitFor(async () => {
      await ringWhenDue(vault);
      expect(await types()).toEqual(["item.created", "item.created", "reset"]);
    }, UNDER_LOAD);
  });

  it("counts a webhook that was made since as newer", async () => {
    const { vault } = await freshVault();
    await backUp(vault);
    await admin("POST", `/v1/admin/vaults/${vault}/webhooks`, { body: { url: newReceiver().url } });
    expect(await restore({ vault })).toMatchObject({ status: 409 });
  });
});

describe("a restore that is interrupted", () => {
  it("goes on after the coordinator did not answer", async () => {
    const { vault } = await freshFile();
    await backUp(vault);
    const before = await stateOf(vault);
    await rebindCoordinator(vault, { FILE_RETENTION_DAYS: "x" as unknown as number });
    expect(await restore({ vault })).toMatchObject({ status: 503 });
    await rebindCoordinator(vault, {});
    expect(await restore({ vault })).toMatchObject({ status: 200 });
    expect(await stateOf(vault)).toEqual(before);
  });
});

describe("a vault that is being restored", () => {
  it("is not there before its last step, and begins again when another snapshot is asked for", async () => {
    const { vault, call, path } = await freshFile();
    await backUp(vault);
    const first = await stateOf(vault);
    await patch(call, path, "Other");
    await backUp(vault);
    await env.DB.prepare("DELETE FROM vaults WHERE id = ?").bind(vault).run();
    expect(await restore({ vault }, { DB: lostAfter(6) })).toMatchObject({ status: 503 });
    expect(await call("GET", path)).toMatchObject({ status: 404 });
    expect(await restore({ vault, snapshot: 1 })).toMatchObject({ status: 200, body: { snapshot: 1 } });
    expect(await stateOf(vault)).toEqual(first);
  });
});

describe("the next backup after a restore", () => {
  it("has the vault as it is", async () => {
    const { vault, items, call, path } = await freshFile();
    await backUp(vault);
    await patch(call, path, "Other");
    await backUp(vault);
    await restore({ vault, snapshot: 1, overwrite: true });
    await call("POST", items, { body: LOGIN });
    await call("POST", items, { body: LOGIN });
    const before = await stateOf(vault);
    expect(await backUp(vault)).toMatchObject({ state: "done", snapshot: 3 });
    await restore({ vault });
    expect(await stateOf(vault)).toEqual(before);
  });
});
