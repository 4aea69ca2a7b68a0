import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { client, freshVault, LOGIN, makeToken, type Reply } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Deleted Items (contract 14.8 to 14.12, 14.16 and 14.18), and the pages of their list (contract 11.9). */

/** A vault with deleted Items of these titles; each had a version `before` first, and a File of 3 bytes. */
async function vaultWithDeleted(titles: readonly string[], dialect: "uuid" | "connect" = "uuid") {
  const { vault, items } = await freshVault();
  const { token, id: actor } = await makeToken({ [vault]: "rwd" }, { dialect });
  const call = client(token);
  const before: Reply[] = [];
  for (const title of titles) {
    const { body } = await call("POST", items, { body: { ...LOGIN, title: "before", tags: [title] } });
    await call("POST", `${items}/${body.id}/files?name=f`, { body: pattern(3) });
    await call("PATCH", `${items}/${body.id}`, { body: [{ op: "replace", path: "/title", value: title }] });
    before.push(await call("GET", `${items}/${body.id}`));
    await call("DELETE", `${items}/${body.id}`);
  }
  const deleted = `/v1/vaults/${vault}/deleted-items`;
  return { vault, items, call, deleted, before, actor, ids: before.map(({ body }) => body.id as string) };
}

const nextOf = ({ headers }: Reply): string | undefined => {
  const target = /^<([^<>]+)>; rel="next"$/.exec(headers.get("Link") ?? "")?.[1];
  return target && new URL(target).pathname + new URL(target).search;
};

describe("GET …/deleted-items", () => {
  it("lists summaries with state DELETED, deletedAt and deletedBy, in the order of their ids", async () => {
    const start = Date.now();
    const { call, deleted, before, actor, ids } = await vaultWithDeleted(["A", "B", "C"]);
    const { status, body, headers } = await call("GET", deleted);
    expect([status, headers.has("Link")]).toEqual([200, false]);
    expect(body.map(({ id }: { id: string }) => id)).toEqual(ids.toSorted());
    const { fields: _fields, sections: _sections, files: _files, ...summary } = before[0]!.body;
    const first = body.find(({ id }: { id: string }) => id === ids[0]);
    expect(first).toEqual({ ...summary, state: "DELETED", deletedAt: expect.any(String), deletedBy: actor });
    expect(Date.parse(first.deletedAt)).toBeGreaterThanOrEqual(start);
  });

  it.each(["uuid", "connect"] as const)("is paged by limit and cursor: %s", async (dialect) => {
    const { call, deleted, ids } = await vaultWithDeleted(["A", "B", "C"], dialect);
    const pages: string[][] = [];
    for (let next: string | undefined = `${deleted}?limit=2`; next !== undefined;) {
      const reply: Reply = await call("GET", next);
      pages.push(reply.body.map(({ id }: { id: string }) => id));
      next = nextOf(reply);
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(pages.flat().toSorted()).toEqual(ids.toSorted());
  });

  it("has 1,000 Items on a page without a limit", async () => {
    const { call, deleted, ids } = await vaultWithDeleted(["A"]);
    // Copies of one Item, which do not open under their ids: a list shows them as broken.
    const copies = JSON.stringify(Array.from({ length: 1_000 }, () => crypto.randomUUID()));
    await env.DB.batch(
      [
        "INSERT INTO deleted_items SELECT vault_id, value, version, deleted_at, deleted_by FROM deleted_items, json_each(?2) WHERE deleted_items.id = ?1",
        "INSERT INTO item_versions SELECT vault_id, value, version, overview, details FROM item_versions, json_each(?2) WHERE item_id = ?1",
      ].map((sql) => env.DB.prepare(sql).bind(ids[0], copies)),
    );
    const first = await call("GET", deleted);
    expect(first.body).toHaveLength(1_000);
    expect((await call("GET", nextOf(first)!)).body).toHaveLength(1);
  });

  it("is empty for a vault without deleted Items, and needs rw", async () => {
    const { vault, call } = await freshVault();
    const path = `/v1/vaults/${vault}/deleted-items`;
    expect((await call("GET", path)).body).toEqual([]);
    for (const permission of ["r", "w", "d", "rd", "wd"] as const) {
      const { token } = await makeToken({ [vault]: permission });
      expect((await client(token)("GET", path)).status).toBe(403);
    }
  });
});

describe("GET …/deleted-items/{i}", () => {
  it("returns the full Item as it was, with its last ETag", async () => {
    const { call, deleted, before, actor, ids } = await vaultWithDeleted(["A"]);
    const reply = await call("GET", `${deleted}/${ids[0]}`);
    const [file] = before[0]!.body.files;
    const files = [{ ...file, content_path: file.content_path.replace("/items/", "/deleted-items/") }];
    expect(reply.body).toEqual({
      ...before[0]!.body,
      files,
      state: "DELETED",
      deletedAt: expect.any(String),
      deletedBy: actor,
    });
    const tag = before[0]!.headers.get("ETag")!;
    expect(reply.headers.get("ETag")).toBe(tag);
    const unchanged = await call("GET", `${deleted}/${ids[0]}`, { headers: { "If-None-Match": tag } });
    expect(unchanged.status).toBe(304);
  });

  it.each(["uuid", "connect"] as const)("names where its Files are downloaded: %s", async (dialect) => {
    const { call, deleted, ids } = await vaultWithDeleted(["A"], dialect);
    const { body } = await call("GET", `${deleted}/${ids[0]}`);
    const target = `/${body.files[0].content_path.replace(/^\//, "")}`;
    const reply = await call("GET", target, { headers: { Range: "bytes=1-" } });
    expect([reply.status, reply.headers.get("Content-Range")]).toEqual([206, "bytes 1-2/3"]);
    const missing = await call("GET", target.replace(body.files[0].id, crypto.randomUUID()));
    expect([missing.status, missing.headers.get("Item-Vault-Error")]).toEqual([404, "file_not_found"]);
  });

  it("of an Item that exists is a 404, and every other endpoint answers 404 for a deleted one", async () => {
    const { vault, call, items, deleted, ids } = await vaultWithDeleted(["A"]);
    const { body } = await call("POST", items, { body: LOGIN });
    expect((await call("GET", `${deleted}/${body.id}`)).body.message).toBe(`item ${body.id} not found`);
    const path = `${items}/${ids[0]}`;
    for (const [method, rest, sent] of [
      ["GET", ""],
      ["PUT", "", { ...LOGIN, vault: { id: vault } }],
      ["PATCH", "", []],
      ["DELETE", ""],
      ["GET", "/files"],
      ["GET", "/versions"],
      ["GET", "/versions/1"],
      ["POST", "/versions/1/restore"],
      ["POST", "/archive"],
    ] as const) {
      const reply = await call(method, path + rest, { body: sent });
      expect([method, rest, reply.status, reply.body.message]).toEqual([method, rest, 404, `item ${ids[0]} not found`]);
    }
  });

  it("has the entry READ with the Item and its version in the log", async () => {
    const { call, deleted, ids } = await vaultWithDeleted(["A"]);
    const { rows, bindings } = recordingQueue();
    await call("GET", `${deleted}/${ids[0]}`, { env: bindings });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    expect(rows[0]).toMatchObject({ action: "READ", item: ids[0], version: 3 });
  });
});

describe("POST …/deleted-items/{i}/restore", () => {
  it("makes the Item exist under its id with the next version, its Files and its earlier versions", async () => {
    const { call, items, deleted, before, ids } = await vaultWithDeleted(["A"]);
    const restored = await call("POST", `${deleted}/${ids[0]}/restore`);
    const { version, updatedAt, lastEditedBy } = restored.body;
    expect(restored).toMatchObject({ status: 200, body: { id: ids[0], version: 4, title: "A" } });
    expect(restored.body).toEqual({ ...before[0]!.body, version, updatedAt, lastEditedBy });
    expect((await call("GET", `${items}/${ids[0]}`)).body).toEqual(restored.body);
    expect((await call("GET", `/${restored.body.files[0].content_path}`)).status).toBe(200);
    expect((await call("GET", `${items}/${ids[0]}/versions/1`)).body.title).toBe("before");
    expect((await call("GET", deleted)).body).toEqual([]);
  });

  it("twice is a 404, and with the same Idempotency-Key the first answer", async () => {
    const { call, deleted, ids } = await vaultWithDeleted(["A"]);
    const headers = { "Idempotency-Key": "mine" };
    const first = await call("POST", `${deleted}/${ids[0]}/restore`, { headers });
    expect((await call("POST", `${deleted}/${ids[0]}/restore`, { headers })).body).toEqual(first.body);
    expect((await call("POST", `${deleted}/${ids[0]}/restore`)).status).toBe(404);
  });

  it("leaves an archived Item archived", async () => {
    const { call, items, vault } = await vaultWithDeleted([]);
    const { body } = await call("POST", items, { body: LOGIN });
    await call("POST", `${items}/${body.id}/archive`);
    await call("DELETE", `${items}/${body.id}`);
    const restored = await call("POST", `/v1/vaults/${vault}/deleted-items/${body.id}/restore`);
    expect([restored.body.state, (await call("GET", items)).body]).toEqual(["ARCHIVED", []]);
  });
});

describe("DELETE …/deleted-items/{i}", () => {
  it("destroys it: it is in no list, and cannot be restored", async () => {
    const { call, deleted, ids } = await vaultWithDeleted(["A", "B"]);
    expect((await call("DELETE", `${deleted}/${ids[0]}`)).status).toBe(204);
    expect((await call("GET", deleted)).body.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
    expect((await call("POST", `${deleted}/${ids[0]}/restore`)).status).toBe(404);
    expect((await call("DELETE", `${deleted}/${ids[0]}`)).status).toBe(404);
  });

  it("of an Item that exists is a 404 that changes nothing", async () => {
    const { call, items, deleted } = await vaultWithDeleted([]);
    const { body } = await call("POST", items, { body: LOGIN });
    expect((await call("DELETE", `${deleted}/${body.id}`)).status).toBe(404);
    expect((await call("GET", `${items}/${body.id}`)).body).toEqual(body);
  });

  it("and DELETE of the Item are two requests: the Idempotency-Key of one is a 409 for the other", async () => {
    const { call, items, deleted } = await vaultWithDeleted([]);
    const { body } = await call("POST", items, { body: LOGIN });
    const headers = { "Idempotency-Key": "mine" };
    expect((await call("DELETE", `${items}/${body.id}`, { headers })).status).toBe(204);
    expect((await call("DELETE", `${deleted}/${body.id}`, { headers })).status).toBe(409);
    expect((await call("GET", `${deleted}/${body.id}`)).status).toBe(200);
  });
});

describe("a read of deleted Items", () => {
  it.each([
    ["the list", () => ""],
    ["one", (id: string) => `/${id}`],
    ["the content of a File", (id: string, file: string) => `/${id}/files/${file}/content`],
  ])("takes one D1 call: %s", async (_, rest) => {
    const { call, deleted, before, ids } = await vaultWithDeleted(["A"]);
    const { count, db } = countingDatabase();
    const path = deleted + rest(ids[0]!, before[0]!.body.files[0].id);
    expect((await call("GET", path, { env: { DB: db } })).status).toBe(200);
    expect(count.calls).toBe(1);
    expect(count.rowsRead).toBeLessThan(25);
  });
});
