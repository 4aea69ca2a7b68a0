import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { drainQueue } from "../support/activity.ts";
import { createConsoleSecret } from "../../src/crypto/console-secret.ts";
import { cleanUp } from "../../src/scheduled.ts";
import { sealGrants } from "../../src/store/tokens/session-rows.ts";
import { countingDatabase, rebindCoordinator } from "../support/bindings.ts";
import { browser, signIn } from "../support/console.ts";
import { keyringOf } from "../support/root-keys.ts";
import { admin, type Client, freshVault, LOGIN } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** What requests of a session cost, how long it lasts, and what the log has of it (contract 24.5, 24.7 and 24.11). */

beforeAll(drainQueue);

async function signedIn() {
  const own = await freshVault();
  const { id: item } = (await own.call("POST", own.items, { body: LOGIN })).body;
  const { id } = (await own.call("GET", "/v1/token")).body;
  const cookie = await signIn({ token: own.token });
  return { ...own, item: `${own.items}/${item}`, id, cookie, session: browser(cookie) };
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
    const { call, session, vault, items, cookie } = await signedIn();
    const { count, db } = countingDatabase();
    await rebindCoordinator(vault, { DB: db });
    expect((await costOf(call, "POST", items, LOGIN)).calls).toBe(0);
    expect((await costOf(session, "POST", items, LOGIN)).calls).toBe(1);
    expect(count.calls).toBe(2);
    const operator = browser(await signIn({ token: env.ADMIN_TOKEN }, cookie));
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
    const keyring = await keyringOf(env);
    const { text, id } = await createConsoleSecret(keyring, "session");
    const expiresAt = Date.now() + 60_000;
    const { token } = await freshVault();
    const fingerprint = new Uint8Array(await digest(env.ADMIN_TOKEN)).toHex();
    const sealed = await sealGrants(keyring.active, "session", id, { createdAt: Date.now(), expiresAt, admin: fingerprint });
    await env.DB.prepare("INSERT INTO sessions VALUES (?, NULL, ?, 'k1', ?)").bind(id, expiresAt, sealed).run();
    const merged = await signIn({ token }, text);
    expect((await browser(merged)("GET", "/console/session")).body).toMatchObject({
      expiresAt: new Date(expiresAt).toISOString(),
      admin: true,
      token: { name: "test" },
    });
  });

  it("by TOKENS_NOT_BEFORE is not put off by a later sign-in: a grant that is kept keeps its beginning", async () => {
    const keyring = await keyringOf(env);
    const { text, id } = await createConsoleSecret(keyring, "session");
    const [createdAt, expiresAt] = [Date.now() - 60_000, Date.now() + 60_000];
    const fingerprint = new Uint8Array(await digest(env.ADMIN_TOKEN)).toHex();
    const sealed = await sealGrants(keyring.active, "session", id, { createdAt, expiresAt, admin: fingerprint });
    await env.DB.prepare("INSERT INTO sessions VALUES (?, NULL, ?, 'k1', ?)").bind(id, expiresAt, sealed).run();
    const { token } = await freshVault();
    const merged = browser(await signIn({ token }, text));
    const bindings = { TOKENS_NOT_BEFORE: new Date(Date.now() - 30_000).toISOString() };
    expect((await merged("GET", "/v1/admin/vaults")).status).toBe(200);
    expect((await merged("GET", "/v1/admin/vaults", { env: bindings })).status).toBe(401);
  });

  it("deletes its row within an hour", async () => {
    await env.DB.prepare("INSERT INTO sessions SELECT 'expired ' || value, 'token ' || value, ?1, 'k1', '' FROM json_each(?2)")
      .bind(Date.now() - 1, JSON.stringify(Array.from({ length: 1_500 }, (_, place) => place)))
      .run();
    const cookie = await signIn({ token: env.ADMIN_TOKEN });
    await cleanUp(env, Date.now());
    const left = await env.DB.prepare("SELECT count(*) AS rows FROM sessions WHERE id LIKE 'expired %'").first("rows");
    expect([left, (await browser(cookie)("GET", "/console/session")).status]).toEqual([0, 200]);
  });
});

const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
