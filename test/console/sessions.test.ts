import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { recordingQueue } from "../support/activity.ts";
import { browser, cookieOf, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { admin, client, freshVault, LOGIN, makeToken, send } from "../support/service.ts";

/** Sessions of the console (contract 24.2, 24.4 to 24.7), and one-time codes (contract 24.9). */

/** Those of wrangler.toml. */
const SETTINGS = { deletedRetentionDays: 30, versionsKept: 10, people: false };

const session = (cookie: string | undefined) => browser(cookie)("GET", "/console/session");

describe("a session", () => {
  it("that a token signed in acts as that token, and shows it as /v1/token does", async () => {
    const { call, token, items } = await freshVault();
    const cookie = await signIn({ token });
    expect((await session(cookie)).body).toEqual({
      expiresAt: expect.any(String),
      admin: false,
      token: (await call("GET", "/v1/token")).body,
      settings: SETTINGS,
    });
    expect((await browser(cookie)("GET", "/v1/token")).body).toEqual((await call("GET", "/v1/token")).body);
    const [own, listed] = [await call("GET", items), await browser(cookie)("GET", items)];
    expect([listed.status, listed.headers.get("Token-Expires")]).toEqual([200, own.headers.get("Token-Expires")]);
    expect((await browser(cookie)("GET", "/v1/admin/vaults")).status).toBe(401);
  });

  it("that ADMIN_TOKEN signed in opens the routes of the admin, and no other", async () => {
    const cookie = await signIn({ token: env.ADMIN_TOKEN });
    expect((await session(cookie)).body).toEqual({ expiresAt: expect.any(String), admin: true, settings: SETTINGS });
    expect((await browser(cookie)("GET", "/v1/admin/vaults")).status).toBe(200);
    expect((await browser(cookie)("GET", "/v1/token")).status).toBe(401);
  });

  it("tells what the operator has set", async () => {
    const cookie = await signIn({ token: env.ADMIN_TOKEN });
    const access = { ACCESS_TEAM: "team", ACCESS_AUD: "a".repeat(64) };
    const settings = { ...access, DELETED_RETENTION_DAYS: 0.5, VERSIONS_KEPT: 0 } as unknown as Partial<Env>;
    expect((await browser(cookie)("GET", "/console/session", { env: settings })).body.settings).toEqual({
      deletedRetentionDays: 0.5,
      versionsKept: 0,
      people: true,
    });
  });

  it("writes as its token: lastEditedBy names it", async () => {
    const { token, items, call } = await freshVault();
    const cookie = await signIn({ token });
    const { status, body } = await browser(cookie)("POST", items, { body: LOGIN });
    expect([status, body.lastEditedBy]).toEqual([200, (await call("GET", "/v1/token")).body.id]);
  });

  it("gets the grants of both sign-ins under a new cookie, and the old cookie ends", async () => {
    const { token } = await makeToken({});
    const first = await signIn({ token });
    const second = await signIn({ token: env.ADMIN_TOKEN }, first);
    expect((await session(second)).body).toMatchObject({ admin: true, token: { name: "test" } });
    expect((await session(first)).status).toBe(401);
  });

  it("ends when it signs out, and the cookie is removed; without a session nothing ends", async () => {
    const { token, items } = await freshVault();
    const cookie = await signIn({ token });
    expect((await browser(cookie)("GET", items)).status).toBe(200);
    const out = await browser(cookie)("DELETE", "/console/session");
    expect([out.status, cookieOf(out)]).toEqual([204, ""]);
    for (const none of [cookie, undefined]) expect((await browser(none)("DELETE", "/console/session")).status).toBe(204);
    expect((await browser(cookie)("GET", items)).status).toBe(401);
    expect((await session(cookie)).status).toBe(401);
  });

  it("that the isolate has in its memory ends at its expiry, on each kind of route", async () => {
    const { token, vault, items } = await freshVault();
    const cookie = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token }));
    const requests = [
      ["GET", items],
      ["POST", items],
      ["GET", `/v1/vaults/${vault}/events`],
      ["GET", "/v1/token"],
      ["GET", "/v1/admin/vaults"],
      ["GET", "/console/session"],
    ] as const;
    // Entries of hours to come must not reach the log, which is also that of the next file: nothing flushes what was looked at.
    const { rows, bindings: queue } = recordingQueue();
    onTestFinished(() => expect(rows).not.toEqual([]));
    const statuses = async () =>
      Promise.all(
        requests.map(async ([method, path]) => {
          return (await browser(cookie)(method, path, { body: method === "POST" ? LOGIN : undefined, env: queue })).status;
        }),
      );
    const expiresAt = Date.parse((await session(cookie)).body.expiresAt);
    onTestFinished(() => void vi.useRealTimers());
    advanceClock(expiresAt - Date.now() - 1_000);
    expect(await statuses()).toEqual(requests.map(() => 200));
    advanceClock(1_000);
    expect(await statuses()).toEqual(requests.map(() => 401));
  });

  it("ends with its token", async () => {
    const { id, token } = await makeToken({});
    const cookie = await signIn({ token });
    expect((await browser(cookie)("GET", "/v1/vaults")).status).toBe(200);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await browser(cookie)("GET", "/v1/vaults")).status).toBe(401);
    expect((await session(cookie)).status).toBe(401);
  });
});

describe("a one-time code", () => {
  it.each(["/v1/sign-in-codes", "/v1/admin/sign-in-codes"])("of %s signs in once", async (path) => {
    const { token } = await makeToken({});
    const caller = path.includes("admin") ? admin : client(token);
    const { status, body } = await caller("POST", path);
    expect([status, body]).toEqual([200, { code: expect.stringMatching(/^[\w-]{43}$/), expiresAt: expect.any(String) }]);
    const cookie = await signIn({ code: body.code });
    expect((await session(cookie)).body.admin).toBe(path.includes("admin"));
    expect((await browser(undefined)("POST", "/console/session", { body: { code: body.code } })).status).toBe(401);
  });

  it.each([
    [5 * 60_000 - 1_000, 200],
    [5 * 60_000, 401],
  ])("expires after 5 minutes: %i ms after it was made, a sign-in is %i", async (later, status) => {
    onTestFinished(() => void vi.useRealTimers());
    const { body } = await admin("POST", "/v1/admin/sign-in-codes");
    advanceClock(Date.parse(body.expiresAt) - 5 * 60_000 - Date.now() + later);
    expect((await browser(undefined)("POST", "/console/session", { body: { code: body.code } })).status).toBe(status);
  });

  it("is not made by a session", async () => {
    const { token } = await makeToken({});
    const cookie = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token }));
    for (const path of ["/v1/sign-in-codes", "/v1/admin/sign-in-codes"])
      expect((await browser(cookie)("POST", path)).status).toBe(401);
  });

  it("signs in one of several requests at the same moment", async () => {
    const { code } = (await admin("POST", "/v1/admin/sign-in-codes")).body;
    const body = { code };
    const tries = await Promise.all([1, 2, 3].map(() => browser(undefined)("POST", "/console/session", { body })));
    expect(tries.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401]);
  });
});

describe("a request with a cookie", () => {
  it.each([
    ["cross-site", { "Sec-Fetch-Site": "cross-site" }],
    ["same-site", { "Sec-Fetch-Site": "same-site" }],
    ["none", { "Sec-Fetch-Site": "none" }],
    ["without the header of the console", { "Item-Vault-Console": "" }],
  ])("is refused: %s", async (_, headers) => {
    const { token } = await makeToken({});
    const cookie = await signIn({ token });
    for (const path of ["/v1/vaults", "/v1/admin/vaults", "/console/session"]) {
      const reply = await browser(cookie)("GET", path, { headers });
      expect([reply.status, reply.headers.get("Item-Vault-Error")]).toEqual([403, "cross_site"]);
    }
  });

  it("is authenticated by Authorization alone when it has that header too", async () => {
    const { token } = await makeToken({});
    const cookie = await signIn({ token });
    const wrong = { Authorization: "Basic eDp5", Cookie: `__Host-item-vault-session=${cookie}` };
    expect((await send("GET", "/v1/vaults", { headers: wrong })).status).toBe(401);
  });
});
