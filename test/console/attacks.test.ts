import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { createConsoleSecret } from "../../src/crypto/console-secret.ts";
import { sealGrants } from "../../src/store/tokens/session-rows.ts";
import { countingDatabase } from "../support/bindings.ts";
import { dumpOfDatabase } from "../support/canary.ts";
import { browser, CONSOLE, COOKIE, cookieOf, signIn } from "../support/console.ts";
import { keyringOf } from "../support/root-keys.ts";
import { admin, client, makeToken, send } from "../support/service.ts";

/** What is no session of the console, and what ends one (contract 24.1, 24.2, 24.8). */

const LOCAL = ["http://127.0.0.1:8787", "http://[::1]:8787", "http://localhost:8787"];
const LOCAL_COOKIE = "item-vault-session";

/** The service compares the root keys with D1 once a minute, when something does not verify. */
const compareRootKeys = () => browser("x")("GET", "/v1/token");

let id: string, token: string, cookie: string;
beforeAll(async () => {
  ({ id, token } = await makeToken({}));
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

  it("is no code, and a code is no cookie", async () => {
    const { code } = (await client(token)("POST", "/v1/sign-in-codes")).body;
    expect((await browser(undefined)("POST", "/console/session", { body: { code: cookie } })).status).toBe(401);
    expect(await statusesOf(code)).toEqual([401, 401, 401]);
    await signIn({ code });
    expect(await statusesOf(cookie)).toEqual([200, 200, 200]);
  });
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
async function afterChange(change: (row: string, other: string) => Promise<void>): Promise<number[][]> {
  const session = await signIn({ token });
  const before = await statusesOf(session);
  const other = await signIn({ token: env.ADMIN_TOKEN });
  await change(await idOf(session), await idOf(other));
  return [before, await statusesOf(session)];
}
const run = async (sql: string, ...values: (string | number)[]) =>
  void (await env.DB.prepare(sql)
    .bind(...values)
    .run());
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
    const keyring = await keyringOf(env);
    const grants = { createdAt: Date.now(), expiresAt: Date.now() + 60_000, admin: await fingerprintOf(env.ADMIN_TOKEN) };
    for (const [kind, statuses] of [
      ["signInCode", [401, 401, 401]],
      ["session", [200, 401, 200]],
    ] as const) {
      const { text, id: row } = await createConsoleSecret(keyring, "session");
      const sealed = await sealGrants(keyring.active, kind, row, grants);
      await run("INSERT INTO sessions VALUES (?1, NULL, ?2, 'k1', ?3)", row, grants.expiresAt, sealed);
      expect(await statusesOf(text)).toEqual(statuses);
    }
  });

  it("cannot make a session last longer", async () => {
    const keyring = await keyringOf(env);
    const { text, id: row } = await createConsoleSecret(keyring, "session");
    const expired = { createdAt: Date.now() - 60_000, expiresAt: Date.now() - 1, admin: await fingerprintOf(env.ADMIN_TOKEN) };
    const sealed = await sealGrants(keyring.active, "session", row, expired);
    await run("INSERT INTO sessions VALUES (?1, NULL, ?2, 'k1', ?3)", row, Date.now() + 60_000, sealed);
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

const fingerprintOf = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();

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
    const rows = JSON.stringify(Array.from({ length: 150 }, (_, place) => [crypto.randomUUID(), Date.now() + place]));
    await env.DB.prepare("INSERT INTO sessions SELECT value ->> 0, ?2, value ->> 1, 'k1', '' FROM json_each(?1)")
      .bind(rows, own.id)
      .run();
    const session = await signIn({ token: own.token });
    expect([await countOf(own.id), (await statusesOf(session))[0]]).toEqual([100, 200]);
    expect((await statusesOf(cookie))[0]).toBe(200);
    expect(id).not.toBe(own.id);
  });

  it("leaves the admin as many, and a session that is also a token's is one of the token (contract 24.10)", async () => {
    const rows = JSON.stringify(Array.from({ length: 150 }, (_, place) => [crypto.randomUUID(), Date.now() + place]));
    await env.DB.prepare("INSERT INTO sessions SELECT value ->> 0, NULL, value ->> 1, 'k1', '' FROM json_each(?1)")
      .bind(rows)
      .run();
    const own = await makeToken({});
    const session = await signIn({ token: env.ADMIN_TOKEN });
    expect(await countOf(null)).toBe(100);
    await signIn({ token: own.token }, session);
    expect([await countOf(null), await countOf(own.id)]).toEqual([99, 1]);
    await env.DB.prepare("DELETE FROM sessions WHERE sealed = ''").run();
  });
});
