import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createConsoleSecret } from "../../src/crypto/console-secret.ts";
import { NOWHERE } from "../../src/crypto/seal.ts";
import type { Activity } from "../../src/model/activity.ts";
import { addPerson, newKey, newTeam, serveTeam, signInByAccess, tokenOf } from "../support/access.ts";
import { deliver, drainQueue, idOf, recordingQueue, segmentEntries } from "../support/activity.ts";
import { countingDatabase, limiterOf, UNLIMITED } from "../support/bindings.ts";
import { browser, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { keyringOf } from "../support/root-keys.ts";
import { admin, client, freshVault, makeToken, type Request_, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** What limits sign-ins, and what they do not take from others (contract 12.1, 12.8, 13.10, 24.3 and 24.9). */

const signInAs = serveTeam();

afterEach(() => void vi.useRealTimers());

/** The limiter of failed authentications for an address that somebody else has used up. */
const USED_UP: Partial<Env> = { FAILURE_RATE: { limit: async () => ({ success: false }) } };
const ATTACKED = { "CF-Connecting-IP": "203.0.113.9" };

describe("behind an address from which an attacker sends invalid tokens", () => {
  it("the console learns that it has no session any more, instead of a 429", async () => {
    const { token } = await makeToken({});
    const ended = await signIn({ token });
    await browser(ended)("DELETE", "/console/session");
    for (const cookie of [undefined, ended])
      expect((await browser(cookie)("GET", "/console/session", { headers: ATTACKED, env: USED_UP })).status).toBe(401);
    for (const path of ["/v1/vaults", "/v1/admin/vaults"])
      expect((await browser(ended)("GET", path, { headers: ATTACKED, env: USED_UP })).status).toBe(401);
  });

  it("a cookie that this service did not make counts for the address, as a malformed token does", async () => {
    for (const path of ["/console/session", "/v1/vaults", "/v1/admin/vaults"])
      expect((await browser("A".repeat(43))("GET", path, { headers: ATTACKED, env: USED_UP })).status).toBe(429);
  });

  it("a person signs in, and one without a token of Access is told that there is none", async () => {
    const { email } = await addPerson();
    expect((await signInAs(email, USED_UP)).status).toBe(200);
    const nobody = await browser(undefined)("POST", "/console/session", { body: {}, headers: ATTACKED, env: USED_UP });
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

/** Refused sign-ins in the log of the admin (contract 24.11). */

const attempt = (body: object, options: Request_ = {}) => browser(undefined)("POST", "/console/session", { ...options, body });

const isLast = ({ result, resource }: Activity) => result === "SUCCESS" && resource === "SESSION";

/** Returns the entries that so many requests add to the log. The entry of a sign-in after them shows that there are no more. */
async function rowsOf(count: number, act: (bindings: Partial<Env>) => Promise<unknown>): Promise<readonly Activity[]> {
  const { rows, bindings: queue } = recordingQueue();
  const bindings = { ...queue, FAILURE_RATE: UNLIMITED };
  await act(bindings);
  await signIn({ token: env.ADMIN_TOKEN }, undefined, { env: bindings });
  await vi.waitFor(() => expect([rows.length >= count + 1, rows.some(isLast)]).toEqual([true, true]), UNDER_LOAD);
  return rows.filter((row) => !isLast(row));
}

const summary = ({ log, action, result, resource, actor, item }: Activity) => [log, action, result, resource, actor, item];
const NOBODY = "00000000-0000-0000-0000-000000000000";
const DENIED = [NOBODY, "CREATE", "DENY", "SESSION", "admin", null];

/** A limiter that has no room for one key. */
const limited = (refused: string): RateLimit => ({ limit: async ({ key }) => ({ success: key !== refused }) });

describe("a refused sign-in", () => {
  it.each([
    ["a wrong code", { code: "canary-code" }],
    ["a code that was never made", { code: "A".repeat(43) }],
    ["a wrong token", { token: "canary-token" }],
  ])("has a DENY entry in the log of the admin, without what was sent: %s", async (_, body) => {
    const rows = await rowsOf(1, async (bindings) => {
      expect((await attempt(body, { env: bindings, headers: { "CF-Connecting-IP": "192.0.2.44" } })).status).toBe(401);
    });
    expect(rows.map(summary)).toEqual([DENIED]);
    await deliver(rows);
    await vi.waitFor(async () => {
      const { body: entries, text } = await admin("GET", "/v1/admin/activity?result=DENY");
      expect(entries[0]).toMatchObject({
        requestId: rows[0]!.id,
        actor: { requestIp: "192.0.2.44" },
        resource: { type: "SESSION" },
      });
      expect(text).not.toContain("canary");
    }, UNDER_LOAD);
  });

  it("names the token when it was revoked", async () => {
    const { id, token } = await makeToken({});
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const rows = await rowsOf(1, (bindings) => attempt({ token }, { env: bindings }));
    expect(rows.map(summary)).toEqual([[NOBODY, "CREATE", "DENY", "SESSION", id, id]]);
  });

  it("by Cloudflare Access has one, of a wrong assertion and of somebody who is not invited", async () => {
    const [key, other] = [await newKey(), await newKey()];
    const team = newTeam(key);
    const { email } = await addPerson();
    const rows = await rowsOf(2, async (bindings) => {
      const at = { env: { ...team.env, ...bindings } };
      expect((await signInByAccess(at, await tokenOf(team, other, email))).status).toBe(401);
      expect((await signInByAccess(at, await tokenOf(team, key, "canary@example.com"))).status).toBe(403);
    });
    expect(rows.map(summary)).toEqual([DENIED, DENIED]);
    expect(JSON.stringify(rows)).not.toContain("canary");
  });

  it("with nothing that signs in has none, because the console asks so at its start", async () => {
    expect(await rowsOf(0, (bindings) => attempt({}, { env: bindings }))).toEqual([]);
  });

  it("has none past the rate limits of the address and of the log", async () => {
    const headers = { "CF-Connecting-IP": "192.0.2.45" };
    const rows = await rowsOf(0, async (bindings) => {
      for (const [limits, status] of [
        [{ FAILURE_RATE: limited("192.0.2.45") }, 429],
        [{ FAILURE_RATE: limited("denied sign-in") }, 401],
        [{ DENIAL_RATE: limited("192.0.2.45") }, 401],
      ] as const)
        expect((await attempt({ code: "x" }, { headers, env: { ...bindings, ...limits } })).status).toBe(status);
    });
    expect(rows).toEqual([]);
  });

  it("of one address leaves room for those of others and for refused admin tokens, however many it sends", async () => {
    const { rows, bindings: queue } = recordingQueue();
    const bindings = { ...queue, FAILURE_RATE: limiterOf(50), DENIAL_RATE: limiterOf(10) };
    const from = (address: string) => ({ headers: { "CF-Connecting-IP": address }, env: bindings });
    for (let request = 0; request < 60; request++) await attempt({ code: "x" }, from("192.0.2.46"));
    await attempt({ code: "x" }, from("192.0.2.47"));
    await send("GET", "/v1/admin/vaults", from("192.0.2.47"));
    const results = () => rows.filter(({ result }) => result === "DENY").map(({ resource }) => resource);
    await vi.waitFor(() => expect(results()).toContain("VAULT"), UNDER_LOAD);
    expect(results().filter((resource) => resource === "SESSION")).toHaveLength(11);
  });
});
