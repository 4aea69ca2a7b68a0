import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { ItemRow } from "../../src/store/items/items.ts";
import type { VaultRow } from "../../src/store/vaults/rows.ts";
import { countingDatabase, recordOperations, rebindCoordinator, renewCoordinator, sleep } from "../support/bindings.ts";
import { contested } from "../support/contested.ts";
import { otherTag } from "../support/etags.ts";
import { inOneGroup } from "../support/group.ts";
import { admin, client, freshVault, LOGIN, makeToken } from "../support/service.ts";

/** The row cache of a coordinator saves D1 calls and has no authority (docs/consistency.md, A write). */

/** A vault and an Item that the coordinator has in its cache, and a count of its later D1 calls. */
async function filledCache() {
  const { vault, items, call } = await freshVault();
  const { body: item } = await call("POST", items, { body: LOGIN });
  const { count, db } = countingDatabase();
  await rebindCoordinator(vault, { DB: db });
  return { vault, items, call, count, path: `${items}/${item.id}` };
}

const RENAME = [{ op: "replace", path: "/title", value: "New" }];

describe("a coordinator with a filled cache", () => {
  it("refuses only the operation of a revoked token in a group; the others take effect", async () => {
    const { vault, path, call } = await filledCache();
    const { id, token } = await makeToken({ [vault]: "rw" });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const patches = [call, client(token), call].map((as) => as("PATCH", path, { body: RENAME }));
    expect((await Promise.all(patches)).map(({ status }) => status)).toEqual([200, 401, 200]);
    expect((await call("GET", path)).body.version).toBe(3);
  });

  it("answers a revoked token 401 and not 412, although the rest of its group commits", async () => {
    const { vault, path, call } = await filledCache();
    const { id, token } = await makeToken({ [vault]: "rw" });
    await admin("DELETE", `/v1/admin/tokens/${id}`);
    const wrong = { "If-Match": otherTag(1) };
    const rename = () => call("PATCH", path, { body: RENAME });
    const revoked = () => client(token)("PATCH", path, { body: RENAME, headers: wrong });
    const { others } = await inOneGroup(vault, rename, [rename, revoked]);
    expect(others.map(({ status }) => status)).toEqual([200, 401]);
  });

  it("reads D1 before it answers that If-Match does not contain the current version", async () => {
    const { make, put, tagOf, only } = await contested(1);
    const item = await make(only(0));
    expect((await put(item, "other", await tagOf(item), undefined, only(1))).body.version).toBe(2);
    expect((await put(item, "mine", await tagOf(item), undefined, only(0))).body).toMatchObject({ version: 3, title: "mine" });
  });

  it("reads D1 before it answers that an Item does not exist", async () => {
    const { make, put, only } = await contested(1);
    await make(only(0));
    const item = await make(only(1));
    expect((await put(item, "mine", undefined, undefined, only(0))).body).toMatchObject({ version: 2, title: "mine" });
  });

  it("reads D1 before it answers an empty PATCH", async () => {
    const { items, call, make, put, only } = await contested(1);
    const item = await make(only(0));
    await put(item, "other", undefined, undefined, only(1));
    const { body } = await call("PATCH", `${items}/${item}`, { body: [], env: only(0) });
    expect(body).toMatchObject({ version: 2, title: "other" });
  });

  it("gives the first answer to an Idempotency-Key that another coordinator has recorded", async () => {
    const { items, call, make, put, only } = await contested(1);
    const once = (index: 0 | 1) => call("POST", items, { body: LOGIN, headers: { "Idempotency-Key": "once" }, env: only(index) });
    const first = await once(0);
    const item = await make(only(1));
    await put(item, "fills the cache of the second coordinator", undefined, undefined, only(1));
    expect((await once(1)).body).toEqual(first.body);
    expect((await call("GET", items)).body).toHaveLength(2);
  });

  it("does not carry out an operation that another coordinator has carried out", async () => {
    const { items, call, make, put, only } = await contested(1);
    const { COORDINATOR, sent } = recordOperations(only(0).COORDINATOR!);
    const first = await call("POST", items, { body: LOGIN, env: { COORDINATOR } });
    const item = await make(only(1));
    await put(item, "fills the cache of the second coordinator", undefined, undefined, only(1));
    const again = await only(1).COORDINATOR!.getByName("").write(sent());
    expect(again).toMatchObject({ ok: true, value: { item: { id: first.body.id, version: 1 } } });
    expect((await call("GET", items)).body).toHaveLength(2);
  });

  it("reads D1 again when a restored database has the cached version with another time", async () => {
    const { vault, make, put, only } = await contested(1);
    const item = await make(only(0));
    await sleep(2);
    await put(item, "other", undefined, undefined, only(1));
    await env.DB.prepare("UPDATE vaults SET content_version = content_version - 1 WHERE id = ?").bind(vault).run();
    expect((await put(item, "mine", undefined, undefined, only(0))).body).toMatchObject({ version: 3, title: "mine" });
  });

  it("empties its cache when it reads another Item from a restored database", async () => {
    const { vault, items, call, make, put, only } = await contested(1);
    const [one, other] = [await make(only(0)), await make(only(0))];
    const rows = "SELECT id, version, overview, details FROM items WHERE id = ?";
    const item = (await env.DB.prepare(rows).bind(other).first<ItemRow>())!;
    const vaultBefore = (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(vault).first<VaultRow>())!;
    await put(other, "lost", undefined, undefined, only(0));
    await sleep(2);
    await env.DB.batch([
      env.DB.prepare("UPDATE vaults SET content_version = ?2, updated_at = ?3 WHERE id = ?1").bind(
        vault,
        vaultBefore.content_version,
        vaultBefore.updated_at,
      ),
      env.DB.prepare("UPDATE items SET version = ?2, overview = ?3, details = ?4 WHERE id = ?1").bind(
        other,
        item.version,
        item.overview,
        item.details,
      ),
    ]);
    await put(one, "after the restore", undefined, undefined, only(1));
    expect((await call("PATCH", `${items}/${one}`, { body: [], env: only(0) })).status).toBe(200);
    const tag = [{ op: "replace", path: "/tags", value: ["new"] }];
    const { body } = await call("PATCH", `${items}/${other}`, { body: tag, env: only(0) });
    expect(body).toMatchObject({ version: 2, title: LOGIN.title, tags: ["new"] });
  });

  it("reads an Item again after a write to its Files, and caches the new Files", async () => {
    const { path, call, count } = await filledCache();
    const upload = await call("POST", `${path}/files?name=a.txt`, { body: "content" });
    expect(upload.status).toBe(200);
    const calls = count.calls;
    expect((await call("PATCH", path, { body: RENAME })).body.files).toMatchObject([{ name: "a.txt" }]);
    expect(count.calls - calls).toBe(2);
    expect((await call("PATCH", path, { body: RENAME })).body.files).toMatchObject([{ name: "a.txt" }]);
    expect(count.calls - calls).toBe(3);
  });

  it("counts an Item's Files correctly when its group was too large for the cache", async () => {
    const { vault, items, path, call } = await filledCache();
    expect((await call("POST", `${path}/files?name=a.txt`, { body: "content" })).status).toBe(200);
    const fields = Array.from({ length: 5 }, () => ({ value: "x".repeat(60_000) }));
    const large = await Promise.all([1, 2, 3].map(() => call("POST", items, { body: { ...LOGIN, fields } })));
    await renewCoordinator(vault, {});
    const paths = [...large.map(({ body }) => `${items}/${body.id}`), path];
    const renames = paths.map((one) => () => call("PATCH", one, { body: RENAME }));
    await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), renames);
    expect((await call("PATCH", path, { body: RENAME })).body.files).toHaveLength(1);
    expect((await call("DELETE", path)).status).toBe(204);
    const counted = await env.DB.prepare("SELECT files, file_bytes FROM vaults WHERE id = ?").bind(vault).first();
    expect(counted).toEqual({ files: 0, file_bytes: 7 });
  });

  it("answers an empty PATCH 401 when its token is revoked before the commit of its group", async () => {
    const { vault, path, call } = await filledCache();
    const { id, token } = await makeToken({ [vault]: "rw" });
    let calls = 0;
    const before = async () => {
      // The second group reads with the third call, and commits with the fourth.
      if (++calls === 4) await admin("DELETE", `/v1/admin/tokens/${id}`);
    };
    await renewCoordinator(vault, {});
    const rename = () => call("PATCH", path, { body: RENAME });
    const { others } = await inOneGroup(vault, rename, [rename, () => client(token)("PATCH", path, { body: [] })], { before });
    expect(others.map(({ status }) => status)).toEqual([200, 401]);
    expect(calls).toBeGreaterThan(4);
  });

  it("answers 404 for an Item that it deleted", async () => {
    const { path, call } = await filledCache();
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("PATCH", path, { body: RENAME })).status).toBe(404);
  });

  it("keeps the new name of the vault and its counters", async () => {
    const { vault, items, path, call, count } = await filledCache();
    await admin("PATCH", `/v1/admin/vaults/${vault}`, { body: { name: "Renamed" } });
    await call("PATCH", path, { body: RENAME });
    await call("POST", items, { body: LOGIN });
    expect(count.calls).toBe(3);
    const { body } = await call("GET", `/v1/vaults/${vault}`);
    expect(body).toMatchObject({ name: "Renamed", attributeVersion: 2, contentVersion: 3, items: 2 });
    expect(await env.DB.prepare("SELECT count(*) AS n FROM items WHERE vault_id = ?").bind(vault).first("n")).toBe(2);
  });
});
