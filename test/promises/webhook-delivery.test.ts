import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signWebhook } from "../../src/crypto/webhook-signature.ts";
import type { Progress } from "../../src/store/events/webhook-progress.ts";
import { countingDatabase, rebindCoordinator, wrapDatabase } from "../support/bindings.ts";
import { canary, captureLog, dumpOfDatabase, found } from "../support/canary.ts";
import { advanceClock, DAY, HOUR } from "../support/faults.ts";
import { runs } from "../support/runs.ts";
import { seeded } from "../support/seeded.ts";
import { admin, freshVault, LOGIN } from "../support/service.ts";
import {
  addWebhook,
  type Behaviour,
  type Delivery,
  type Hooked,
  hookedVault,
  newReceiver,
  progressOf,
  type Receiver,
  ring,
  ringWhenDue,
  withStorage,
  changeProgress,
} from "../support/webhooks.ts";

/** The delivery of events to webhooks (contract 17.4 to 17.11): in order, none lost, and repeated only with the same id. */

const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Holds the timeouts of the first deliveries. Returns the lengths of all timeouts, and a function that ends the first `count`. */
function holdTimeouts(most: number) {
  const { setTimeout: timeout } = globalThis;
  const lengths: number[] = [];
  let ended = 0;
  vi.stubGlobal("setTimeout", (run: () => void, delay = 0) => {
    if (delay !== 15_000 || lengths.push(delay) > most) return timeout(run, delay);
    const attempt = lengths.length;
    const look = (): void => void (ended < attempt ? timeout(look, 5) : run());
    return timeout(look, 5);
  });
  return { lengths, end: (count: number) => void (ended = count) };
}

const waitFor = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 120_000, interval: 20 });

/**
 * Waits until the receiver has so many deliveries. The alarm runs by itself after a write; with `ahead`, the vault, it runs by hand,
 * because the clock of the test is ahead of that of the platform.
 */
const deliveries = (receiver: Receiver, count: number, ahead?: string): Promise<Delivery[]> =>
  waitFor(async () => {
    if (ahead !== undefined) await ring(ahead);
    const received = await receiver.received();
    expect(received.length).toBeGreaterThanOrEqual(count);
    return received;
  });

const idOf = ({ headers }: Delivery) => headers["webhook-id"]!;
const idsOf = (received: readonly Delivery[]) => received.map(idOf);
const sequencesOf = (received: readonly Delivery[]) => received.map(({ event }) => event.data.sequence as number);

/** Waits until a webhook of the vault fulfils a condition. Returns its progress. */
const progressWith = (vault: string, fulfils: (progress: Progress) => boolean): Promise<Progress> =>
  waitFor(async () => {
    const progress = (await progressOf(vault)).find(fulfils);
    expect(progress).toBeDefined();
    return progress!;
  });

/** Sets the clock of the test ahead of that of the platform, which then runs no alarm: only the test starts a retry. */
const runAlarmsByHand = (): void => advanceClock(HOUR);

/** Runs the alarm after a write. The delivery fails. */
async function ringAndFail(vault: string): Promise<void> {
  await ring(vault);
  expect((await progressOf(vault)).map(({ failures }) => failures)).toEqual([1]);
}

/** A new vault with a webhook whose first delivery has failed. Its alarms run by hand. */
async function failedVault(...behaviours: readonly Behaviour[]): Promise<Hooked> {
  runAlarmsByHand();
  const hooked = await hookedVault();
  await hooked.receiver.behave(...behaviours);
  await hooked.write();
  await ringAndFail(hooked.vault);
  return hooked;
}

/** Lets a delivery fail now and a day later, so that the webhook is paused. */
async function failForADay({ vault }: Hooked): Promise<void> {
  await ringAndFail(vault);
  advanceClock(DAY + HOUR);
  await ring(vault);
}

/** Ends the coordinator in the middle of what it does. */
async function crash(vault: string): Promise<void> {
  // vitest's pool ignores a runtime error with this text.
  const ended = runInDurableObject(env.COORDINATOR.getByName(vault), (_, state) => state.abort("Instance disposed as planned"));
  await ended.catch(() => undefined);
}

describe("a message", () => {
  it("tells the ids, version and number of a write, and nothing of the Item", async () => {
    const { vault, receiver, write } = await hookedVault();
    const { id, lastEditedBy, updatedAt } = (await write()).body;
    const [{ event, headers }] = (await deliveries(receiver, 1)) as [Delivery];
    const cursor = expect.stringMatching(/^2-/);
    const data = { vault: { id: vault }, sequence: 2, cursor, item: { id }, version: 1, actor: lastEditedBy };
    expect(event).toEqual({ type: "item.created", timestamp: updatedAt, data });
    expect(headers["content-type"]).toBe("application/json");
  });

  it("has a cursor that continues with the events after it", async () => {
    const { vault, items, call, receiver, write } = await hookedVault();
    const { id } = (await write()).body;
    const [{ event }] = (await deliveries(receiver, 1)) as [Delivery];
    await call("DELETE", `${items}/${id}`);
    const { body } = await call("GET", `/v1/vaults/${vault}/events?after=${event.data.cursor}`);
    expect(body.events.map(({ type }: { type: string }) => type)).toEqual(["item.deleted"]);
  });

  it("is signed with the secret: id, time of the attempt and body", async () => {
    const { receiver, secret, write } = await hookedVault();
    const before = Math.floor(Date.now() / 1000);
    await write();
    const [{ body, headers }] = (await deliveries(receiver, 1)) as [Delivery];
    const timestamp = Number(headers["webhook-timestamp"]);
    expect([before <= timestamp, timestamp <= Date.now() / 1000]).toEqual([true, true]);
    const id = headers["webhook-id"]!;
    expect(id).toMatch(/^msg_[a-z2-7]{26}$/);
    expect(headers["webhook-signature"]).toBe(await signWebhook([secret], { id, timestamp, body }));
  });

  it.each([
    ["for a day after rotateSecret: true", true, 2],
    ["not after rotateSecret: 0", 0, 1],
  ])("is also signed with the previous secret %s", async (_, rotateSecret, signatures) => {
    const { vault, hook, secret, receiver, write } = await hookedVault();
    const { body } = await admin("PATCH", hook, { body: { rotateSecret } });
    await write();
    const [delivery] = (await deliveries(receiver, 1)) as [Delivery];
    const message = { id: idOf(delivery), timestamp: Number(delivery.headers["webhook-timestamp"]), body: delivery.body };
    const expected = await signWebhook([body.secret, secret].slice(0, signatures), message);
    expect(delivery.headers["webhook-signature"]).toBe(expected);
    advanceClock(DAY + MINUTE);
    await write();
    const [, later] = await deliveries(receiver, 2, vault);
    expect(later!.headers["webhook-signature"]!.split(" ")).toHaveLength(1);
  });
});

describe("a webhook", () => {
  it("gets no event from before it was made", async () => {
    const { vault, items, call } = await freshVault();
    await call("POST", items, { body: LOGIN });
    const receiver = newReceiver();
    await addWebhook(vault, receiver.url);
    await call("POST", items, { body: LOGIN });
    expect(sequencesOf(await deliveries(receiver, 1))).toEqual([3]);
  });

  it("gets each event once and in order, also more than one run of the alarm delivers", async () => {
    const { receiver, write } = await hookedVault();
    await Promise.all(Array.from({ length: 60 }, () => write()));
    const received = await deliveries(receiver, 60);
    expect(sequencesOf(received)).toEqual(Array.from({ length: 60 }, (_, index) => index + 2));
    expect(new Set(idsOf(received)).size).toBe(60);
  });

  it("gets an event of each kind of write", async () => {
    const { vault, items, call, receiver, write } = await hookedVault();
    const { id } = (await write()).body;
    await call("PATCH", `${items}/${id}`, { body: [{ op: "replace", path: "/title", value: "Other" }] });
    await call("DELETE", `${items}/${id}`);
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Other" } });
    const types = (await deliveries(receiver, 4)).map(({ event }) => event.type);
    expect(types).toEqual(["item.created", "item.updated", "item.deleted", "vault.updated"]);
  });

  it("shows its last delivery (contract 17.1)", async () => {
    const { vault, hook, write } = await hookedVault();
    const before = Date.now();
    await write();
    await progressWith(vault, ({ lastDelivery }) => lastDelivery !== undefined);
    const { body } = await admin("GET", hook);
    expect([body.failures, body.pending, body.lastError]).toEqual([0, 0, undefined]);
    expect(Date.parse(body.lastDelivery)).toBeGreaterThanOrEqual(before);
  });

  it("gets nothing while it is disabled, and afterwards what it has missed", async () => {
    const { vault, hook, receiver, write } = await hookedVault();
    await admin("PATCH", hook, { body: { enabled: false } });
    await write();
    await ring(vault);
    expect(await receiver.received()).toEqual([]);
    await admin("PATCH", hook, { body: { enabled: true } });
    expect(sequencesOf(await deliveries(receiver, 1))).toEqual([2]);
  });

  it.each([
    ["disabled by the admin", "DISABLED", ({ hook }: Hooked) => admin("PATCH", hook, { body: { enabled: false } })],
    ["disabled by its 410", "DISABLED", ({ vault }: Hooked) => ring(vault)],
    ["paused after a day of failures", "PAUSED", failForADay],
  ] as const)("that is %s gets nothing when the alarm runs for another one", async (how, state, stop) => {
    runAlarmsByHand();
    const hooked = await hookedVault();
    const { vault, hook, receiver, write } = hooked;
    await receiver.behave(how.includes("410") ? 410 : 500);
    await write();
    await stop(hooked);
    expect((await admin("GET", hook)).body.state).toBe(state);
    const before = (await receiver.received()).length;
    const other = newReceiver();
    await addWebhook(vault, other.url);
    await receiver.behave(204);
    for (let n = 0; n < 2; n++) {
      advanceClock(2 * HOUR); // the next attempt at the other one would be due by now
      await write();
      await deliveries(other, n + 1, vault);
    }
    expect(await receiver.received()).toHaveLength(before);
  });

  it("gets nothing after it was deleted", async () => {
    const { vault, hook, receiver, write } = await failedVault(500);
    await admin("DELETE", hook);
    await receiver.behave(204);
    await ringWhenDue(vault);
    await write();
    await ring(vault);
    expect(await receiver.received()).toHaveLength(1);
  });

  it("whose URL was changed gets the next attempt there", async () => {
    const { vault, hook, receiver } = await failedVault(500);
    const other = newReceiver();
    await admin("PATCH", hook, { body: { url: other.url } });
    expect(idsOf(await deliveries(other, 1, vault))).toEqual(idsOf(await receiver.received()));
  });
});

describe("a receiver that fails", () => {
  const FAULTS: readonly (readonly [string, Behaviour, object])[] = [
    ["answers 500", 500, { kind: "status", status: 500 }],
    ["answers 404", 404, { kind: "status", status: 404 }],
    ["answers 429", 429, { kind: "status", status: 429 }],
    ["answers with a redirect", 302, { kind: "redirect", status: 302 }],
    ["answers with a permanent redirect", 308, { kind: "redirect", status: 308 }],
    ["closes the connection in the middle", "die", { kind: "network" }],
    ["does not answer in 15 seconds", "hang", { kind: "timeout" }],
  ];

  it.each(FAULTS)("because it %s gets the same message again, and then the next one", async (_, fault, error) => {
    runAlarmsByHand();
    const { vault, hook, receiver, write } = await hookedVault();
    await receiver.behave(fault, fault, 204);
    const timeouts = fault === "hang" ? holdTimeouts(2) : undefined;
    const ended = (async () => {
      for (const count of timeouts ? [1, 2] : []) timeouts!.end((await deliveries(receiver, count)).length);
    })();
    await write();
    await write();
    await ringAndFail(vault);
    const { body } = await admin("GET", hook);
    expect(body).toMatchObject({ state: "ACTIVE", failures: 1, pending: 2 });
    expect(body.lastError).toEqual({ ...error, at: expect.any(String) });
    await ringWhenDue(vault);
    await ringWhenDue(vault);
    await ended;
    const received = await receiver.received();
    expect(sequencesOf(received)).toEqual([2, 2, 2, 3]);
    expect(new Set(idsOf(received)).size).toBe(2);
    const times = received.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(times[1]! - times[0]!).toBeGreaterThan(1);
    expect(new Set(timeouts?.lengths)).toEqual(new Set(fault === "hang" ? [15_000] : []));
    expect((await admin("GET", hook)).body).toMatchObject({ failures: 0, pending: 0 });
  });

  it("is not followed to another place", async () => {
    await failedVault(307);
    const redirected = await fetch(`${env.WEBHOOK_TEST_ORIGIN}/control/redirected`);
    expect(await redirected.json()).toEqual([]);
  });

  it("with a 410 is disabled", async () => {
    const { vault, hook, receiver, write } = await failedVault(410);
    const { body } = await admin("GET", hook);
    expect(body).toMatchObject({ enabled: false, state: "DISABLED", lastError: { kind: "status", status: 410 } });
    await write();
    await ring(vault);
    expect(await receiver.received()).toHaveLength(1);
  });

  it("for a day is paused (contract 17.1): at first after seconds, later once an hour", async () => {
    runAlarmsByHand();
    const { vault, hook, receiver, write } = await hookedVault();
    await receiver.behave(503);
    const start = Date.now();
    await write();
    await ringAndFail(vault);
    for (let tries = 0; tries < 100 && (await progressOf(vault))[0]!.state === "ACTIVE"; tries++) await ringWhenDue(vault);
    const times = (await receiver.received()).map(({ headers }) => Number(headers["webhook-timestamp"]) * 1000 - start);
    expect(times.at(-1)!).toBeGreaterThan(DAY - MINUTE);
    expect(times.at(-1)!).toBeLessThan(DAY + 61 * MINUTE);
    expect(times[1]!).toBeLessThan(10_000);
    expect(times.length).toBeLessThan(70);
    const { body } = await admin("GET", hook);
    expect(body).toMatchObject({ enabled: true, state: "PAUSED", lastError: { kind: "status", status: 503 }, pending: 1 });
  });

  it.each([
    ["cursor", [2, 2, 3, 4]],
    ["latest", [2, 4]],
  ] as const)("and was paused goes on with resume: %s", async (resume, expected) => {
    const { vault, hook, receiver, write } = await failedVault(503, 204);
    await changeProgress(vault, { state: "PAUSED" });
    await write();
    await admin("PATCH", hook, { body: { resume } });
    if (resume === "cursor") await deliveries(receiver, 3, vault);
    await write();
    expect(sequencesOf(await deliveries(receiver, expected.length, vault))).toEqual(expected);
  });

  it("with an answer that does not end has got the event", async () => {
    const { vault, receiver, write } = await hookedVault();
    await receiver.behave("endless");
    await write();
    await write();
    expect(sequencesOf(await deliveries(receiver, 2))).toEqual([2, 3]);
    await progressWith(vault, ({ sequence, failures }) => sequence === 3 && failures === 0);
  });

  it("because the URL is not allowed any more is not called", async () => {
    runAlarmsByHand();
    const { vault, hook, receiver, write } = await hookedVault();
    await rebindCoordinator(vault, { WEBHOOK_TEST_ORIGIN: "" });
    await write();
    await ringAndFail(vault);
    expect((await admin("GET", hook)).body.lastError.kind).toBe("url");
    expect(await receiver.received()).toEqual([]);
  });

  it("does not hold up the writes of the vault, its other webhooks or the contents that are due", async () => {
    const { vault, receiver, write } = await hookedVault();
    await receiver.behave("hang");
    const other = newReceiver();
    await addWebhook(vault, other.url);
    await withStorage(
      vault,
      ({ sql }) => void sql.exec("INSERT INTO watched (key, item, due, next_sweep) VALUES ('v/f/g', 'i', 1, 1)"),
    );
    await write();
    await deliveries(receiver, 1);
    expect(sequencesOf(await deliveries(other, 1))).toEqual([2]);
    expect((await write()).status).toBe(200);
    expect(await progressOf(vault)).toHaveLength(2);
    const due = await withStorage(vault, ({ sql }) => sql.exec("SELECT 1 FROM watched WHERE due <= 1").toArray());
    expect(due).toEqual([]);
    await crash(vault);
  });
});

describe("a restart of the coordinator", () => {
  it("between two events loses none and repeats none", async () => {
    const { vault, receiver, write } = await hookedVault();
    for (let written = 1; written <= 3; written++) {
      await write();
      await deliveries(receiver, written);
      await progressWith(vault, ({ sequence }) => sequence === written + 1);
      await evictDurableObject(env.COORDINATOR.getByName(vault));
    }
    expect(sequencesOf(await receiver.received())).toEqual([2, 3, 4]);
  });

  it("during a delivery repeats it with the same webhook-id", async () => {
    const { vault, receiver, write } = await hookedVault();
    await receiver.behave("hang", 204);
    await write();
    await deliveries(receiver, 1);
    await crash(vault);
    await write();
    const received = await deliveries(receiver, 3);
    expect(sequencesOf(received)).toEqual([2, 2, 3]);
    expect(new Set(idsOf(received)).size).toBe(2);
  });
});

/** What a receiver does, at random. */
const BEHAVIOURS: readonly Behaviour[] = [204, 200, 200, 500, 302, "die", 404];

describe("under failures of the receiver and the coordinator", () => {
  it.each(Array.from({ length: runs(1, 100) }, (_, index) => index + 1))(
    "each event arrives, in order and repeated only with the same webhook-id: seed %i",
    async (seed) => {
      const random = seeded(seed);
      const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
      const { vault, receiver, write } = await hookedVault();
      const others = [newReceiver(), newReceiver()];
      for (const other of others) await addWebhook(vault, other.url);
      const receivers = [receiver, ...others];
      for (const one of receivers) await one.behave(...Array.from({ length: 30 }, () => pick(BEHAVIOURS)), 204);
      let written = 0;
      for (let step = 0; step < runs(12, 60); step++) {
        const what = random();
        if (what < 0.6) written += (await write()).status === 200 ? 1 : 0;
        else if (what < 0.8) await ringWhenDue(vault);
        else if (what < 0.9) await crash(vault);
        else await evictDurableObject(env.COORDINATOR.getByName(vault)).catch(() => undefined); // it may not run yet
      }
      const isBehind = ({ sequence }: { sequence: number }) => sequence < written + 1;
      for (let n = 0; n < 200 && (await progressOf(vault)).some(isBehind); n++) await ringWhenDue(vault);
      for (const one of receivers) {
        const received = await one.received();
        const firsts = [...new Map(received.map((delivery) => [idOf(delivery), delivery])).values()];
        expect(sequencesOf(firsts)).toEqual(Array.from({ length: written }, (_, index) => index + 2));
        // A repetition follows the event that it repeats.
        expect(sequencesOf(received)).toEqual(sequencesOf(received).toSorted((a, b) => a - b));
      }
    },
  );
});

describe("an event that no commit has announced", () => {
  it("is that of a write that was acknowledged", async () => {
    const { vault, receiver, write } = await hookedVault();
    const setAlarm = await withStorage(vault, (storage) => vi.spyOn(storage, "setAlarm").mockRejectedValue(new Error("full")));
    expect((await write()).status).toBe(200);
    expect(setAlarm).toHaveBeenCalledTimes(1);
    setAlarm.mockRestore();
    await ringWhenDue(vault);
    expect(sequencesOf(await deliveries(receiver, 1))).toEqual([2]);
  });

  it("is delivered by the poll, 15 minutes later at most", async () => {
    const { vault, receiver, write } = await hookedVault();
    await write();
    await deliveries(receiver, 1);
    const { due } = await progressWith(vault, (progress) => progress.due > Date.now() + MINUTE);
    expect(due - Date.now()).toBeLessThanOrEqual(15 * MINUTE);
    // As after a commit of another coordinator, and after an alarm that was lost.
    await changeProgress(vault, { state: "DISABLED" });
    await write();
    await changeProgress(vault, { state: "ACTIVE" });
    expect(await receiver.received()).toHaveLength(1);
    await ringWhenDue(vault);
    expect(sequencesOf(await deliveries(receiver, 2))).toEqual([2, 3]);
  });

  it("is delivered when D1 answers again", async () => {
    const { vault, receiver, write } = await hookedVault();
    const DB = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    await changeProgress(vault, { state: "DISABLED" });
    await write();
    await changeProgress(vault, { state: "ACTIVE", due: 1 });
    await rebindCoordinator(vault, { DB });
    await ring(vault);
    const [progress] = await progressOf(vault);
    expect([progress!.failures, progress!.due > Date.now()]).toEqual([0, true]);
    await rebindCoordinator(vault, {});
    await ringWhenDue(vault);
    expect(sequencesOf(await deliveries(receiver, 1))).toEqual([2]);
  });
});

describe("an alarm while D1 does not answer", () => {
  it("forgets no webhook that was deleted, and does not call a receiver that fails before its time", async () => {
    const { vault, hooks, receiver } = await failedVault(500);
    await withStorage(
      vault,
      ({ sql }) => void sql.exec("UPDATE webhooks SET progress = json_set(progress, '$.due', (progress ->> 'due') + 3600000)"),
    );
    const request = { body: { url: newReceiver().url }, headers: { "Idempotency-Key": "key" } };
    const { body } = await admin("POST", hooks, request);
    const DB = wrapDatabase(env.DB, {
      before: () => {
        throw new Error("D1_ERROR: D1 DB is overloaded.");
      },
    });
    await admin("DELETE", `${hooks}/${body.id}`);
    await addWebhook(vault, newReceiver().url);
    await rebindCoordinator(vault, { DB });
    await ring(vault);
    await rebindCoordinator(vault, {});
    advanceClock(2 * MINUTE);
    await ring(vault);
    expect((await admin("POST", hooks, request)).status).toBe(409);
    expect((await receiver.received()).length).toBe(1);
  });
});

describe("a position that the log does not have any more", () => {
  it("gives a message reset, and then the events after it", async () => {
    const { vault, hook, receiver, write } = await hookedVault();
    await admin("PATCH", hook, { body: { enabled: false } });
    for (let written = 0; written < 3; written++) await write();
    await env.DB.prepare("DELETE FROM activity WHERE vault_id = ? AND sequence <= 3").bind(vault).run();
    await receiver.behave(500, 204);
    await admin("PATCH", hook, { body: { enabled: true } });
    await progressWith(vault, ({ failures }) => failures === 1);
    await ringWhenDue(vault);
    await write();
    const received = await deliveries(receiver, 3, vault);
    expect(received.map(({ event }) => event.type)).toEqual(["reset", "reset", "item.created"]);
    expect(sequencesOf(received)).toEqual([4, 4, 5]);
    expect(new Set(idsOf(received)).size).toBe(2);
  });
});

const remove = (vault: string) => admin("DELETE", `/v1/admin/vaults/${vault}`);

/** Tries to delete a vault while D1 refuses the commit. */
async function failToRemove(vault: string): Promise<void> {
  const DB = wrapDatabase(env.DB, {
    before: (statements) => {
      if (statements > 2) throw new Error("D1_ERROR: D1 DB is overloaded.");
    },
  });
  await rebindCoordinator(vault, { DB });
  expect((await remove(vault)).status).toBe(503);
  await rebindCoordinator(vault, {});
}

describe("the deletion of a vault", () => {
  it("ends its webhooks without a message, also when an attempt to deliver an event ends after it", async () => {
    const { end } = holdTimeouts(1);
    const { vault, receiver, write } = await hookedVault();
    await receiver.behave("hang", 204);
    await write();
    await write();
    await deliveries(receiver, 1);
    await remove(vault);
    end(1);
    await ring(vault);
    expect(await progressOf(vault)).toEqual([]);
    expect(sequencesOf(await receiver.received())).toEqual([2]);
  });

  it("that fails ends no webhook", async () => {
    const { vault, receiver, write } = await hookedVault();
    await failToRemove(vault);
    advanceClock(2 * MINUTE);
    await ring(vault);
    expect((await write()).status).toBe(200);
    expect((await deliveries(receiver, 1, vault)).map(({ event }) => event.type)).toEqual(["item.created"]);
  });
});

describe("a restored database", () => {
  it("brings a deleted webhook back paused (contract 21.27)", async () => {
    const { vault, hook, receiver, write } = await hookedVault();
    const row = await env.DB.prepare("SELECT * FROM webhooks WHERE vault_id = ?").bind(vault).first();
    await admin("DELETE", hook);
    await withStorage(vault, ({ sql }) => void sql.exec("DELETE FROM webhooks")); // a day later
    await env.DB.prepare("INSERT INTO webhooks (vault_id, id, sealed, created_at) VALUES (?, ?, ?, ?)")
      .bind(row!["vault_id"], row!["id"], row!["sealed"], row!["created_at"])
      .run();
    expect((await admin("GET", hook)).body).toMatchObject({ state: "PAUSED", lastError: { kind: "restored" } });
    await admin("PATCH", hook, { body: { resume: "cursor" } });
    await write();
    await deliveries(receiver, 1);
  });

  it("that is without the vault for some minutes leaves its webhooks, which lose no event", async () => {
    runAlarmsByHand();
    const { vault, hook, receiver, write } = await hookedVault();
    await write();
    const DB = wrapDatabase(env.DB, { rewrite: (sql) => sql.replace("FROM vaults WHERE", "FROM vaults WHERE 0 AND") });
    await rebindCoordinator(vault, { DB });
    await ring(vault);
    await rebindCoordinator(vault, {});
    expect((await admin("GET", hook)).body).toMatchObject({ state: "ACTIVE", lastError: { kind: "restored" }, pending: 1 });
    await ringWhenDue(vault);
    expect(sequencesOf(await deliveries(receiver, 1, vault))).toEqual([2]);
  });

  it("without a webhook ends its deliveries", async () => {
    const { vault, receiver, write } = await hookedVault();
    await env.DB.prepare("DELETE FROM webhooks WHERE vault_id = ?").bind(vault).run();
    advanceClock(2 * MINUTE);
    await write();
    await ring(vault);
    expect(await progressOf(vault)).toEqual([]);
    expect(await receiver.received()).toEqual([]);
  });
});

describe("what is stored and logged of a webhook", () => {
  const lines = captureLog();

  it("contains no part of its URL, its secret or the answers of the receiver", async () => {
    const { vault, hook, hooks, secret, write } = await hookedVault();
    const word = canary();
    const url = `${newReceiver().url}/${word}?key=${canary()}`;
    const replies = [
      await admin("PATCH", hook, { body: { url, rotateSecret: true } }),
      await admin("POST", hooks, { body: { url: `${url}#${canary()}` } }),
      await admin("POST", hooks, { body: { url: `http://${canary()}.com/` } }),
      await admin("POST", hooks, { body: { url: `https://hooks.example.com/${canary()}`, enabled: false } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 400, 200]);
    await fetch(`${env.WEBHOOK_TEST_ORIGIN}/control${new URL(url).pathname}`, { method: "PUT", body: '["die",500]' });
    await write();
    await progressWith(vault, ({ failures }) => failures === 1);
    const own = await withStorage(vault, ({ sql }) => JSON.stringify(sql.exec("SELECT * FROM webhooks").toArray()));
    const dump = await dumpOfDatabase();
    const refused = replies.map(({ status, text }) => (status === 400 ? text : "")).join("");
    for (const place of [own, dump, refused, lines.join("\n")]) {
      expect(found(place)).toEqual([]);
      for (const one of [secret, replies[0]!.body.secret]) expect(place).not.toContain(one.replace("whsec_", ""));
    }
  });
});

describe("webhooks cost", () => {
  const addField = [{ op: "add", path: "/fields", value: { value: "x" } }];

  it("a write nothing: one D1 call and as many rows as without them; a vault without webhooks gets no alarm", async () => {
    const costs = [];
    for (const hooked of [false, true]) {
      const { vault, items, call } = await freshVault();
      const { id } = (await call("POST", items, { body: LOGIN })).body;
      if (hooked) await addWebhook(vault, newReceiver().url);
      const { count, db } = countingDatabase();
      await rebindCoordinator(vault, { DB: db });
      const setAlarm = await withStorage(vault, (storage) => vi.spyOn(storage, "setAlarm").mockResolvedValue(undefined));
      await call("PATCH", `${items}/${id}`, { body: addField });
      costs.push([{ ...count }, setAlarm.mock.calls.map(([, options]) => options)]);
    }
    const [[cost], [costWithWebhook]] = costs as [[object], [object]];
    expect(cost).toMatchObject({ calls: 1 });
    expect(costWithWebhook).toEqual(cost);
    // The answer to the write does not wait until the alarm is durable.
    expect(costs.map(([, alarms]) => alarms)).toEqual([[], [{ allowUnconfirmed: true }]]);
  });

  it("one D1 call when the alarm finds no event, two when it delivers to ten webhooks", async () => {
    const { vault, items, call } = await freshVault();
    const receiver = newReceiver();
    for (let n = 0; n < 10; n++) await addWebhook(vault, receiver.url);
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    await ringWhenDue(vault);
    expect(count).toMatchObject({ calls: 1, rowsWritten: 0 });
    vi.useRealTimers();
    await changeProgress(vault, { state: "DISABLED" });
    await call("POST", items, { body: LOGIN });
    await changeProgress(vault, { state: "ACTIVE", due: 1 });
    const before = { ...count };
    await ring(vault);
    expect(await receiver.received()).toHaveLength(10);
    expect([count.calls - before.calls, count.rowsWritten - before.rowsWritten]).toEqual([2, 0]);
  });
});
