import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { channels, listeners } from "../../src/http/events/hub.ts";
import { check } from "../../src/http/events/reads.ts";
import { countingDatabase, wrapDatabase } from "../support/bindings.ts";
import { openEvents, type Received, type Stream } from "../support/events.ts";
import { anyAsleep, endListening, listening } from "../support/listening.ts";
import { snapshotVault } from "../support/restore.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, type Permission } from "../support/service.ts";
import { realSleep, UNDER_LOAD, until } from "../support/waits.ts";

/** Events as a stream of server-sent events: of one vault (contract 15.7, 15.8), and of all vaults of a token (15.9). */

// The first stream checks the tokens of the isolate at once, and the next check is 12 s later.
beforeEach(() => void (check.due = 0));

afterEach(endListening);

async function fresh(dialect: "uuid" | "connect" = "uuid") {
  const own = await freshVault(dialect);
  const path = `/v1/vaults/${own.vault}/events`;
  const create = async (): Promise<string> => (await own.call("POST", own.items, { body: LOGIN })).body.id;
  const open = (query = "", lastId?: string, bindings: Partial<Env> = {}) =>
    openEvents(own.token, path + query, { lastId, env: bindings });
  return { ...own, path, create, open };
}

const numbers = (events: readonly (Received | undefined)[]) => events.map((event) => event?.data.sequence);
/** Sets the clock and the timers forward by so many seconds, or until a condition holds. In: what each second waits for. */
async function pass(seconds: number, { settled = anyAsleep, stop = (): boolean => false } = {}): Promise<void> {
  for (let passed = 0; passed < seconds && !stop(); passed++) {
    await vi.advanceTimersByTimeAsync(1_000);
    await realSleep(5);
    await settled();
  }
}

/** The stream takes the next event; when it waits, `act` runs. */
async function nextAfter(stream: Stream, act: () => Promise<unknown>): Promise<Received | undefined> {
  const next = stream.next();
  await anyAsleep();
  await act();
  return next;
}

describe("a stream of the events of a vault", () => {
  it("has a block for each event: id, type and the JSON of the list", async () => {
    const { open, create, call, path, vault } = await fresh();
    const item = await create();
    const stream = await open("?after=0");
    expect(stream.response.headers.get("Content-Type")).toBe("text/event-stream");
    expect(stream.response.headers.get("Cache-Control")).toBe("no-store, no-transform");
    const first = await stream.take(2);
    const second = await nextAfter(stream, () => call("DELETE", `/v1/vaults/${vault}/items/${item}`));
    await stream.close();
    const { body } = await call("GET", path);
    expect([...first, second].map((event) => event!.data)).toEqual(body.events);
    expect([...first, second].map((event) => event!.type)).toEqual(["vault.created", "item.created", "item.deleted"]);
    expect(stream.lastId()).toBe(body.last);
  });

  it("begins with the next write, and tells its position before the first event", async () => {
    const { open, create } = await fresh();
    await create();
    const stream = await open();
    const [event] = [await nextAfter(stream, create)];
    expect(event!.data.sequence).toBe(3);
    await stream.close();
    const idle = await open();
    const pending = idle.next();
    await vi.waitFor(() => expect(idle.lastId()).toMatch(/^3-/), UNDER_LOAD);
    await create();
    expect((await pending)!.data.sequence).toBe(4);
    await idle.close();
  });

  it("continues after the event of `Last-Event-ID`, whatever `after` says", async () => {
    const { open, create } = await fresh();
    await create();
    await create();
    const first = await open("?after=0");
    await first.next();
    const id = first.lastId();
    await first.close();
    const second = await open("?after=latest", id);
    expect(numbers(await second.take(2))).toEqual([2, 3]);
    await second.close();
  });

  it("misses and repeats no event when it is cut off anywhere and resumed", async () => {
    const { open, create } = await fresh();
    for (let count = 0; count < 5; count++) await create();
    const got: number[] = [];
    let lastId: string | undefined;
    for (let taken = 0; got.length < 6; taken = (taken + 1) % 3) {
      const stream = await open("?after=0", lastId);
      for (const event of await stream.take(Math.min(taken, 6 - got.length))) got.push(event.data.sequence);
      lastId = stream.lastId() || lastId;
      await stream.close();
    }
    expect(got).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("has an event that comes during a read of the events within 2 s", async () => {
    const { open, call, items, vault } = await fresh();
    const write = () => call("POST", items, { body: LOGIN });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    let [reading, held, release] = [false, false, () => {}];
    const gate = new Promise<void>((resolve) => void (release = resolve));
    const DB = wrapDatabase(env.DB, {
      // The events were read, and the answer of D1 is on its way.
      after: () => (held ? ((reading = true), gate) : undefined),
    });
    const stream = await open("", undefined, { DB });
    const received: (Received | undefined)[] = [];
    const taken = stream.next().then(async (event) => received.push(event, await stream.next()));
    await listening(vault);
    held = true;
    await write();
    await until(() => reading);
    const { hint } = channels.get(vault)!;
    await write();
    await until(() => channels.get(vault)!.hint !== hint);
    held = false;
    release();
    await vi.advanceTimersByTimeAsync(2_000);
    await until(() => received.length === 2);
    expect(numbers(received)).toEqual([2, 3]);
    await taken;
    await stream.close();
  });

  it("reads on from D1 when the client is far behind", async () => {
    const { open, create } = await fresh();
    await Promise.all(Array.from({ length: 30 }, create));
    const live = await open();
    const slow = await open("?after=0");
    const taken = slow.take(31);
    expect(numbers(await taken)).toEqual(Array.from({ length: 31 }, (_, index) => index + 1));
    await live.close();
    await slow.close();
  });

  it("has a comment every 15 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const { open, create, vault } = await fresh();
    const stream = await open();
    const next = stream.next();
    await listening(vault);
    await pass(48);
    await until(() => stream.comments() >= 3);
    expect(stream.comments()).toBe(3);
    await create();
    await next;
    await stream.close();
  });

  it("ends within 15 s when the token is revoked", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const { path, vault } = await fresh();
    const { id, token } = await makeToken({ [vault]: "r" });
    const stream = await openEvents(token, path);
    const next = stream.next();
    await listening(vault);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await next).toBeUndefined();
  });

  it("gives a client that reads slowly nothing that was written 15 s after its token was revoked", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const { path, vault, open, create } = await fresh();
    const other = await open();
    const pending = other.next();
    await listening(vault);
    const { id, token } = await makeToken({ [vault]: "r" });
    const slow = await openEvents(token, path);
    await until(() => channels.get(vault)?.listeners.size === 2);
    await pass(90, { stop: () => listeners.size === 1 });
    expect(listeners.size).toBe(1);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await pass(16);
    await create();
    expect((await pending)!.data.sequence).toBe(2);
    const rest = slow.next();
    await pass(15, { settled: () => realSleep(5) });
    expect(await rest).toBeUndefined();
    await other.close();
  });

  it("ends when the token expires", async () => {
    const { path, vault } = await fresh();
    const { token } = await makeToken({ [vault]: "r" }, { expiresIn: 2 });
    const stream = await openEvents(token, path);
    expect(await stream.next()).toBeUndefined();
  });

  it("tells of the deletion of the vault and ends", async () => {
    const { open, vault } = await fresh("connect");
    const stream = await open();
    const event = await nextAfter(stream, () => admin("DELETE", `/v1/admin/vaults/${vault}`));
    expect(event).toMatchObject({ type: "vault.deleted", data: { vault: expect.stringMatching(/^[a-z2-7]{26}$/) } });
    expect(await stream.next()).toBeUndefined();
  });

  it("ends with `reset` when a restored database has lost its position; its id continues at the newest write", async () => {
    const { open, create, vault } = await fresh();
    await create();
    const restore = await snapshotVault(vault);
    await create();
    const stream = await open();
    const event = await nextAfter(stream, async () => {
      await restore();
      await create();
    });
    expect(event).toMatchObject({ type: "reset", data: { vault } });
    expect(await stream.next()).toBeUndefined();
    const again = await open("", stream.lastId());
    const next = await nextAfter(again, create);
    expect(next!.data.sequence).toBe(4);
    await again.close();
  });

  it("that continues at a position which is gone is a 410", async () => {
    const { open } = await fresh();
    const stream = await open("", "900-a");
    expect([stream.response.status, stream.response.headers.get("Item-Vault-Error")]).toEqual([410, "cursor_gone"]);
    await stream.close();
  });

  it("has no body as the answer to HEAD, and then waits for nothing", async () => {
    const { call, path } = await fresh();
    const { status, headers, text } = await call("HEAD", path, { headers: { Accept: "text/event-stream" } });
    expect([status, headers.get("Content-Type"), text]).toEqual([200, "text/event-stream", ""]);
    expect(listeners.size).toBe(0);
  });

  it("shares the reads of a write with the other streams of the isolate", async () => {
    const { open, create, vault } = await fresh();
    const { count, db } = countingDatabase();
    const streams = await Promise.all(Array.from({ length: 50 }, () => open("", undefined, { DB: db })));
    const events = streams.map((stream) => stream.next());
    await listening(vault, 50);
    const before = count.calls;
    await create();
    expect(numbers(await Promise.all(events))).toEqual(streams.map(() => 2));
    expect(count.calls - before).toBe(1);
    await Promise.all(streams.map((stream) => stream.close()));
  });
});

/** Vaults, a token for all of them, and a function that writes into the vault of a number. */
async function vaultsWith(count: number, permission: Permission = "rw") {
  const vaults = await Promise.all(Array.from({ length: count }, () => makeVault()));
  const { id, token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, permission])));
  const call = client(token);
  const write = (index: number) => call("POST", `/v1/vaults/${vaults[index]}/items`, { body: LOGIN });
  const open = (query = "", lastId?: string) => openEvents(token, `/v1/events${query}`, { lastId });
  return { vaults, id, token, call, write, open };
}

describe("the stream of all vaults of a token", () => {
  it("has the events of each vault, with its id", async () => {
    const { vaults, write, open } = await vaultsWith(3);
    const stream = await open();
    const first = await nextAfter(stream, () => write(1));
    const second = await nextAfter(stream, () => write(0));
    expect([first, second].map((event) => event!.data)).toEqual([
      expect.objectContaining({ vault: vaults[1], sequence: 2, type: "item.created" }),
      expect.objectContaining({ vault: vaults[0], sequence: 2, type: "item.created" }),
    ]);
    await stream.close();
  });

  it("continues in every vault after `Last-Event-ID`", async () => {
    const { vaults, write, open } = await vaultsWith(3);
    const stream = await open("?after=0");
    const got: string[] = [];
    let lastId = "";
    const take = async (from: Stream, count: number) => {
      for (const { data } of await from.take(count)) got.push(`${vaults.indexOf(data.vault)}:${data.sequence}`);
      lastId = from.lastId();
      await from.close();
    };
    await take(stream, 2);
    for (const index of [0, 1, 1, 2, 0]) await write(index);
    await take(await open("", lastId), 3);
    await take(await open("", lastId), 3);
    expect(got.toSorted()).toEqual(["0:1", "0:2", "0:3", "1:1", "1:2", "1:3", "2:1", "2:2"]);
    for (const vault of ["0", "1", "2"]) {
      const own = got.filter((one) => one.startsWith(vault));
      expect(own).toEqual(own.toSorted());
    }
  });

  it("tells of the deletion of a vault and goes on, also when that was deleted before it continued", async () => {
    const { vaults, write, open } = await vaultsWith(3);
    const stream = await open();
    const event = await nextAfter(stream, () => admin("DELETE", `/v1/admin/vaults/${vaults[0]}`));
    expect(event).toMatchObject({ type: "vault.deleted", data: { vault: vaults[0] } });
    const lastId = stream.lastId();
    await stream.close();
    await admin("DELETE", `/v1/admin/vaults/${vaults[1]}`);
    const again = await open("", lastId);
    expect(await again.next()).toMatchObject({ type: "vault.deleted", data: { vault: vaults[1] } });
    expect(await nextAfter(again, () => write(2))).toMatchObject({ data: { vault: vaults[2], sequence: 2 } });
    await again.close();
  });

  it("ends within 15 s when the token is revoked, also while the coordinators of 20 vaults do not answer", async () => {
    const vaults = await Promise.all(Array.from({ length: 20 }, () => makeVault("Slow")));
    const { id, token } = await makeToken(Object.fromEntries(vaults.map((vault) => [vault, "r" as const])));
    const stub = { fetch: () => new Promise<never>(() => undefined) };
    const COORDINATOR = { getByName: () => stub } as unknown as Env["COORDINATOR"];
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const stream = await openEvents(token, "/v1/events", { env: { COORDINATOR } });
    const next = stream.next();
    await until(() => listeners.size === 1);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    // No second waits for D1, because the stream waits for the coordinators. The clock stands still afterwards.
    await pass(15, { settled: () => realSleep(5) });
    expect(await next).toBeUndefined();
  });

  it("leaves out vaults that the token may not read (contract 8.6)", async () => {
    const { open } = await vaultsWith(2, "w");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const stream = await open("?after=0");
    const next = stream.next();
    await anyAsleep();
    await stream.close();
    expect(await next).toBeUndefined();
  });

  it.each(["", "900-a", "1.", "1", "2", "%", "1.00000000-900"])("is a 400 or begins anew with the id %j", async (id) => {
    const { open } = await vaultsWith(1);
    const stream = await open("", id);
    expect(stream.response.status).toBe(["", "1"].includes(id) ? 200 : 400);
    await stream.close();
  });

  it("is a 410 when its position in a vault is gone", async () => {
    const { vaults, write, open } = await vaultsWith(2);
    const restore = await snapshotVault(vaults[0]!);
    const stream = await open();
    await nextAfter(stream, () => write(0));
    await stream.close();
    await restore();
    const again = await open("", stream.lastId());
    expect(again.response.status).toBe(410);
    await again.close();
  });
});
