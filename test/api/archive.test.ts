import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { recordingQueue } from "../support/activity.ts";
import { countingDatabase } from "../support/bindings.ts";
import { pattern } from "../support/files.ts";
import { login, seedItems } from "../support/seed.ts";
import { client, freshVault, LOGIN, makeToken, nextOf, outcome, pagesFrom, type Reply } from "../support/service.ts";
import { UNDER_LOAD } from "../support/waits.ts";

/** Archived Items (contract 14.14 to 14.16). */

async function vaultWith(...titles: string[]) {
  const fresh = await freshVault();
  const paths: string[] = [];
  for (const title of titles) {
    const { body } = await fresh.call("POST", fresh.items, { body: { ...LOGIN, title } });
    paths.push(`${fresh.items}/${body.id}`);
  }
  /** The titles of a list, sorted. */
  const titlesOf = async (query = ""): Promise<string[]> => {
    const { body } = await fresh.call("GET", `${fresh.items}?${query}`);
    return body.map(({ title }: { title: string }) => title).toSorted();
  };
  return { ...fresh, paths, titlesOf };
}

const titleIs = (title: string) => `filter=${encodeURIComponent(`title eq "${title}"`)}`;

describe("POST …/archive", () => {
  it("answers the full Item with state ARCHIVED and a new version, and GET of the Item works as before", async () => {
    const { call, paths } = await vaultWith("A");
    const archived = await call("POST", `${paths[0]}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { title: "A", state: "ARCHIVED", version: 2, fields: [] } });
    const read = await call("GET", paths[0]!);
    expect([read.status, read.body]).toEqual([200, archived.body]);
    expect(read.headers.get("ETag")).toBe(archived.headers.get("ETag"));
  });

  it("of an archived Item answers it unchanged, and is logged as a READ of it", async () => {
    const { call, paths } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const { rows, bindings } = recordingQueue();
    expect((await call("POST", `${paths[0]}/archive`, { env: bindings })).body).toMatchObject({ version: 2, state: "ARCHIVED" });
    await vi.waitFor(() => expect(rows).toHaveLength(1), UNDER_LOAD);
    expect(rows[0]).toMatchObject({ action: "READ", result: "SUCCESS", item: paths[0]!.split("/").at(-1), version: 2 });
  });

  it("keeps the state through PUT and PATCH, whatever state they send", async () => {
    const { vault, call, paths } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const put = await call("PUT", paths[0]!, { body: { ...LOGIN, vault: { id: vault }, state: "DELETED" } });
    const patched = await call("PATCH", paths[0]!, { body: [{ op: "replace", path: "/title", value: "B" }] });
    expect([put.body.state, patched.body.state]).toEqual(["ARCHIVED", "ARCHIVED"]);
  });

  it("and unarchive are two requests: the Idempotency-Key of one is a 409 for the other", async () => {
    const { call, paths } = await vaultWith("A");
    const headers = { "Idempotency-Key": "mine" };
    await call("POST", `${paths[0]}/archive`, { headers });
    expect((await call("POST", `${paths[0]}/unarchive`, { headers })).status).toBe(409);
  });
});

describe("POST …/unarchive", () => {
  it("removes the state with a new version, and the Item is in the list again", async () => {
    const { call, paths, titlesOf } = await vaultWith("A");
    await call("POST", `${paths[0]}/archive`);
    const { body } = await call("POST", `${paths[0]}/unarchive`);
    expect([body.version, "state" in body, await titlesOf()]).toEqual([3, false, ["A"]]);
  });

  it("of an Item that is not archived answers it unchanged", async () => {
    const { call, paths } = await vaultWith("A");
    expect((await call("POST", `${paths[0]}/unarchive`)).body.version).toBe(1);
  });
});

describe("a list", () => {
  it.each([
    ["", ["A"]],
    ["archived=false", ["A"]],
    ["archived=true", ["A", "A", "B"]],
    [titleIs("A"), ["A"]],
    [titleIs("B"), []],
    [`archived=true&${titleIs("B")}`, ["B"]],
    [`${titleIs("A")}&archived=true`, ["A", "A"]],
  ])("has an archived Item only with archived=true, beside one of the same title that is not: %s", async (query, expected) => {
    const { call, paths, titlesOf } = await vaultWith("A", "A", "B");
    for (const path of [paths[0], paths[2]]) await call("POST", `${path}/archive`);
    expect(await titlesOf(query)).toEqual(expected);
  });

  it("reads a filter as one title when only the last of many Items with that title is not archived", async () => {
    const { vault, titlesOf } = await vaultWith();
    const title = 'A" and tag eq "x';
    const archived = Array.from({ length: 12 }, (_, index) => ({
      ...login(vault, title, { state: "ARCHIVED" }),
      id: `00000000-0000-4000-8000-0000000000${String(index).padStart(2, "0")}`,
    }));
    const last = { ...login(vault, title), id: "ffffffff-0000-4000-8000-000000000000" };
    await seedItems(env, vault, [...archived, last]);
    expect(await titlesOf(titleIs(title))).toEqual([title]);
  });

  it("is paged without archived Items, and the link keeps archived=true", async () => {
    const titles = Array.from({ length: 8 }, (_, index) => `T${index}`);
    const { call, items, paths } = await vaultWith(...titles);
    for (const path of paths.slice(0, 5)) await call("POST", `${path}/archive`);
    for (const [query, expected] of [
      ["limit=2", titles.slice(5)],
      ["limit=2&archived=true", titles],
    ] as const) {
      const pages = await pagesFrom(call, `${items}?${query}`);
      expect(pages.every(({ length }) => length <= 2)).toBe(true);
      expect(
        pages
          .flat()
          .map(({ title }): string => title)
          .toSorted(),
      ).toEqual(expected);
    }
  });

  it("costs at most 5 D1 calls for a page of one Item behind 4,500 archived ones", async () => {
    const { vault, call, items } = await vaultWith();
    await seedItems(
      env,
      vault,
      Array.from({ length: 4_500 }, (_, index) => login(vault, `Item ${index}`, { state: "ARCHIVED" })),
    );
    const { count, db } = countingDatabase();
    const reply = await call("GET", `${items}?limit=1`, { env: { DB: db } });
    expect([reply.status, reply.body, nextOf(reply) !== undefined]).toEqual([200, [], true]);
    expect(count.calls).toBeLessThanOrEqual(5);
  });
});

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
    const pages = await pagesFrom(call, `${deleted}?limit=2`);
    expect(pages.map(({ length }) => length)).toEqual([2, 1]);
    expect(
      pages
        .flat()
        .map(({ id }): string => id)
        .toSorted(),
    ).toEqual(ids.toSorted());
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

  it("is empty for a vault without deleted Items", async () => {
    const { vault, call } = await freshVault();
    expect((await call("GET", `/v1/vaults/${vault}/deleted-items`)).body).toEqual([]);
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
    expect(outcome(missing)).toEqual([404, "file_not_found"]);
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

  it("and DELETE of the Item are two requests: the Idempotency-Key of one is a 409 for the other", async () => {
    const { call, items, deleted } = await vaultWithDeleted([]);
    const { body } = await call("POST", items, { body: LOGIN });
    const headers = { "Idempotency-Key": "mine" };
    expect((await call("DELETE", `${items}/${body.id}`, { headers })).status).toBe(204);
    expect((await call("DELETE", `${deleted}/${body.id}`, { headers })).status).toBe(409);
    expect((await call("GET", `${deleted}/${body.id}`)).status).toBe(200);
  });
});
