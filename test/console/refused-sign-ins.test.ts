import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { Activity } from "../../src/model/activity.ts";
import { limiterOf, UNLIMITED } from "../support/bindings.ts";
import { addPerson, newKey, newTeam, serveTeams, signInByAccess, tokenOf } from "../support/access.ts";
import { deliver, recordingQueue } from "../support/activity.ts";
import { browser, signIn } from "../support/console.ts";
import { admin, makeToken, type Request_, send } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Refused sign-ins in the log of the admin (contract 24.11). */

serveTeams();

const attempt = (body: object, options: Request_ = {}) => browser(undefined)("POST", "/console/session", { ...options, body });

const isLast = ({ result, resource }: Activity) => result === "SUCCESS" && resource === "SESSION";

/** The entries that requests add to the log. In: how many these are. That of a sign-in after them shows that there are no more. */
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
