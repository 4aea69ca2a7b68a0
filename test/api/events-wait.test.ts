import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Listener, admit, channels, listeners } from "../../src/http/events/hub.ts";
import { check } from "../../src/http/events/reads.ts";
import { LIMITS } from "../../src/model/limits.ts";
import { countingDatabase, rebindCoordinator, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { browser, signIn } from "../support/console.ts";
import { anyAsleep, isAsleep, listening } from "../support/listening.ts";
import { pasted, redeem, servePeople } from "../support/logins.ts";
import { admin, type Client, client, freshVault, LOGIN, makeToken, type Reply } from "../support/service.ts";
import { realSleep, until } from "../support/waits.ts";

/** `wait`: a request for events that is answered when there is one (contract 15.6, 15.10), and the places for such requests (contract 15.11). */

// The first request checks the tokens of the isolate at once, and the next check is 12 s later.
beforeEach(() => void (check.due = 0));

afterEach(() => {
  vi.useRealTimers();
  if (listeners.size + channels.size > 0) throw new Error("a request still waits for events");
});

async function fresh() {
  const own = await freshVault();
  const path = `/v1/vaults/${own.vault}/events`;
  const { last } = (await own.call("GET", `${path}?after=latest`)).body;
  /** Waits for events after the creation of the vault. */
  const wait = (seconds = 30, as: Client = own.call, bindings: Partial<Env> = {}): Promise<Reply> =>
    as("GET", `${path}?after=${last}&wait=${seconds}`, { env: bindings });
  const write = () => own.call("POST", own.items, { body: LOGIN });
  return { ...own, path, last, wait, write };
}

/** A request that the platform has ended a minute ago, for example because its client has disconnected. */
const endedListener = (): Listener => waitingListener(crypto.randomUUID(), Date.now() - 60_000);

/** A request that waits, of a token that the admin has issued. */
const waitingListener = (id: string, now = Date.now()): Listener => ({
  token: { id, hash: "" },
  family: id,
  vaults: () => [],
  woken: false,
  resolve: undefined,
  seenAt: now,
  checkedAt: now,
  revoked: false,
  displaced: false,
});

const people = servePeople();

/** Returns what requests of each of the tokens are answered while another of their family has all its places. */
async function answersBeside(top: string, vault: string, tokens: readonly string[]): Promise<readonly (readonly number[])[]> {
  const waiting = tokens.map((token) => client(token)("GET", `/v1/vaults/${vault}/events?after=latest&wait=1`));
  await until(() => listeners.size === tokens.length);
  expect([...listeners].map(({ family }) => family)).toEqual(tokens.map(() => top));
  await Promise.all(waiting);
  for (let n = 0; n < LIMITS.tokenListeners; n++) listeners.add(waitingListener(top));
  const statusesOf = async (path: string, headers: Record<string, string> = {}) =>
    Promise.all(tokens.map(async (token) => (await client(token)("GET", path, { headers })).status));
  const path = `/v1/vaults/${vault}/events`;
  const waits = await statusesOf(`${path}?after=latest&wait=1`);
  const streams = await statusesOf(path, { Accept: "text/event-stream" });
  const all = await statusesOf("/v1/events", { Accept: "text/event-stream" });
  listeners.clear();
  return [waits, streams, all];
}

const anyoneSleeps = (): boolean => [...listeners].some(isAsleep);

const numbersOf = ({ body }: Reply): number[] => body.events.map(({ sequence }: { sequence: number }) => sequence);

describe("a request with `wait`", () => {
  it("is answered at once when there are events", async () => {
    const { wait, write } = await fresh();
    await write();
    expect(numbersOf(await wait())).toEqual([2]);
  });

  it("is answered by the next write, which the coordinator tells of: one D1 call for the first page, one check, one read", async () => {
    const own = await fresh();
    const { count, db } = countingDatabase();
    const reply = own.wait(30, own.call, { DB: db });
    await listening(own.vault);
    const before = count.calls;
    await own.write();
    expect(numbersOf(await reply)).toEqual([2]);
    expect(count.calls - before).toBe(1);
    expect(before).toBeLessThanOrEqual(3);
  });

  it("is answered without events when the time is over, and the next one continues", async () => {
    const { wait, last, write, call, path } = await fresh();
    const { status, body } = await wait(1);
    expect([status, body]).toEqual([200, { events: [], last }]);
    await write();
    expect(numbersOf(await call("GET", `${path}?after=${body.last}&wait=1`))).toEqual([2]);
  });

  it("shares one read of a write with the other requests of the isolate", async () => {
    const own = await fresh();
    const { count, db } = countingDatabase();
    const replies = Array.from({ length: 20 }, () => own.wait(30, own.call, { DB: db }));
    await listening(own.vault, 20);
    const before = count.calls;
    await own.write();
    expect((await Promise.all(replies)).map(numbersOf)).toEqual(replies.map(() => [2]));
    expect(count.calls - before).toBe(1);
  });

  it("goes on when the request that holds the WebSocket ends", async () => {
    const own = await fresh();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const first = own.wait(1);
    await listening(own.vault);
    const second = own.wait();
    await listening(own.vault, 2);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(numbersOf(await first)).toEqual([]);
    await listening(own.vault);
    await own.write();
    expect(numbersOf(await second)).toEqual([2]);
  });

  it.each([1, 2, 3, 4, 5])("with limit=%i skips none of five events that arrive at once", async (limit) => {
    const own = await fresh();
    let [held, open] = [false, () => {}];
    const gate = new Promise<void>((resolve) => void (open = resolve));
    const DB = wrapDatabase(env.DB, { before: () => (held ? gate : undefined) });
    const from = (after: string, wait: number, bindings: Partial<Env> = {}) =>
      own.call("GET", `${own.path}?after=${after}&wait=${wait}&limit=${limit}`, { env: bindings });
    const first = from(own.last, 30, { DB });
    await listening(own.vault);
    held = true;
    for (let n = 0; n < 5; n++) await own.write();
    open();
    const pages = [await first];
    for (let n = limit; n < 5; n += limit) pages.push(await from(pages.at(-1)!.body.last, 0));
    expect(pages.flatMap(numbersOf)).toEqual([2, 3, 4, 5, 6]);
    expect(numbersOf(pages[0]!)).toHaveLength(limit);
  });

  it("is answered within 2 s by a write between its first page and its connection to the coordinator", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const own = await fresh();
    const real = env.COORDINATOR.getByName(own.vault);
    const connect = async (url: string, request: RequestInit) => {
      await own.write();
      return real.fetch(url, request);
    };
    const COORDINATOR = { getByName: () => ({ fetch: connect }) } as unknown as Env["COORDINATOR"];
    let reply: Reply | undefined;
    void own.wait(30, own.call, { COORDINATOR }).then((answer) => (reply = answer));
    await until(() => reply !== undefined || anyoneSleeps());
    await vi.advanceTimersByTimeAsync(2_000);
    await until(() => reply !== undefined);
    expect(numbersOf(reply!)).toEqual([2]);
  });

  it("finds a write that the coordinator told nobody of at the next check", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const own = await fresh();
    const reply = own.wait();
    await listening(own.vault);
    const channel = channels.get(own.vault)!;
    // The coordinator writes without the sockets that it has accepted, as one that was started anew does.
    await own.call("POST", own.items, { body: LOGIN, env: { COORDINATOR: secondCoordinator(own.vault) } });
    await realSleep(50);
    expect(channel.stale).toBe(false);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(numbersOf(await reply)).toEqual([2]);
  });

  it("is a 401 within 15 s when the token is revoked", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const own = await fresh();
    const { id, token } = await makeToken({ [own.vault]: "r" });
    const reply = own.wait(30, client(token));
    await listening(own.vault);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    await vi.advanceTimersByTimeAsync(15_000);
    expect((await reply).status).toBe(401);
  });

  it("is a 401 within 15 s when the session that waits signs out", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const own = await fresh();
    const { token } = await makeToken({ [own.vault]: "r" });
    const session = browser(await signIn({ token }));
    const reply = own.wait(30, session);
    await listening(own.vault);
    await session("DELETE", "/console/session");
    await vi.advanceTimersByTimeAsync(15_000);
    expect((await reply).status).toBe(401);
  });

  it("is a 404 when the vault is deleted", async () => {
    const own = await fresh();
    const reply = own.wait();
    await listening(own.vault);
    await admin("DELETE", `/v1/admin/vaults/${own.vault}`);
    expect((await reply).status).toBe(404);
  });

  it("works while the coordinator accepts no WebSocket", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"], now: Date.now() });
    const own = await fresh();
    const stub = { fetch: () => Promise.reject(new TypeError("The receiver does not implement the method fetch")) };
    const COORDINATOR = { getByName: () => stub } as unknown as Env["COORDINATOR"];
    const reply = own.wait(30, own.call, { COORDINATOR });
    await anyAsleep();
    await own.write();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(numbersOf(await reply)).toEqual([2]);
  });

  it("connects again when the coordinator was evicted", async () => {
    const own = await fresh();
    const reply = own.wait();
    await listening(own.vault);
    await renewCoordinator(own.vault, {});
    await listening(own.vault);
    await own.write();
    expect(numbersOf(await reply)).toEqual([2]);
  });

  it("waits on while D1 does not answer its checks", async () => {
    const own = await fresh();
    let [failing, failures] = [false, 0];
    const DB = wrapDatabase(env.DB, {
      before: () => {
        if (!failing) return;
        failures++;
        throw new Error("D1_ERROR: Network connection lost.");
      },
    });
    const reply = own.wait(30, own.call, { DB });
    await listening(own.vault);
    failing = true;
    await own.write();
    await until(() => failures > 0);
    failing = false;
    expect(numbersOf(await reply)).toEqual([2]);
  });

  it("is not refused because of requests that have ended without notice", async () => {
    const own = await fresh();
    for (let n = 0; n < LIMITS.listeners; n++) listeners.add(endedListener());
    expect((await own.wait(1)).status).toBe(200);
  });

  it("gets a place when two other tokens have taken all of them, and no more than its share", async () => {
    const [own, third] = [await fresh(), crypto.randomUUID()];
    const [first, ...others] = Array.from({ length: LIMITS.listeners }, (_, n) => waitingListener(n % 2 ? "one" : "two"));
    for (const listener of [first!, ...others]) listeners.add(listener);
    expect((await own.wait(1)).status).toBe(200);
    expect([first!.displaced, listeners.has(first!), others.some(({ displaced }) => displaced)]).toEqual([true, false, false]);
    listeners.add(waitingListener("one"));
    let places = 0;
    for (; admit(third).ok; places++) listeners.add(waitingListener(third));
    expect([places, listeners.size]).toEqual([Math.floor(LIMITS.listeners / 3), LIMITS.listeners]);
    const counts = Map.groupBy(listeners, ({ token }) => token.id);
    expect([counts.get("one")!.length, counts.get("two")!.length].map((count) => count >= 666)).toEqual([true, true]);
    expect(admit("one").ok).toBe(false);
    listeners.clear();
  });

  it("shares the places of one token with the tokens below it", async () => {
    const { vault } = await fresh();
    const root = await makeToken({ [vault]: "r" }, { delegate: true });
    const below = async (above: { token: string }) =>
      (await client(above.token)("POST", "/v1/tokens", { body: { name: "x", vaults: { [vault]: "r" }, delegate: true } })).body;
    const child = await below(root);
    const tokens = [root, child, await below(child)].map(({ token }) => token);
    const refused = tokens.map(() => 429);
    expect(await answersBeside(root.id, vault, tokens)).toEqual([refused, refused, refused]);
  });

  it("shares the places of a person with the tokens of all logins of the person", async () => {
    const { vault } = await fresh();
    const person = await people({ [vault]: "r" });
    const login = async () => (await redeem(await pasted(person, { vaults: { [vault]: "r" } }))).body.token as string;
    const tokens = [await login(), await login()];
    const refused = tokens.map(() => 429);
    expect(await answersBeside(person.id, vault, tokens)).toEqual([refused, refused, refused]);
  });

  it("keeps its place when another token asks for the head of a stream and all places are taken", async () => {
    const own = await fresh();
    const taken = Array.from({ length: LIMITS.listeners }, () => waitingListener("one"));
    for (const listener of taken) listeners.add(listener);
    const { status } = await own.call("HEAD", own.path, { headers: { Accept: "text/event-stream" } });
    listeners.clear();
    expect([status, taken.some(({ displaced }) => displaced)]).toEqual([200, false]);
  });

  it("that has to make room for another token is answered without events", async () => {
    const own = await fresh();
    const reply = own.wait();
    await listening(own.vault);
    const [{ token }] = [...listeners] as [Listener];
    const others = Array.from({ length: LIMITS.listeners - 1 }, (_, n) => waitingListener(n < 900 ? token.id : `token ${n % 2}`));
    for (const other of others) listeners.add(other);
    expect(admit("another").ok).toBe(true);
    for (const other of others) listeners.delete(other);
    expect([(await reply).status, (await reply).body]).toEqual([200, { events: [], last: own.last }]);
  });

  it("does not delay a write, nor does a WebSocket that fails", async () => {
    const own = await fresh();
    const reply = own.wait();
    await listening(own.vault);
    await rebindCoordinator(own.vault, {});
    expect((await own.write()).status).toBe(200);
    expect(numbersOf(await reply)).toEqual([2]);
  });
});

/** A coordinator of the vault beside the one that has the WebSockets. */
const secondCoordinator = (vault: string): Env["COORDINATOR"] =>
  ({ getByName: () => env.COORDINATOR.getByName(`${vault} again`) }) as unknown as Env["COORDINATOR"];
