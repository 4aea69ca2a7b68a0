import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { ROWS } from "../../src/api/openapi/document.ts";
import { ask, prepareTarget, startWorld, type World } from "../openapi/support/targets.ts";
import { addPerson, newKey, newTeam, serveTeams, signInByAccess, tokenOf } from "../support/access.ts";
import { recordingQueue } from "../support/activity.ts";
import { browser, CONSOLE, COOKIE, cookieOf, signIn } from "../support/console.ts";
import { advanceClock } from "../support/faults.ts";
import { admin, client, type Client, freshVault, LOGIN, makeToken, type Request_, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Sessions of the console (contract 24.2, 24.4 to 24.7), and one-time codes (contract 24.9). */

/** Those of wrangler.toml. */
const SETTINGS = { deletedRetentionDays: 30, versionsKept: 10, people: false };

const session = (cookie: string | undefined, options: Request_ = {}) => browser(cookie)("GET", "/console/session", options);

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
    const access = { ACCESS_TEAM: "team", ACCESS_AUD: "a".repeat(64) };
    const settings = { ...access, DELETED_RETENTION_DAYS: 0.5, VERSIONS_KEPT: 0 } as unknown as Partial<Env>;
    const { body } = await session(await signIn({ token: env.ADMIN_TOKEN }), { env: settings });
    expect(body.settings).toEqual({ deletedRetentionDays: 0.5, versionsKept: 0, people: true });
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

const CODES = ["/v1/sign-in-codes", "/v1/admin/sign-in-codes"];
const redeemCode = (code: string) => browser(undefined)("POST", "/console/session", { body: { code } });

describe("a one-time code", () => {
  it.each(CODES)("of %s signs in once", async (path) => {
    const { token } = await makeToken({});
    const caller = path.includes("admin") ? admin : client(token);
    const { status, body } = await caller("POST", path);
    expect([status, body]).toEqual([200, { code: expect.stringMatching(/^[\w-]{43}$/), expiresAt: expect.any(String) }]);
    const cookie = await signIn({ code: body.code });
    expect((await session(cookie)).body.admin).toBe(path.includes("admin"));
    expect((await redeemCode(body.code)).status).toBe(401);
  });

  it.each([
    [5 * 60_000 - 1_000, 200],
    [5 * 60_000, 401],
  ])("expires after 5 minutes: %i ms after it was made, a sign-in is %i", async (later, status) => {
    onTestFinished(() => void vi.useRealTimers());
    const { body } = await admin("POST", "/v1/admin/sign-in-codes");
    advanceClock(Date.parse(body.expiresAt) - 5 * 60_000 - Date.now() + later);
    expect((await redeemCode(body.code)).status).toBe(status);
  });

  it("is not made by a session", async () => {
    const { token } = await makeToken({});
    const cookie = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token }));
    for (const path of CODES) expect((await browser(cookie)("POST", path)).status).toBe(401);
  });

  it("signs in one of several requests at the same moment", async () => {
    const { code } = (await admin("POST", "/v1/admin/sign-in-codes")).body;
    const tries = await Promise.all([1, 2, 3].map(() => redeemCode(code)));
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

/** The admin opens vaults to the token of the session (contract 24.12). */

serveTeams();

let vault: string;
let items: string;
let call: Client;
beforeAll(async () => {
  ({ vault, items, call } = await freshVault());
});

/** A session of a new token without vaults, and of the admin. */
async function signInAsBoth() {
  const made = await makeToken({});
  const cookie = await signIn({ token: env.ADMIN_TOKEN }, await signIn({ token: made.token }));
  return { ...made, cookie };
}
const openVault = (cookie: string | undefined, more = {}) =>
  browser(cookie)("POST", "/console/session", { body: { vaults: { [vault]: "rw" }, ...more } });

describe("vaults that the admin opens to the token of a session", () => {
  it("are read and written by the session under the token's id, until it would have ended", async () => {
    const { id, cookie } = await signInAsBoth();
    const before = (await session(cookie)).body.expiresAt;
    const opened = await signIn({ vaults: { [vault]: "rw" } }, cookie);
    expect((await session(opened)).body).toMatchObject({
      expiresAt: before,
      admin: true,
      token: { id, vaults: { [vault]: "rw" } },
    });
    const { status, body } = await browser(opened)("POST", items, { body: LOGIN });
    expect([status, body.lastEditedBy]).toEqual([200, id]);
    expect((await browser(opened)("GET", items)).status).toBe(200);
    expect((await session(cookie)).status).toBe(401);
  });

  it("are not open to the token elsewhere", async () => {
    const { token, cookie } = await signInAsBoth();
    await signIn({ vaults: { [vault]: "rw" } }, cookie);
    const other = await signIn({ token });
    for (const one of [cookie, other]) expect((await browser(one)("GET", items)).status).not.toBe(200);
    expect((await session(other)).body.token.vaults).toEqual({});
  });

  it("are an entry of the admin in its log, which names the token and the vaults", async () => {
    const { id, cookie } = await signInAsBoth();
    await signIn({ vaults: { [vault]: "rw" } }, cookie);
    const opened = async () => {
      const { body } = await admin("GET", "/v1/admin/activity?limit=1000&action=UPDATE");
      return body.filter(({ resource }: any) => resource.type === "SESSION" && resource.session?.id === id);
    };
    await vi.waitFor(async () => expect(await opened()).toHaveLength(1), UNDER_LOAD);
    const [entry] = await opened();
    expect(entry).toMatchObject({ result: "SUCCESS", actor: { id: "admin" } });
    expect(entry.resource).toEqual({ type: "SESSION", session: { id }, vaults: [{ id: vault }] });
  });

  it("are read and written in their log as by the token of the session, and the admin is the actor of none of it", async () => {
    const { id, cookie } = await signInAsBoth();
    const opened = await signIn({ vaults: { [vault]: "rwd" } }, cookie);
    const { body: item } = await browser(opened)("POST", items, { body: LOGIN });
    await browser(opened)("GET", `${items}/${item.id}`);
    await browser(opened)("DELETE", `${items}/${item.id}`);
    const entries = async () => {
      const { body } = await call("GET", "/v1/activity?limit=50");
      return body
        .filter(({ resource }: any) => resource.item?.id === item.id)
        .map(({ action, actor }: any) => `${action} ${actor.id}`);
    };
    const expected = ["CREATE", "READ", "DELETE"].map((action) => `${action} ${id}`);
    await vi.waitFor(async () => expect((await entries()).toSorted()).toEqual(expected.toSorted()), UNDER_LOAD);
  });

  it("replace those that were opened before", async () => {
    const { cookie } = await signInAsBoth();
    const closed = await signIn({ vaults: {} }, await signIn({ vaults: { [vault]: "rw" } }, cookie));
    expect((await session(closed)).body.token.vaults).toEqual({});
  });

  it("are closed when ADMIN_TOKEN was changed, from the next request on", async () => {
    const { id, cookie } = await signInAsBoth();
    const opened = await signIn({ vaults: { [vault]: "rw" } }, cookie);
    expect((await browser(opened)("GET", items)).status).toBe(200);
    const changed = { env: { ADMIN_TOKEN: "another-admin-token-of-32-characters" } as unknown as Partial<Env> };
    expect((await browser(opened)("GET", items, changed)).status).toBe(404);
    expect((await browser(opened)("POST", items, { body: LOGIN, ...changed })).status).toBe(403);
    const { admin: isAdmin, token } = (await session(opened, changed)).body;
    expect([isAdmin, token.id, token.vaults]).toEqual([false, id, {}]);
  });

  it("are closed when another token signs in", async () => {
    const { cookie } = await signInAsBoth();
    const opened = await signIn({ vaults: { [vault]: "rw" } }, cookie);
    const other = await makeToken({});
    const replaced = await signIn({ token: other.token }, opened);
    const { token } = (await session(replaced)).body;
    expect([token.id, token.vaults]).toEqual([other.id, {}]);
  });

  it("to one person are closed to the next one who signs in with the same cookie, and to the same one", async () => {
    const key = await newKey();
    const team = newTeam(key);
    const [one, next] = [await addPerson(), await addPerson()];
    const signInAs = async (email: string, cookie?: string): Promise<string> =>
      cookieOf(await signInByAccess(team, await tokenOf(team, key, email), cookie));
    for (const person of [next, one]) {
      const both = await signIn({ token: env.ADMIN_TOKEN }, await signInAs(one.email));
      const opened = await signIn({ vaults: { [vault]: "rw" } }, both);
      expect((await browser(opened)("GET", items)).status).toBe(200);
      const after = await signInAs(person.email, opened);
      const { admin: isAdmin, token } = (await session(after)).body;
      expect([isAdmin, token.id, token.vaults]).toEqual([true, person.id, {}]);
      expect((await browser(after)("GET", items)).status).toBe(404);
    }
  });

  it("end with the token", async () => {
    const { id, cookie } = await signInAsBoth();
    const opened = await signIn({ vaults: { [vault]: "rw" } }, cookie);
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    expect((await browser(opened)("GET", items)).status).toBe(401);
  });

  it("are opened by nobody but an admin who is also a token", async () => {
    const { token } = await makeToken({});
    const sessions = [undefined, await signIn({ token }), await signIn({ token: env.ADMIN_TOKEN })];
    for (const cookie of sessions) expect((await openVault(cookie)).status).toBe(401);
    const { cookie } = await signInAsBoth();
    for (const more of [{ token }, { code: "code" }, { vaults: { [vault]: "x" } }, { vaults: { nothing: "r" } }])
      expect((await openVault(cookie, more)).status).toBe(400);
    expect((await session(cookie)).body.token.vaults).toEqual({});
  });
});

/** Sessions on every route: what signed in opens its own routes, and no others (contract 24.4). */

let world: World;
/** The cookies of a session of the admin alone, and of a token with every permission in the vault of the world. */
let cookies: { readonly admin: string; readonly token: string };

beforeAll(async () => {
  world = await startWorld();
  cookies = { admin: await signIn({ token: env.ADMIN_TOKEN }), token: await signIn({ token: world.token }) };
});

const OTHERS = [
  { by: "token", signedIn: "admin", name: "ADMIN_TOKEN signed in" },
  { by: "admin", signedIn: "token", name: "a token signed in" },
] as const;

describe.each(OTHERS)("a session that $name", ({ by, signedIn }) => {
  const rows = ROWS.filter(({ access }) => access.by === by).map((row, index) => [row.operationId, row, index] as const);

  it.each(rows)("does not open %s", async (_, row, index) => {
    const target = await prepareTarget(world, row);
    // An address of its own, because refusals are counted by address.
    const address = { "CF-Connecting-IP": `2001:db8:${index}::1` };
    const headers = { ...CONSOLE, ...address, Cookie: `${COOKIE}=${cookies[signedIn]}` };
    expect((await ask(row, target, undefined, { headers })).status).toBe(401);
    expect((await ask(row, target, by === "admin" ? env.ADMIN_TOKEN : world.token, { headers: address })).status).toBeLessThan(
      300,
    );
  });
});
