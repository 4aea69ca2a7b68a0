import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { addPerson, newKey, newTeam, serveTeams, signInByAccess, tokenOf } from "../support/access.ts";
import { browser, cookieOf, signIn } from "../support/console.ts";
import { admin, type Client, freshVault, LOGIN, makeToken } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** The admin opens vaults to the token of the session (contract 24.12). */

serveTeams();

let vault: string;
let items: string;
let call: Client;
beforeAll(async () => {
  ({ vault, items, call } = await freshVault());
});

const session = (cookie: string, options = {}) => browser(cookie)("GET", "/console/session", options);
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
