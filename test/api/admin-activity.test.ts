import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { Activity } from "../../src/model/activity.ts";
import { deliver, drainQueue, recordingQueue } from "../support/activity.ts";
import { sleep, wrapDatabase } from "../support/bindings.ts";
import { admin, client, freshVault, makeToken, pagesFrom, send, withEachDenialLogged } from "../support/service.ts";
import { QUEUED, UNDER_LOAD } from "../support/waits.ts";

/** The admin's log: `GET /v1/admin/activity` (contract 13.21 and 13.22). */

beforeAll(drainQueue);

const NOWHERE = "00000000-0000-0000-0000-000000000000";
const LOG = "/v1/admin/activity";
const HEADERS = { "User-Agent": "console/1", "CF-Connecting-IP": "192.0.2.9" };

interface Entry {
  readonly requestId: string;
  readonly action: string;
  readonly result: string;
  readonly actor: object;
  readonly resource: { readonly type: string; readonly vault?: { id: string }; readonly token?: { id: string } };
}

/** The entry of a request. Waits, because the queue delivers most entries later. */
async function entryOf({ headers }: { headers: Headers }): Promise<Entry> {
  const id = headers.get("Request-Id")!;
  return vi.waitFor(async () => {
    const { body } = await admin("GET", `${LOG}?limit=1000`);
    const found = (body as Entry[]).filter(({ requestId }) => requestId === id);
    expect(found).toHaveLength(1);
    return found[0]!;
  }, QUEUED);
}

const act = (method: string, path: string, body?: unknown) => admin(method, path, { body, headers: HEADERS });

const summary = ({ action, result, resource: { type, vault, token } }: Entry) => [action, result, type, (vault ?? token)?.id];

describe("the admin's log", () => {
  it("has an entry for each admin action, with the vault or token that it concerns", async () => {
    const made = await act("POST", "/v1/admin/vaults", { name: "V" });
    const vault: string = made.body.id;
    const issued = await act("POST", "/v1/admin/tokens", { name: "T", vaults: { [vault]: "r" } });
    const token: string = issued.body.id;
    const replies = [
      made,
      issued,
      await act("GET", "/v1/admin/vaults"),
      await act("GET", "/v1/admin/tokens"),
      await act("PATCH", `/v1/admin/vaults/${vault}`, { name: "W" }),
      await act("DELETE", `/v1/admin/tokens/${token}`),
      await act("DELETE", `/v1/admin/vaults/${vault}`),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 204, 204]);
    expect((await Promise.all(replies.map(entryOf))).map(summary)).toEqual([
      ["CREATE", "SUCCESS", "VAULT", vault],
      ["CREATE", "SUCCESS", "TOKEN", token],
      ["READ", "SUCCESS", "VAULT", undefined],
      ["READ", "SUCCESS", "TOKEN", undefined],
      ["UPDATE", "SUCCESS", "VAULT", vault],
      ["DELETE", "SUCCESS", "TOKEN", token],
      ["DELETE", "SUCCESS", "VAULT", vault],
    ]);
  });

  it("has the admin as the actor, with the origin of the request", async () => {
    const entry = await entryOf(await act("GET", "/v1/admin/tokens"));
    expect(entry.actor).toEqual({ id: "admin", userAgent: "console/1", requestIp: "192.0.2.9" });
  });

  it("has a DENY entry for a request without the admin's token, also when it would read this log", async () => {
    const request = { headers: HEADERS };
    const wrong = withEachDenialLogged(client("wrong"));
    const refused = [
      await withEachDenialLogged(send)("GET", "/v1/admin/vaults", request),
      await wrong("DELETE", `/v1/admin/tokens/${crypto.randomUUID()}`, request),
      await wrong("GET", LOG, request),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
    const entries = await Promise.all(refused.map(entryOf));
    expect(entries.map(summary)).toEqual([
      ["READ", "DENY", "VAULT", undefined],
      ["DELETE", "DENY", "TOKEN", undefined],
      ["READ", "DENY", "VAULT", undefined],
    ]);
    expect(entries[0]!.actor).toEqual({ id: "admin", userAgent: "console/1", requestIp: "192.0.2.9" });
  });

  it("has no entry for a read of this log, nor for a request of the admin that is refused", async () => {
    const { rows, bindings } = recordingQueue();
    const replies = [
      await admin("GET", LOG, { env: bindings }),
      await admin("POST", "/v1/admin/tokens", { body: {}, env: bindings }),
      await admin("DELETE", `/v1/admin/tokens/${crypto.randomUUID()}`, { env: bindings }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 404]);
    await sleep(300); // longer than rows wait to be sent together
    expect(rows).toEqual([]);
    // Entries of other requests may have arrived meanwhile.
    const { text } = await admin("GET", `${LOG}?limit=1000`);
    for (const { headers } of replies) expect(text).not.toContain(headers.get("Request-Id"));
  });

  it("has refusals up to the rate limit", async () => {
    const { rows, bindings } = recordingQueue();
    const keys: string[] = [];
    const FAILURE_RATE: RateLimit = {
      async limit({ key }) {
        keys.push(key);
        return { success: key !== "denied admin" };
      },
    };
    expect((await send("GET", "/v1/admin/vaults", { headers: HEADERS, env: { ...bindings, FAILURE_RATE } })).status).toBe(401);
    await vi.waitFor(() => expect(keys).toEqual(["192.0.2.9", "denied admin"]), UNDER_LOAD);
    await sleep(300);
    expect(rows).toEqual([]);
  });
});

describe("issuing and revoking a token", () => {
  const failing = { ACTIVITY: { send: () => Promise.reject(new Error("queue")) } as unknown as Env["ACTIVITY"] };

  it("are logged in the batch that does it, also when the queue fails", async () => {
    const issued = await admin("POST", "/v1/admin/tokens", { body: { name: "T", vaults: {} }, env: failing });
    const revoked = await admin("DELETE", `/v1/admin/tokens/${issued.body.id}`, { env: failing });
    const { body } = await admin("GET", `${LOG}?limit=2`);
    expect((body as Entry[]).map(summary)).toEqual([
      ["DELETE", "SUCCESS", "TOKEN", issued.body.id],
      ["CREATE", "SUCCESS", "TOKEN", issued.body.id],
    ]);
    expect((body as Entry[])[0]!.requestId).toBe(revoked.headers.get("Request-Id"));
  });

  it.each([
    ["D1_ERROR: Network connection lost.", "uncertain", null],
    ["D1_ERROR: D1 DB is overloaded. Too many requests queued.", "unavailable", "1"],
  ])("are answered by what D1 says of their outcome (contract 10.14 and 10.15): %s", async (error, kind, retryAfter) => {
    const { id } = await makeToken({});
    const fault = (statements: number) => {
      if (statements > 1) throw new Error(error); // not the check of the root keys
    };
    // A lost answer may be that of a batch that took effect.
    const DB = wrapDatabase(env.DB, kind === "uncertain" ? { after: ({ length }) => fault(length) } : { before: fault });
    for (const reply of [
      await admin("POST", "/v1/admin/tokens", { body: { name: "T", vaults: {} }, env: { DB } }),
      await admin("DELETE", `/v1/admin/tokens/${id}`, { env: { DB } }),
    ]) {
      expect([reply.kind, reply.headers.get("Retry-After")]).toEqual([kind, retryAfter]);
    }
  });

  it("are not logged when D1 does not do them", async () => {
    const DB = wrapDatabase(env.DB, { before: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")) });
    const { id } = await makeToken({});
    const { body } = await admin("GET", `${LOG}?limit=1`);
    expect((await admin("DELETE", `/v1/admin/tokens/${id}`, { env: { ...failing, DB } })).status).toBe(503);
    expect((await admin("GET", `${LOG}?limit=1`)).body).toEqual(body);
  });
});

describe("GET /v1/admin/activity", () => {
  it("has pages: each links to the next, and together they are the log", async () => {
    for (let made = 0; made < 5; made++) await makeToken({});
    // Entries of earlier tests may arrive between two requests.
    await vi.waitFor(async () => {
      const whole = (await admin("GET", `${LOG}?limit=1000`)).body as Entry[];
      expect((await pagesFrom(admin, `${LOG}?limit=2`)).flat()).toEqual(whole);
    }, UNDER_LOAD);
  });

  it("is not readable with a token, whatever vaults the token names", async () => {
    await act("GET", "/v1/admin/vaults");
    const { token } = await makeToken({ [NOWHERE]: "rw" });
    const reader = client(token);
    expect((await reader("GET", LOG)).status).toBe(401);
    expect((await reader("GET", "/v1/activity")).body).toEqual([]);
    expect((await reader("GET", "/v1/activity?before=ffffffff-ffff-7fff-bfff-ffffffffffff")).body).toEqual([]);
  });

  it("has no entry of a token that was refused in the vault of the all-zero id", async () => {
    const { rows, bindings } = recordingQueue();
    const { id, token } = await makeToken({});
    const call = withEachDenialLogged(client(token));
    expect((await call("GET", `/v1/vaults/${NOWHERE}`, { env: bindings })).status).toBe(403);
    await vi.waitFor(() => expect(rows.some(({ actor }: Activity) => actor === id)).toBe(true), UNDER_LOAD);
    await deliver(rows);
    expect((await admin("GET", `${LOG}?limit=1000`)).text).not.toContain(`"jti":"${id}"`);
  });
});

it("the writes of the admin are also in the log of their vault, under the same id", async () => {
  const { call, vault } = await freshVault();
  const entry = await entryOf(await act("PATCH", `/v1/admin/vaults/${vault}`, { name: "Renamed" }));
  const { body } = await call("GET", "/v1/activity?limit=1");
  expect(body[0]).toMatchObject({ requestId: entry.requestId, action: "UPDATE", actor: { id: "admin" } });
});
