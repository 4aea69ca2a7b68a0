import { describe, expect, it, vi } from "vitest";
import { readLog } from "../support/activity.ts";
import { admin, client, freshVault, LOGIN, makeToken, makeVault, type Permission } from "../support/service.ts";

/** GET /v1/activity: what this token's vaults have seen. */

const ADDRESS = { "User-Agent": "session/1", "CF-Connecting-IP": "192.0.2.7" };

/** A vault with an auditor, who reads the log, and a client whose requests are to be in it. */
async function audited(permission: Permission = "rw", dialect: "uuid" | "connect" = "uuid") {
  const vault = await makeVault();
  const auditor = client((await makeToken({ [vault]: "r" }, { dialect })).token);
  const { id: actor, token } = await makeToken({ [vault]: permission });
  const call = client(token);
  const items = `/v1/vaults/${vault}/items`;
  const act = (method: string, path: string, body?: unknown) => call(method, path, { body, headers: ADDRESS });
  /** The log, oldest first, in short: action, result, item and version. */
  const short = async (count: number) => {
    const { body } = await readLog(auditor, count);
    return (body as Entry[]).toReversed().map(({ action, result, resource }) => {
      const { type, item, itemVersion } = resource;
      return [action, result, type, item?.id, itemVersion];
    });
  };
  return { vault, items, actor, act, auditor, short, token };
}

interface Entry {
  readonly requestId: string;
  readonly action: string;
  readonly result: string;
  readonly actor: { readonly id: string };
  readonly resource: { readonly type: string; readonly item?: { readonly id: string }; readonly itemVersion?: number };
}

describe("the activity of a session", () => {
  it("is the session: each request once, in order, with the version of its Item", async () => {
    const { vault, items, act, short } = await audited();
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
    expect(await short(13)).toEqual([
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

  it("holds its denials: a permission that the token has not", async () => {
    const { vault, items, act, short } = await audited("w");
    const { id } = (await act("POST", items, LOGIN)).body;
    const statuses = [
      await act("GET", `${items}/${id}`),
      await act("GET", items),
      await act("PUT", `${items}/${id}`, { ...LOGIN, vault: { id: vault } }),
      await act("GET", `${items}/${id}/files`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 404, 403, 404]);
    expect((await short(6)).slice(2)).toEqual([
      ["READ", "DENY", "ITEM", id, undefined],
      ["READ", "DENY", "VAULT", undefined, undefined],
      ["UPDATE", "DENY", "ITEM", id, undefined],
      ["READ", "DENY", "ITEM", id, undefined],
    ]);
  });

  it("holds what strangers to the vault and revoked tokens tried", async () => {
    const { items, act, actor, auditor } = await audited();
    const { id } = (await act("POST", items, LOGIN)).body;
    const stranger = await makeToken({});
    expect((await client(stranger.token)("POST", items, { body: LOGIN })).status).toBe(403);
    await admin("DELETE", `/v1/admin/tokens/${actor}`);
    expect((await act("GET", `${items}/${id}`)).status).toBe(401);
    const { body } = await readLog(auditor, 4);
    expect(body.slice(0, 2)).toMatchObject([
      { action: "READ", result: "DENY", actor: { id: actor }, resource: { item: { id } } },
      { action: "CREATE", result: "DENY", actor: { id: stranger.id }, resource: { type: "ITEM" } },
    ]);
  });

  it("holds nothing of requests that found nothing, were malformed, or came without a good token", async () => {
    const { vault, items, act, short } = await audited();
    expect((await act("GET", `${items}/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await act("POST", items, {})).status).toBe(400);
    expect((await client("nonsense")("GET", items)).status).toBe(401);
    await act("GET", `/v1/vaults/${vault}`);
    expect((await short(2)).map(([action]) => action)).toEqual(["CREATE", "READ"]);
  });

  it("holds a write once that was sent again with its Idempotency-Key", async () => {
    const { vault, items, auditor, token } = await audited();
    const headers = { "Idempotency-Key": "k" };
    for (let sent = 0; sent < 3; sent++) await client(token)("POST", items, { body: LOGIN, headers });
    await client(token)("GET", `/v1/vaults/${vault}`);
    expect((await readLog(auditor, 3)).body.map(({ action }: Entry) => action)).toEqual(["READ", "CREATE", "CREATE"]);
  });
});

describe("an entry", () => {
  it("tells who, from where, when and what", async () => {
    const { vault, items, actor, act, auditor } = await audited();
    const { id } = (await act("POST", items, LOGIN)).body;
    await act("GET", `${items}/${id}`);
    const { body } = await readLog(auditor, 3);
    const who = { actor: { id: actor, jti: actor, userAgent: "session/1", requestIp: "192.0.2.7" } };
    const what = { resource: { type: "ITEM", vault: { id: vault }, item: { id }, itemVersion: 1 } };
    const when = { requestId: expect.stringMatching(/^[0-9a-f-]{36}$/), timestamp: expect.stringMatching(/^20.*Z$/) };
    expect(body[0]).toEqual({ ...when, action: "READ", result: "SUCCESS", ...who, ...what });
    expect(body[1]).toEqual({ ...when, action: "CREATE", result: "SUCCESS", ...who, ...what });
    expect(body[2]).toMatchObject({ action: "CREATE", actor: { id: "admin" }, resource: { type: "VAULT" } });
    const times = body.map(({ timestamp }: { timestamp: string }) => Date.parse(timestamp));
    expect(times).toEqual(times.toSorted((a: number, b: number) => b - a));
    expect(Math.abs(times[0] - Date.now())).toBeLessThan(60_000);
  });

  it("has ids of 26 characters for a token of dialect connect, but for those of the request and the token's row", async () => {
    const { items, actor, act, auditor } = await audited("rw", "connect");
    await act("POST", items, LOGIN);
    const { body } = await readLog(auditor, 2);
    const short = expect.stringMatching(/^[a-z2-7]{26}$/);
    expect(body[0]).toMatchObject({ actor: { id: short, jti: actor }, resource: { vault: { id: short }, item: { id: short } } });
  });

  it("comes after those that were served before it, in one millisecond too", async () => {
    const { items, act, auditor } = await audited();
    vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
    const made: string[] = [];
    for (let count = 0; count < 20; count++) made.unshift((await act("POST", items, LOGIN)).body.id);
    vi.useRealTimers();
    const { body } = await readLog(auditor, 21);
    expect(body.slice(0, 20).map(({ resource }: Entry) => resource.item!.id)).toEqual(made);
  });

  it("holds 256 characters of a User-Agent, well-formed", async () => {
    const { auditor, vault, token } = await audited();
    await client(token)("GET", `/v1/vaults/${vault}`, { headers: { "User-Agent": "x".repeat(1000) } });
    expect((await readLog(auditor, 2)).body[0].actor.userAgent).toBe("x".repeat(256));
  });
});

describe("who sees what", () => {
  it("a token sees the vaults that it reads, and no other", async () => {
    const [a, b, c] = [await freshVault(), await freshVault(), await freshVault()];
    for (const { call, items } of [a, b, c]) await call("POST", items, { body: LOGIN });
    const two = client((await makeToken({ [a.vault]: "r", [b.vault]: "rw", [c.vault]: "w" })).token);
    const { body } = await readLog(two, 4);
    const vaults = new Set(body.map(({ resource }: { resource: { vault: { id: string } } }) => resource.vault.id));
    expect(vaults).toEqual(new Set([a.vault, b.vault]));
  });

  it("the list of vaults is in the log of the token that asked for it alone, without a vault", async () => {
    const { vault, auditor, act, token } = await audited();
    await act("GET", "/v1/vaults");
    const { body } = await readLog(client(token), 2);
    expect(body[0]).toMatchObject({ action: "READ", result: "SUCCESS", resource: { type: "VAULT" } });
    expect(body[0].resource.vault).toBeUndefined();
    expect((await readLog(auditor, 1)).body[0].resource.vault.id).toBe(vault);
  });

  it("a revoked token sees nothing", async () => {
    const { id, token } = await makeToken({});
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    for (const query of ["", "?limit=x"]) expect((await client(token)("GET", `/v1/activity${query}`)).status).toBe(401);
  });

  it("of a deleted vault it is seen what was done there, and its deletion", async () => {
    const { vault, auditor, act, items } = await audited();
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

describe("limit and offset", () => {
  it("part the log, and Content-Range says which part it is", async () => {
    const { items, act, auditor } = await audited();
    for (let made = 0; made < 4; made++) await act("POST", items, LOGIN);
    const all = (await readLog(auditor, 5)).body;
    const part = await readLog(auditor, 5, "?limit=2&offset=1");
    expect(part.headers.get("Content-Range")).toBe("2-3/5");
    expect(part.body).toEqual(all.slice(1, 3));
    const beyond = await readLog(auditor, 5, "?offset=5");
    expect([beyond.status, beyond.body, beyond.headers.get("Content-Range")]).toEqual([200, [], "*/5"]);
  });

  it("are 50 and 0 when they are not given", async () => {
    const { items, act, auditor } = await audited();
    await Promise.all(Array.from({ length: 55 }, () => act("POST", items, LOGIN)));
    const { body, headers } = await readLog(auditor, 56);
    expect([body.length, headers.get("Content-Range")]).toEqual([50, "1-50/56"]);
  });

  it.each(["limit=0", "limit=1001", "limit=x", "limit=", "offset=-1", "offset=10001", "offset=1.5"])(
    "cannot be %s",
    async (query) => {
      const { status, body } = await (await audited()).auditor("GET", `/v1/activity?${query}`);
      expect([status, body.message]).toEqual([400, expect.stringMatching(/^(limit|offset): is not an integer from \d+ to \d+$/)]);
    },
  );
});
