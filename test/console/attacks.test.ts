import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createConsoleSecret } from "../../src/crypto/console-secret.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { sealGrants } from "../../src/store/tokens/session-rows.ts";
import { drainQueue } from "../support/activity.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { dumpOfDatabase } from "../support/canary.ts";
import { browser, CONSOLE, COOKIE, cookieOf, signIn } from "../support/console.ts";
import { keyringOf } from "../support/root-keys.ts";
import { admin, client, type Client, freshVault, LOGIN, makeToken, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** What is no session of the console, and what ends one (contract 24.1, 24.2, 24.8). */

const LOCAL = ["http://127.0.0.1:8787", "http://[::1]:8787", "http://localhost:8787"];
const LOCAL_COOKIE = "item-vault-session";

/** The service compares the root keys with D1 once a minute, when something does not verify. */
const compareRootKeys = () => browser("x")("GET", "/v1/token");

let token: string, cookie: string;
beforeAll(async () => {
  ({ token } = await makeToken({}));
  await compareRootKeys();
  cookie = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token }));
});

/** The statuses of a request of the session itself, as its token and as the admin. */
const statusesOf = async (session: string, bindings: Partial<Env> = {}) =>
  Promise.all(
    ["/console/session", "/v1/vaults", "/v1/admin/vaults"].map(
      async (path) => (await browser(session)("GET", path, { env: bindings })).status,
    ),
  );

const idOf = async (session: string) => {
  const bytes = Uint8Array.fromBase64(session, { alphabet: "base64url" });
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
};

const alter = (text: string, place: number) => text.slice(0, place) + (text[place] === "A" ? "B" : "A") + text.slice(place + 1);

describe("a cookie", () => {
  it.each([
    ["another name", () => `${LOCAL_COOKIE}=${cookie}`],
    ["no value", () => `${COOKIE}=`],
    ["an altered value", () => `${COOKIE}=${alter(cookie, 3)}`],
    ["an altered end", () => `${COOKIE}=${alter(cookie, 40)}`],
    ["unused bits in its last character", () => `${COOKIE}=${cookie.slice(0, 42)}${cookie[42] === "B" ? "C" : "B"}`],
    ["a shorter value", () => `${COOKIE}=${cookie.slice(1)}`],
    ["a longer value", () => `${COOKIE}=${cookie}A`],
    ["quotes", () => `${COOKIE}="${cookie}"`],
    ["a second one of its name", () => `${COOKIE}=${cookie}; ${COOKIE}=${cookie}`],
  ])("with %s is no session, and costs no D1 call", async (_, text) => {
    const { count, db } = countingDatabase();
    for (const path of ["/console/session", "/v1/vaults", "/v1/admin/vaults"])
      expect((await send("GET", path, { headers: { ...CONSOLE, Cookie: text() }, env: { DB: db } })).status).toBe(401);
    expect(count.calls).toBe(0);
  });

  it.each(LOCAL)("has no prefix and is not Secure at %s, and one with a prefix does not count there", async (origin) => {
    const reply = await browser(undefined)("POST", "/console/session", { origin, body: { token } });
    expect(reply.headers.get("Set-Cookie")).toMatch(
      /^item-vault-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const local = cookieOf(reply);
    expect((await browser(local, LOCAL_COOKIE)("GET", "/v1/vaults", { origin })).status).toBe(200);
    expect((await browser(local)("GET", "/v1/vaults", { origin })).status).toBe(401);
  });

  it.each(["http://vault.test", "http://192.168.1.2:8787", "http://127.0.0.1.vault.test", "http://localhost.vault.test"])(
    "is neither set nor accepted at %s",
    async (origin) => {
      const reply = await browser(undefined)("POST", "/console/session", { origin, body: { token } });
      expect([reply.status, reply.headers.get("Set-Cookie")]).toEqual([403, null]);
      for (const name of [COOKIE, LOCAL_COOKIE])
        for (const path of ["/console/session", "/v1/vaults", "/v1/admin/vaults"])
          expect((await browser(cookie, name)("GET", path, { origin })).status).toBe(403);
      expect((await send("GET", "/v1/vaults", { origin })).status).toBe(401);
    },
  );
});

describe("what D1 has", () => {
  it("signs nobody in: no token, cookie or code is in it, in any spelling", async () => {
    const { code } = (await client(token)("POST", "/v1/sign-in-codes")).body;
    const dump = await dumpOfDatabase();
    expect(dump).toContain(await idOf(cookie));
    const bytes = [cookie, code].map((text) => Uint8Array.fromBase64(text, { alphabet: "base64url" }));
    const texts = [token, token.split(".")[2]!, cookie, code, ...bytes.flatMap((each) => [each.toHex(), each.toBase64()])];
    expect(texts.filter((text) => dump.includes(text))).toEqual([]);
  });
});

/** Changes the row of a new session, as whoever writes to D1 can. Out: the statuses of its requests before and after. */
async function afterChange(change: (row: string, other: string) => Promise<unknown>): Promise<number[][]> {
  const session = await signIn({ token });
  const before = await statusesOf(session);
  const other = await signIn({ token: env.ADMIN_TOKEN });
  await change(await idOf(session), await idOf(other));
  return [before, await statusesOf(session)];
}
const run = (sql: string, ...values: (string | number)[]): Promise<unknown> => {
  const statement = env.DB.prepare(sql);
  return statement.bind(...values).run();
};

/** Puts a session of the admin into D1 whose row the test seals. */
async function plantSession(
  lifetime: { createdAt?: number; expiresAt?: number },
  kind: "session" | "signInCode" = "session",
): Promise<{ text: string; id: string }> {
  const keyring = await keyringOf(env);
  const { text, id: row } = await createConsoleSecret(keyring, "session");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(env.ADMIN_TOKEN));
  const grants = { createdAt: Date.now(), expiresAt: Date.now() + 60_000, admin: new Uint8Array(digest).toHex(), ...lifetime };
  const sealed = await sealGrants(keyring.active, kind, row, grants);
  await run("INSERT INTO sessions VALUES (?1, NULL, ?2, 'k1', ?3)", row, grants.expiresAt, sealed);
  return { text, id: row };
}

const SEALED = "UPDATE sessions SET sealed = ?2 WHERE id = ?1";
const copy = (row: string, other: string) =>
  run("UPDATE sessions SET sealed = (SELECT sealed FROM sessions WHERE id = ?2) WHERE id = ?1", row, other);

describe("a row in D1", () => {
  it("does not open under the id of another session", async () => {
    // The isolate remembers the opened session for a minute, and reads as its token: that is what it was.
    expect(await afterChange(copy)).toEqual([
      [200, 200, 401],
      [401, 200, 401],
    ]);
  });

  it("that was sealed as a code does not open as a session", async () => {
    expect(await statusesOf((await plantSession({}, "signInCode")).text)).toEqual([401, 401, 401]);
    expect(await statusesOf((await plantSession({})).text)).toEqual([200, 401, 200]);
  });

  it("cannot make a session last longer", async () => {
    const { text, id: row } = await plantSession({ createdAt: Date.now() - 60_000, expiresAt: Date.now() - 1 });
    await run("UPDATE sessions SET expires_at = ?2 WHERE id = ?1", row, Date.now() + 60_000);
    expect(await statusesOf(text)).toEqual([401, 401, 401]);
  });

  it("cannot name another token", async () => {
    const other = await makeToken({});
    const change = (row: string) => run("UPDATE sessions SET token_id = ?2 WHERE id = ?1", row, other.id);
    expect((await afterChange(change))[1]).toEqual([401, 401, 401]);
  });

  it("that is damaged or deleted is no session", async () => {
    expect((await afterChange((row) => run(SEALED, row, "AQE=")))[1]![0]).toBe(401);
    expect((await afterChange((row) => run("DELETE FROM sessions WHERE id = ?1", row)))[1]).toEqual([401, 401, 401]);
  });
});

describe("a session", () => {
  it.each<[string, () => Partial<Env>, number[]]>([
    ["another ADMIN_TOKEN ends the grant of the admin", () => ({ ADMIN_TOKEN: "another".padEnd(32, "-") }), [200, 200, 401]],
    ["a service without ADMIN_TOKEN has no grant of the admin", () => ({ ADMIN_TOKEN: "" }), [200, 200, 404]],
    ["TOKENS_NOT_BEFORE ends it", () => ({ TOKENS_NOT_BEFORE: new Date(Date.now() + 60_000).toISOString() }), [401, 401, 401]],
  ])("%s", async (_, bindings, statuses) => {
    expect(await statusesOf(cookie, bindings())).toEqual(statuses);
    expect(await statusesOf(cookie)).toEqual([200, 200, 200]);
  });

  it("ends with the root key that sealed it", async () => {
    const k2 = JSON.stringify({ active: "k2", keys: { k2: btoa("fedcba9876543210fedcba9876543210") } });
    // No key of the database is there, which is what the service says of every request.
    expect(await statusesOf(cookie, { ROOT_KEYS: k2 })).toEqual([503, 503, 503]);
    const both = JSON.stringify({ active: "k2", keys: { ...JSON.parse(env.ROOT_KEYS).keys, ...JSON.parse(k2).keys } });
    expect(await statusesOf(cookie, { ROOT_KEYS: both })).toEqual([200, 200, 200]);
  });

  it("keeps the grant of the admin when its token is revoked", async () => {
    const own = await makeToken({});
    const both = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token: own.token }));
    await admin("DELETE", `/v1/admin/tokens/${own.id}`);
    expect(await statusesOf(both)).toEqual([200, 401, 200]);
  });
});

/** Counts the sessions and codes of a token; `null`: of the admin. */
const countOf = (owner: string | null) =>
  env.DB.prepare("SELECT count(*) AS rows FROM sessions WHERE token_id IS ?1").bind(owner).first("rows");

const fillSessions = (owner: string | null) => {
  const rows = Array.from({ length: 150 }, (_, place) => [crypto.randomUUID(), Date.now() + place]);
  const insert = env.DB.prepare("INSERT INTO sessions SELECT value ->> 0, ?2, value ->> 1, 'k1', '' FROM json_each(?1)");
  return insert.bind(JSON.stringify(rows), owner).run();
};

describe("signing in", () => {
  beforeAll(compareRootKeys);

  it.each([
    ["nothing", {}, 401],
    ["a wrong token", { token: "wrong" }, 401],
    ["an empty token", { token: "" }, 401],
    ["the placeholder of METRICS_TOKEN", { token: env.METRICS_TOKEN }, 401],
    ["a code that was never made", { code: "A".repeat(43) }, 401],
    ["a token as a code", { code: "x.y.z" }, 401],
    ["both", { code: "x", token: "y" }, 400],
    ["a number", { token: 1 }, 400],
    ["an array", [], 400],
    ["no JSON", "{", 400],
    ["a body of more than 32 KiB", { token: "x".repeat(33 * 1024) }, 413],
  ])("is refused with %s", async (_, body, status) => {
    const { count, db } = countingDatabase();
    const reply = await browser(cookie)("POST", "/console/session", { body, env: { DB: db } });
    expect([reply.status, reply.headers.get("Set-Cookie"), count.calls]).toEqual([status, null, 0]);
  });

  it("is refused with a revoked token", async () => {
    const own = await makeToken({});
    await admin("DELETE", `/v1/admin/tokens/${own.id}`);
    expect((await browser(undefined)("POST", "/console/session", { body: { token: own.token } })).status).toBe(401);
  });

  it("counts as a failed authentication of the address when it is refused", async () => {
    const FAILURE_RATE = { limit: async () => ({ success: false }) } as unknown as RateLimit;
    const headers = { "CF-Connecting-IP": "203.0.113.9" };
    const reply = await browser(undefined)("POST", "/console/session", { body: { token: "x" }, headers, env: { FAILURE_RATE } });
    expect(reply.status).toBe(429);
  });

  it.each(["PUT", "PATCH"])("is not done by %s", async (method) => {
    expect((await browser(cookie)(method, "/console/session")).status).toBe(405);
  });

  it("leaves a token at most 100 sessions and codes: those that expire first end (contract 24.10)", async () => {
    const own = await makeToken({});
    await fillSessions(own.id);
    const session = await signIn({ token: own.token });
    expect([await countOf(own.id), (await statusesOf(session))[0]]).toEqual([100, 200]);
    expect((await statusesOf(cookie))[0]).toBe(200);
  });

  it("leaves the admin as many, and a session that is also a token's is one of the token (contract 24.10)", async () => {
    await fillSessions(null);
    const own = await makeToken({});
    const session = await signIn({ token: env.ADMIN_TOKEN });
    expect(await countOf(null)).toBe(100);
    await signIn({ token: own.token }, session);
    expect([await countOf(null), await countOf(own.id)]).toEqual([99, 1]);
    await env.DB.prepare("DELETE FROM sessions WHERE sealed = ''").run();
  });
});

/** What requests of a session cost, how long it lasts, and what the log has of it (contract 24.5, 24.7 and 24.11). */

beforeAll(drainQueue);

async function signedIn() {
  const own = await freshVault();
  const { id: item } = (await own.call("POST", own.items, { body: LOGIN })).body;
  const { id } = (await own.call("GET", "/v1/token")).body;
  const signedInAs = await signIn({ token: own.token });
  return { ...own, item: `${own.items}/${item}`, id, signedInAs, session: browser(signedInAs) };
}

/** The D1 calls of a request, and the rows that they read. */
async function costOf(call: Client, method: string, path: string, body?: object) {
  const { count, db } = countingDatabase();
  const { status } = await call(method, path, { body, env: { DB: db } });
  return { status, calls: count.calls, rows: count.rowsRead };
}

/** What the newest sign-in of an actor is about. Filtered, because the queue may bring entries of tests before this one. */
async function newestSignIn(actor: string): Promise<object | undefined> {
  const { body } = await admin("GET", `/v1/admin/activity?actor=${actor}`);
  return body.find(({ resource }: { resource: { type: string } }) => resource.type === "SESSION")?.resource;
}

describe("a request of a session", () => {
  it("that reads takes two D1 calls the first time in an isolate and then one, with two rows more than by token", async () => {
    const { call, session, item } = await signedIn();
    const byToken = await costOf(call, "GET", item);
    expect(byToken.calls).toBe(1);
    expect((await costOf(session, "GET", item)).calls).toBe(2);
    const again = await costOf(session, "GET", item);
    expect([again.status, again.calls, again.rows - byToken.rows]).toEqual([200, 1, 1]);
    expect((await costOf(session, "POST", "/v1/resolve", { references: ["op://x/y/z"] })).calls).toBe(
      (await costOf(call, "POST", "/v1/resolve", { references: ["op://x/y/z"] })).calls,
    );
  });

  it("that writes, and one of the admin, takes one D1 call more than without a session", async () => {
    const { call, session, vault, items, signedInAs } = await signedIn();
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    expect((await costOf(call, "POST", items, LOGIN)).calls).toBe(0);
    expect((await costOf(session, "POST", items, LOGIN)).calls).toBe(1);
    expect(count.calls).toBe(2);
    const operator = browser(await signIn({ token: env.ADMIN_TOKEN }, signedInAs));
    const [own, bare] = [await costOf(operator, "GET", "/v1/admin/vaults"), await costOf(admin, "GET", "/v1/admin/vaults")];
    expect([own.status, own.calls]).toEqual([200, bare.calls + 1]);
  });

  it("has the token as its actor in the log, and a sign-in has an entry in the log of the admin", async () => {
    const { call, session, items, id } = await signedIn();
    const { headers } = await session("POST", items, { body: LOGIN });
    const [entry] = (await call("GET", "/v1/activity?limit=1")).body;
    expect(entry).toMatchObject({ requestId: headers.get("Request-Id"), action: "CREATE", actor: { id, jti: id } });
    await signIn({ token: env.ADMIN_TOKEN });
    await expect.poll(() => newestSignIn(id), UNDER_LOAD).toEqual({ type: "SESSION", session: { id } });
    await expect.poll(() => newestSignIn("admin"), UNDER_LOAD).toEqual({ type: "SESSION" });
  });
});

describe("the end of a session", () => {
  it("is that of the earlier session while a grant of that is kept", async () => {
    const expiresAt = Date.now() + 60_000;
    const merged = await signIn({ token: (await freshVault()).token }, (await plantSession({ expiresAt })).text);
    expect((await browser(merged)("GET", "/console/session")).body).toMatchObject({
      expiresAt: new Date(expiresAt).toISOString(),
      admin: true,
      token: { name: "test" },
    });
  });

  it("by TOKENS_NOT_BEFORE is not put off by a later sign-in: a grant that is kept keeps its beginning", async () => {
    const { text } = await plantSession({ createdAt: Date.now() - 60_000 });
    const merged = browser(await signIn({ token: (await freshVault()).token }, text));
    const bindings = { TOKENS_NOT_BEFORE: new Date(Date.now() - 30_000).toISOString() };
    expect((await merged("GET", "/v1/admin/vaults")).status).toBe(200);
    expect((await merged("GET", "/v1/admin/vaults", { env: bindings })).status).toBe(401);
  });

  it("deletes its row within an hour", async () => {
    await env.DB.prepare("INSERT INTO sessions SELECT 'expired ' || value, 'token ' || value, ?1, 'k1', '' FROM json_each(?2)")
      .bind(Date.now() - 1, JSON.stringify(Array.from({ length: 1_500 }, (_, place) => place)))
      .run();
    const operator = await signIn({ token: env.ADMIN_TOKEN });
    await cleanUp(env, Date.now());
    const left = await env.DB.prepare("SELECT count(*) AS rows FROM sessions WHERE id LIKE 'expired %'").first("rows");
    expect([left, (await browser(operator)("GET", "/console/session")).status]).toEqual([0, 200]);
  });
});
