import { describe, expect, it, vi } from "vitest";
import { writeId } from "../../src/model/dialect.ts";
import { readLog } from "../support/activity.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, pagesFrom, type Permission } from "../support/service.ts";
import { runSql } from "../support/sql.ts";

/** The activity log: `GET /v1/activity` (contract 11.7, 13.5 to 13.11). */

const CLIENT_HEADERS = { "User-Agent": "session/1", "CF-Connecting-IP": "192.0.2.7" };

/** A vault with two tokens: `auditor` reads the log, and the requests of `act` are recorded in it. */
async function makeAuditedVault(permission: Permission = "rw", dialect: "uuid" | "connect" = "uuid") {
  const vault = await makeVault();
  const auditor = client((await makeToken({ [vault]: "r" }, { dialect })).token);
  const { id: actor, token } = await makeToken({ [vault]: permission });
  const call = client(token);
  const items = `/v1/vaults/${vault}/items`;
  const act = (method: string, path: string, body?: unknown) => call(method, path, { body, headers: CLIENT_HEADERS });
  /** The log as tuples of action, result, resource type, Item id and version; oldest entry first. */
  const entries = async (count: number) => {
    const { body } = await readLog(auditor, count);
    return (body as Entry[]).toReversed().map(({ action, result, resource }) => {
      const { type, item, itemVersion } = resource;
      return [action, result, type, item?.id, itemVersion];
    });
  };
  return { vault, items, actor, act, auditor, entries, token };
}

interface Entry {
  readonly requestId: string;
  readonly action: string;
  readonly result: string;
  readonly actor: { readonly id: string };
  readonly resource: { readonly type: string; readonly item?: { readonly id: string }; readonly itemVersion?: number };
}

describe("the activity log of a vault", () => {
  it("has one entry for each request, in the order of the requests, with the version of the Item", async () => {
    const { vault, items, act, entries } = await makeAuditedVault();
    const { id } = (await act("POST", items, LOGIN)).body;
    const path = `${items}/${id}`;
    await act("GET", path);
    await act("GET", items);
    await act("PUT", path, { ...LOGIN, vault: { id: vault } });
    await act("PATCH", path, [{ op: "replace", path: "/title", value: "T" }]);
    await act("PATCH", path, []);
    const { id: file } = (await act("POST", `${path}/files?name=f`, "bytes")).body;
    await act("GET", `${path}/files`);
    await act("GET", `${path}/files/${file}/content`);
    await act("DELETE", `${path}/files/${file}`);
    await act("GET", `/v1/vaults/${vault}`);
    await act("DELETE", path);
    expect(await entries(13)).toEqual([
      ["CREATE", "SUCCESS", "VAULT", undefined, undefined],
      ["CREATE", "SUCCESS", "ITEM", id, 1],
      ["READ", "SUCCESS", "ITEM", id, 1],
      ["READ", "SUCCESS", "VAULT", undefined, undefined],
      ["UPDATE", "SUCCESS", "ITEM", id, 2],
      ["UPDATE", "SUCCESS", "ITEM", id, 3],
      ["READ", "SUCCESS", "ITEM", id, 3],
      ["UPDATE", "SUCCESS", "ITEM", id, 4],
      ["READ", "SUCCESS", "ITEM", id, undefined],
      ["READ", "SUCCESS", "ITEM", id, undefined],
      ["UPDATE", "SUCCESS", "ITEM", id, 5],
      ["READ", "SUCCESS", "VAULT", undefined, undefined],
      ["DELETE", "SUCCESS", "ITEM", id, undefined],
    ]);
  });

  it("has a DENY entry for each request whose permission is not in the token", async () => {
    const { vault, items, act, entries } = await makeAuditedVault("w");
    const { id } = (await act("POST", items, LOGIN)).body;
    const statuses = [
      await act("GET", `${items}/${id}`),
      await act("GET", items),
      await act("PUT", `${items}/${id}`, { ...LOGIN, vault: { id: vault } }),
      await act("GET", `${items}/${id}/files`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 404, 403, 404]);
    expect((await entries(6)).slice(2)).toEqual([
      ["READ", "DENY", "ITEM", id, undefined],
      ["READ", "DENY", "VAULT", undefined, undefined],
      ["UPDATE", "DENY", "ITEM", id, undefined],
      ["READ", "DENY", "ITEM", id, undefined],
    ]);
  });

  it("has a DENY entry for a request of a token without the vault, and of a revoked token", async () => {
    const { items, act, actor, auditor } = await makeAuditedVault();
    const { id } = (await act("POST", items, LOGIN)).body;
    const outsider = await makeToken({});
    expect((await client(outsider.token)("POST", items, { body: LOGIN })).status).toBe(403);
    await admin("DELETE", `/v1/admin/tokens/${actor}`);
    expect((await act("GET", `${items}/${id}`)).status).toBe(401);
    const { body } = await readLog(auditor, 4);
    expect(body.slice(0, 2)).toMatchObject([
      { action: "READ", result: "DENY", actor: { id: actor }, resource: { item: { id } } },
      { action: "CREATE", result: "DENY", actor: { id: outsider.id }, resource: { type: "ITEM" } },
    ]);
  });

  it("has no entry for a request that is answered 404 or 400, or has no valid token", async () => {
    const { vault, items, act, entries } = await makeAuditedVault();
    expect((await act("GET", `${items}/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await act("POST", items, {})).status).toBe(400);
    expect((await client("nonsense")("GET", items)).status).toBe(401);
    await act("GET", `/v1/vaults/${vault}`);
    expect((await entries(2)).map(([action]) => action)).toEqual(["CREATE", "READ"]);
  });

  it("has one entry for a write that is repeated with its Idempotency-Key", async () => {
    const { vault, items, auditor, token } = await makeAuditedVault();
    const headers = { "Idempotency-Key": "k" };
    for (let attempt = 0; attempt < 3; attempt++) await client(token)("POST", items, { body: LOGIN, headers });
    await client(token)("GET", `/v1/vaults/${vault}`);
    expect((await readLog(auditor, 3)).body.map(({ action }: Entry) => action)).toEqual(["READ", "CREATE", "CREATE"]);
  });
});

describe("an entry of the activity log", () => {
  it("has the token, the client's address, the time, the action and the resource", async () => {
    const before = Date.now();
    const { vault, items, actor, act, auditor } = await makeAuditedVault();
    const { id } = (await act("POST", items, LOGIN)).body;
    await act("GET", `${items}/${id}`);
    const { body } = await readLog(auditor, 3);
    const actorPart = { actor: { id: actor, jti: actor, userAgent: "session/1", requestIp: "192.0.2.7" } };
    const resourcePart = { resource: { type: "ITEM", vault: { id: vault }, item: { id }, itemVersion: 1 } };
    const requestPart = { requestId: expect.stringMatching(/^[0-9a-f-]{36}$/), timestamp: expect.stringMatching(/^20.*Z$/) };
    expect(body[0]).toEqual({ ...requestPart, action: "READ", result: "SUCCESS", ...actorPart, ...resourcePart });
    expect(body[1]).toEqual({ ...requestPart, action: "CREATE", result: "SUCCESS", ...actorPart, ...resourcePart });
    expect(body[2]).toMatchObject({ action: "CREATE", actor: { id: "admin" }, resource: { type: "VAULT" } });
    const times = body.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp));
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
    expect([before <= times[0], times[0] <= Date.now()]).toEqual([true, true]);
  });

  it("has ids of 26 characters in the dialect connect, except requestId and jti (contract 3.6)", async () => {
    const { items, actor, act, auditor } = await makeAuditedVault("rw", "connect");
    await act("POST", items, LOGIN);
    const { body } = await readLog(auditor, 2);
    const short = expect.stringMatching(/^[a-z2-7]{26}$/);
    expect(body[0].requestId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(body[0]).toMatchObject({ actor: { id: short, jti: actor }, resource: { vault: { id: short }, item: { id: short } } });
  });

  it("is ordered after the entries of earlier requests, also within one millisecond", async () => {
    const { items, act, auditor } = await makeAuditedVault();
    vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
    const created: string[] = [];
    for (let count = 0; count < 20; count++) created.unshift((await act("POST", items, LOGIN)).body.id);
    vi.useRealTimers();
    const { body } = await readLog(auditor, 21);
    expect(body.slice(0, 20).map(({ resource }: Entry) => resource.item!.id)).toEqual(created);
  });

  it("has at most 256 characters of the User-Agent", async () => {
    const { auditor, vault, token } = await makeAuditedVault();
    await client(token)("GET", `/v1/vaults/${vault}`, { headers: { "User-Agent": "x".repeat(1000) } });
    expect((await readLog(auditor, 2)).body[0].actor.userAgent).toBe("x".repeat(256));
  });
});

describe("the visibility of entries", () => {
  it("a token gets the entries of the vaults that it reads, and of no other vault", async () => {
    const [a, b, c] = [await freshVault(), await freshVault(), await freshVault()];
    for (const { call, items } of [a, b, c]) await call("POST", items, { body: LOGIN });
    const reader = client((await makeToken({ [a.vault]: "r", [b.vault]: "rw", [c.vault]: "w" })).token);
    const { body } = await readLog(reader, 4);
    const vaults = new Set(body.map(({ resource }: { resource: { vault: { id: string } } }) => resource.vault.id));
    expect(vaults).toEqual(new Set([a.vault, b.vault]));
  });

  it("the entry of `GET /v1/vaults` has no vault and is returned only to the token that sent the request", async () => {
    const { vault, auditor, act, token } = await makeAuditedVault();
    await act("GET", "/v1/vaults");
    const { body } = await readLog(client(token), 2);
    expect(body[0]).toMatchObject({ action: "READ", result: "SUCCESS", resource: { type: "VAULT" } });
    expect(body[0].resource.vault).toBeUndefined();
    expect((await readLog(auditor, 1)).body[0].resource.vault.id).toBe(vault);
  });

  it("the entries of a deleted vault remain, and its deletion has an entry", async () => {
    const { vault, auditor, act, items } = await makeAuditedVault();
    await act("POST", items, LOGIN);
    await admin("DELETE", `/v1/admin/vaults/${vault}`);
    const { body } = await readLog(auditor, 3);
    expect(body[0]).toMatchObject({
      action: "DELETE",
      actor: { id: "admin" },
      resource: { type: "VAULT", vault: { id: vault } },
    });
  });
});

/** A log of five entries: the ids, newest first. */
async function makeLog() {
  const audited = await makeAuditedVault();
  for (let count = 0; count < 4; count++) await audited.act("POST", audited.items, LOGIN);
  const { body } = await readLog(audited.auditor, 5);
  return { ...audited, ids: (body as Entry[]).map(({ requestId }) => requestId) };
}

const idsOf = ({ body }: { body: Entry[] }) => body.map(({ requestId }) => requestId);

const linkBefore = (id: string) => `<https://vault.test/v1/activity?limit=2&before=${id}>; rel="next"`;

describe("before", () => {
  it("gives the entries that are older than an entry, whose id has either form; there is no Content-Range", async () => {
    const { auditor, ids } = await makeLog();
    for (const before of [ids[1]!, ids[1]!.toUpperCase(), writeId(ids[1]!, "connect")]) {
      const reply = await auditor("GET", `/v1/activity?before=${before}`);
      expect(idsOf(reply)).toEqual(ids.slice(2));
      expect([reply.headers.get("Content-Range"), reply.headers.get("Link")]).toEqual([null, null]);
    }
    expect((await auditor("GET", `/v1/activity?before=${ids[4]!}`)).body).toEqual([]);
  });

  it("is in the Link to the next page, which every page but the last has, also one with an offset", async () => {
    const { auditor, ids } = await makeLog();
    const linkOf = async (query: string) => (await auditor("GET", `/v1/activity?${query}`)).headers.get("Link");
    expect(await linkOf("limit=2")).toBe(linkBefore(ids[1]!));
    expect(await linkOf(`limit=2&before=${ids[1]!}`)).toBe(linkBefore(ids[3]!));
    expect(await linkOf(`limit=2&before=${ids[3]!}`)).toBeNull();
    expect(await linkOf("limit=2&offset=2")).toBe(linkBefore(ids[3]!));
    expect(await linkOf("limit=2&offset=3")).toBeNull();
  });

  it("leads from page to page over an entry whose id is damaged", async () => {
    const { vault, auditor, items, act } = await makeAuditedVault();
    for (let count = 0; count < 3; count++) await act("POST", items, LOGIN);
    const all: Entry[] = (await auditor("GET", "/v1/activity")).body;
    const damaged = `${all[1]!.requestId.slice(0, 35)}%`;
    await runSql("UPDATE activity SET id = ?2 WHERE vault_id = ?1 AND id = ?3", vault, damaged, all[1]!.requestId);
    const ids = (await pagesFrom(auditor, "/v1/activity?limit=1")).flat().map(({ requestId }) => requestId);
    expect(ids).toEqual(all.map(({ requestId }, at) => (at === 1 ? damaged : requestId)));
  });
});

describe("limit and offset", () => {
  it("select a part of the log, which Content-Range names", async () => {
    const { items, act, auditor } = await makeAuditedVault();
    for (let count = 0; count < 4; count++) await act("POST", items, LOGIN);
    const all = (await readLog(auditor, 5)).body;
    const part = await readLog(auditor, 5, "?limit=2&offset=1");
    expect(part.headers.get("Content-Range")).toBe("2-3/5");
    expect(part.body).toEqual(all.slice(1, 3));
    const beyond = await readLog(auditor, 5, "?offset=5");
    expect([beyond.status, beyond.body, beyond.headers.get("Content-Range")]).toEqual([200, [], "*/5"]);
  });

  it("default to 50 and 0", async () => {
    const { items, act, auditor } = await makeAuditedVault();
    await Promise.all(Array.from({ length: 55 }, () => act("POST", items, LOGIN)));
    const { body, headers } = await readLog(auditor, 56);
    expect([body.length, headers.get("Content-Range")]).toEqual([50, "1-50/56"]);
  });
});
