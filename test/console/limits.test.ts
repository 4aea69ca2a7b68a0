import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { addPerson, serveTeam } from "../support/access.ts";
import { createConsoleSecret } from "../../src/crypto/console-secret.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import { deliver, drainQueue, idOf, recordingQueue, segmentEntries } from "../support/activity.ts";
import { countingDatabase, limiterOf, UNLIMITED } from "../support/bindings.ts";
import { browser, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { admin, client, freshVault, makeToken } from "../support/service.ts";
import { keyringOf } from "../support/root-keys.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** What limits sign-ins, and what they do not take from others (contract 12.1, 12.8, 13.10, 24.3 and 24.9). */

const signInAs = serveTeam();

afterEach(() => void vi.useRealTimers());

/** The limiter of failed authentications for an address that somebody else has used up. */
const USED_UP: Partial<Env> = { FAILURE_RATE: { limit: async () => ({ success: false }) } };
const headers = { "CF-Connecting-IP": "203.0.113.9" };

describe("behind an address from which an attacker sends invalid tokens", () => {
  it("the console learns that it has no session any more, instead of a 429", async () => {
    const { token } = await makeToken({});
    const ended = await signIn({ token });
    await browser(ended)("DELETE", "/console/session");
    for (const cookie of [undefined, ended])
      expect((await browser(cookie)("GET", "/console/session", { headers, env: USED_UP })).status).toBe(401);
    for (const path of ["/v1/vaults", "/v1/admin/vaults"])
      expect((await browser(ended)("GET", path, { headers, env: USED_UP })).status).toBe(401);
  });

  it("a cookie that this service did not make counts for the address, as a malformed token does", async () => {
    for (const path of ["/console/session", "/v1/vaults", "/v1/admin/vaults"])
      expect((await browser("A".repeat(43))("GET", path, { headers, env: USED_UP })).status).toBe(429);
  });

  it("a person signs in, and one without a token of Access is told that there is none", async () => {
    const { email } = await addPerson();
    expect((await signInAs(email, USED_UP)).status).toBe(200);
    const nobody = await browser(undefined)("POST", "/console/session", { body: {}, headers, env: USED_UP });
    expect(nobody.status).toBe(401);
  });
});

/** Sends requests with each cookie. Out: the calls of D1. */
async function callsOf(cookies: readonly string[], path: string): Promise<number> {
  const { count, db } = countingDatabase();
  const queue = recordingQueue();
  const bindings = { ...queue.bindings, DB: db };
  for (const cookie of cookies)
    for (let request = 0; request < 30; request++) {
      expect((await browser(cookie)("GET", path, { env: bindings })).status).toBe(401);
      queue.drop();
    }
  return count.calls;
}

describe("behind an address that sends cookies of 5,000 ended sessions", () => {
  it("they cost D1 some calls only, people sign in and out, and living sessions go on", async () => {
    const { token } = await makeToken({});
    const limiters = { SESSION_RATE: limiterOf(50), FAILURE_RATE: limiterOf(1), TOKEN_RATE: UNLIMITED };
    const at = (address: string, more: Partial<Env> = {}) => ({
      headers: { "CF-Connecting-IP": address },
      env: { ...limiters, ...more } as Partial<Env>,
    });
    const [flooded, elsewhere] = [at("203.0.113.20"), at("203.0.113.21")];
    const living = await signIn({ token }, undefined, flooded);
    const { count, db } = countingDatabase();
    const keyring = await keyringOf(env);
    const cookies: string[] = [];
    for (let made = 0; made < 5_000; made++) cookies.push((await createConsoleSecret(keyring, "session")).text);
    // A flood lasts for 10 s, and the cookies take longer on a loaded machine.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const statuses = new Map<number, number>();
    for (const cookie of cookies) {
      const { status } = await browser(cookie)("GET", "/console/session", at("203.0.113.20", { DB: db }));
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([statuses, count.calls]).toEqual([
      new Map([
        [401, 51],
        [429, 4_949],
      ]),
      51,
    ]);
    // What was refused before is so again, and signing out asks no D1 either.
    expect((await browser(cookies[0])("GET", "/v1/vaults", flooded)).status).toBe(401);
    expect((await browser(cookies.at(-1))("DELETE", "/console/session", at("203.0.113.20", { DB: db }))).status).toBe(429);
    expect(count.calls).toBe(51);
    expect((await browser(cookies.at(-1))("GET", "/console/session", elsewhere)).status).toBe(401);
    for (const path of ["/console/session", "/v1/vaults"]) expect((await browser(living)("GET", path, flooded)).status).toBe(200);
    advanceClock(9_000);
    const signedIn = await signIn({ token }, cookies.at(-2), flooded);
    for (const path of ["/console/session", "/v1/vaults"])
      expect((await browser(signedIn)("GET", path, flooded)).status).toBe(200);
    expect((await browser(living)("DELETE", "/console/session", flooded)).status).toBe(204);
    expect((await browser(living)("GET", "/console/session", flooded)).status).toBe(401);
  });

  it("a cookie of one is asked about again when the time of Retry-After is over", async () => {
    const SESSION_RATE = { limit: async () => ({ success: false }) };
    const keyring = await keyringOf(env);
    const request = async () => {
      const { text } = await createConsoleSecret(keyring, "session");
      return browser(text)("GET", "/console/session", { headers: { "CF-Connecting-IP": "203.0.113.22" }, env: { SESSION_RATE } });
    };
    expect((await request()).status).toBe(401);
    const limited = await request();
    expect([limited.status, limited.headers.get("Retry-After")]).toEqual([429, "10"]);
    advanceClock(10_000);
    expect((await request()).status).toBe(401);
  });
});

describe("a session that has ended", () => {
  it("is limited as a token is, because each request with it costs a D1 call", async () => {
    const { token } = await makeToken({});
    const ended = await signIn({ token });
    await browser(ended)("DELETE", "/console/session");
    const TOKEN_RATE = { limit: async () => ({ success: false }) };
    const statuses = new Set<number>();
    for (let request = 0; request < 50; request++)
      statuses.add((await browser(ended)("GET", "/console/session", { env: { TOKEN_RATE } })).status);
    expect(statuses).toEqual(new Set([401, 429]));
  });

  it("is looked up once in a minute: ten cookies of a revoked token cost ten D1 calls, whatever they are sent with", async () => {
    const { token, id } = await makeToken({});
    const cookies: string[] = [];
    for (let made = 0; made < 10; made++) cookies.push(await signIn({ token }, undefined, { env: { TOKEN_RATE: UNLIMITED } }));
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect(await callsOf(cookies, "/console/session")).toBe(cookies.length);
    for (const path of ["/console/session", "/v1/vaults", "/v1/admin/vaults"]) expect(await callsOf(cookies, path)).toBe(0);
    advanceClock(61_000);
    expect(await callsOf(cookies.slice(0, 1), "/v1/vaults")).toBe(1);
  });
});

describe("a revoked token and a used code", () => {
  it("are looked up once in a minute", async () => {
    const { vault, items } = await freshVault();
    const { id, token } = await makeToken({ [vault]: "rw" });
    const { code } = (await client(token)("POST", "/v1/sign-in-codes")).body;
    await signIn({ code });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const { count, db } = countingDatabase();
    const queue = recordingQueue();
    const bindings = { ...queue.bindings, DB: db, FAILURE_RATE: UNLIMITED, TOKEN_RATE: UNLIMITED };
    for (let request = 0; request < 10; request++) {
      queue.drop();
      expect((await client(token)("GET", items, { env: bindings })).status).toBe(401);
      expect((await client(token)("POST", items, { body: {}, env: bindings })).status).toBe(401);
      for (const body of [{ token }, { code }])
        expect((await browser(undefined)("POST", "/console/session", { body, env: bindings })).status).toBe(401);
    }
    expect(count.calls).toBe(2);
  });
});

describe("signing in", () => {
  const signingIn: Record<string, (bindings: Partial<Env>) => Promise<{ status: number }>> = {
    "with a token": async (bindings) => {
      const { token } = await makeToken({});
      return browser(undefined)("POST", "/console/session", { body: { token }, env: bindings });
    },
    "as a person": async (bindings) => {
      const { email } = await addPerson();
      return signInAs(email, bindings);
    },
    "with a code, of which the making counts": async (bindings) => {
      const { token } = await makeToken({});
      return client(token)("POST", "/v1/sign-in-codes", { env: bindings });
    },
  };

  it.each(Object.keys(signingIn))("%s counts as 50 requests of the token, because it writes", async (how) => {
    const asked: string[] = [];
    const limiter = (success: boolean) => ({
      limit: async ({ key: counted }: { key: string }) => ({ success: asked.push(counted) > 0 && success }),
    });
    expect((await signingIn[how]!({ TOKEN_RATE: limiter(true) })).status).toBe(200);
    expect(asked).toHaveLength(1);
    expect((await signingIn[how]!({ TOKEN_RATE: limiter(false) })).status).toBe(429);
  });

  it("by Access is limited before the look-up for somebody whom nobody has invited", async () => {
    const { count, db } = countingDatabase();
    const email = `${crypto.randomUUID()}@example.com`;
    const bindings = { ...recordingQueue().bindings, DB: db, FAILURE_RATE: UNLIMITED, TOKEN_RATE: limiterOf(40) };
    const statuses: number[] = [];
    for (let request = 0; request < 60; request++) statuses.push((await signInAs(email, bindings)).status);
    expect(statuses).toEqual(Array.from({ length: 60 }, (_, place) => (place < 40 ? 403 : 429)));
    // The person, the rules of the issuer, and whether a root key is missing.
    expect(count.calls).toBeLessThanOrEqual(3 * 40);
  });

  it("fills no log: the entries count as reads do, of which the oldest go", async () => {
    const { token } = await makeToken({});
    const { rows, bindings } = recordingQueue();
    await browser(undefined)("POST", "/console/session", { body: { token }, env: bindings });
    await vi.waitFor(() => expect(rows).toMatchObject([{ resource: "SESSION" }]), UNDER_LOAD);
    await drainQueue();
    const origin = { userAgent: "x".repeat(256), requestIp: "" };
    const copies = Array.from({ length: 2_500 }, (_, place) => ({ ...rows[0]!, origin, id: idOf(place) }));
    await deliver(copies, { ACTIVITY_MAX_MB: 1 });
    const left = (await segmentEntries(NOWHERE)).filter(({ id }) => id < idOf(2_500));
    expect([left.length > 1_000, left.length < 2_400]).toEqual([true, true]);
    expect(left[0]!.id).toBe(idOf(2_500 - left.length));
  });
});
