import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import { OPERATION_FORMAT } from "../../src/model/operation.ts";
import { parsePatch } from "../../src/model/item-input.ts";
import { countingDatabase, rebindCoordinator, renewCoordinator, wrapDatabase } from "../support/bindings.ts";
import { inOneGroup } from "../support/group.ts";
import { LOGIN } from "../support/service.ts";
import { ageVault, countsOf, freshWriter, keeping, kindOf, rowsOf, unwrap } from "../support/versions.ts";

/** The write path of kept versions and deleted Items (docs/design/writes.md). */

const retitled = (title: string) => [{ op: "replace", path: "/title", value: title }];

/** An Item with the titles `1` to `writes`, one per version. */
async function writtenItem(writes: number, versions = 10, days = 30) {
  const writer = await freshWriter();
  await rebindCoordinator(writer.vault, keeping(versions, days));
  const { body } = await writer.call("POST", writer.items, { body: { ...LOGIN, title: "1" } });
  const path = `${writer.items}/${body.id}`;
  const patch = async (title: string) => (await writer.call("PATCH", path, { body: retitled(title) })).body;
  for (let write = 2; write <= writes; write++) await patch(String(write));
  const item = body.id as string;
  return { ...writer, item, path, patch, rows: () => rowsOf(writer.vault, item) };
}

describe("kept versions", () => {
  it("are the earlier ones, and at most VERSIONS_KEPT of them", async () => {
    const { patch, rows } = await writtenItem(4, 3);
    expect((await rows()).versions).toEqual([1, 2, 3]);
    await patch("5");
    expect((await rows()).versions).toEqual([2, 3, 4]);
  });

  it("are none with VERSIONS_KEPT = 0", async () => {
    expect((await (await writtenItem(3, 0)).rows()).versions).toEqual([]);
  });

  it("contain those that a group makes and replaces", async () => {
    const { apply, item, rows, call, path } = await writtenItem(1, 3);
    const patch = (value: string) => apply({ kind: "patch-item", item, edits: unwrap(parsePatch(retitled(value))) });
    const answers = await Promise.all(["2", "3", "4", "5", "6"].map(patch));
    expect(answers.map(({ ok }) => ok)).toEqual(Array(5).fill(true));
    expect((await rows()).versions).toEqual([3, 4, 5]);
    for (const version of [3, 4]) {
      await apply({ kind: "restore-version", item, version });
      expect((await call("GET", path)).body.title).toBe(String(version));
    }
  });

  it("cost two statements in a commit, not two for each Item of a group", async () => {
    const { vault, items, call } = await freshWriter();
    const created = await Promise.all(Array.from({ length: 32 }, () => call("POST", items, { body: LOGIN })));
    const statements: number[] = [];
    const before = (count: number) => void statements.push(count);
    for (const title of ["2", "3"]) {
      const patches = created.map(
        ({ body }) =>
          () =>
            call("PATCH", `${items}/${body.id}`, { body: retitled(title) }),
      );
      await inOneGroup(vault, () => call("POST", items, { body: LOGIN }), patches, { before }, keeping(1, 30));
    }
    // The log entries, the vault, 32 Items, the versions that move and those that are dropped.
    expect(Math.max(...statements)).toBeLessThanOrEqual(2 + 32 + 2);
  });

  it("take at most VERSIONS_KEPT times the size of a large Item", async () => {
    const { vault, items, call } = await freshWriter();
    await rebindCoordinator(vault, keeping(2, 30));
    const fields = [{ id: "f", value: "x".repeat(60_000) }];
    const path = `${items}/${(await call("POST", items, { body: { ...LOGIN, fields } })).body.id}`;
    for (let write = 0; write < 6; write++) await call("PATCH", path, { body: retitled(String(write)) });
    const bytes = await env.DB.prepare("SELECT sealed_bytes FROM vaults WHERE id = ?").bind(vault).first<number>("sealed_bytes");
    expect(bytes).toBeLessThan(3 * 85_000);
  });

  it("shrink to a lowered VERSIONS_KEPT with the next write to the Item", async () => {
    const { vault, patch, rows } = await writtenItem(5, 4);
    await rebindCoordinator(vault, keeping(1, 30));
    await patch("6");
    expect((await rows()).versions).toEqual([5]);
    expect(await countsOf(vault)).toMatchObject({ versions_kept: 4 });
  });
});

describe("restore-version", () => {
  it("makes a new version with the content of the earlier one", async () => {
    const { item, path, call, apply, rows, actor } = await writtenItem(3);
    const answer = await apply({ kind: "restore-version", item, version: 1 });
    expect(answer).toMatchObject({ ok: true, value: { item: { version: 4, title: "1", lastEditedBy: actor } } });
    expect((await call("GET", path)).body).toMatchObject({ version: 4, title: "1" });
    expect((await rows()).versions).toEqual([1, 2, 3]);
  });

  it("of the current version writes nothing", async () => {
    const { item, apply, rows } = await writtenItem(2);
    expect(await apply({ kind: "restore-version", item, version: 2 })).toMatchObject({ value: { item: { version: 2 } } });
    expect((await rows()).versions).toEqual([1]);
  });

  it("of a missing version is refused, before a version that does not match", async () => {
    const { item, apply } = await writtenItem(2);
    const restore = (version: number) => apply({ kind: "restore-version", item, version, ifMatch: ["another"] });
    expect([kindOf(await restore(7)), kindOf(await restore(1))]).toEqual(["version_not_found", "precondition"]);
  });

  it("leaves an archived Item archived", async () => {
    const { item, apply } = await writtenItem(2);
    await apply({ kind: "archive-item", item });
    expect(await apply({ kind: "restore-version", item, version: 1 })).toMatchObject({
      value: { item: { title: "1", state: "ARCHIVED" } },
    });
  });
});

describe("a deleted Item", () => {
  it("is a 404 for the endpoints of Items, and keeps its versions", async () => {
    const { vault, path, call, rows, actor } = await writtenItem(3);
    expect((await call("DELETE", path)).status).toBe(204);
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(404);
    expect(await rows()).toMatchObject({ versions: [1, 2, 3], deleted: { version: 3, deleted_by: actor } });
    expect(await countsOf(vault)).toMatchObject({ items: 0, created: 1, deleted: 1 });
  });

  it("keeps VERSIONS_KEPT versions besides the last one", async () => {
    for (const [kept, versions] of [
      [0, [4]],
      [2, [2, 3, 4]],
    ] as const) {
      const { path, call, rows } = await writtenItem(4, kept);
      await call("DELETE", path);
      expect((await rows()).versions).toEqual(versions);
    }
  });

  it("restored has its old id and the next version", async () => {
    const { vault, item, path, call, apply, rows } = await writtenItem(2);
    await call("DELETE", path);
    expect(await apply({ kind: "restore-item", item })).toMatchObject({ value: { item: { id: item, version: 3, title: "2" } } });
    expect((await call("GET", path)).body).toMatchObject({ version: 3, title: "2" });
    expect((await call("GET", `${path.replace(/\/[^/]*$/, "")}?filter=${encodeURIComponent('title eq "2"')}`)).body).toHaveLength(
      1,
    );
    expect(await rows()).toMatchObject({ versions: [1, 2], deleted: undefined });
    expect(await countsOf(vault)).toMatchObject({ items: 1, created: 1, deleted: 0, restored: 1 });
    expect(kindOf(await apply({ kind: "restore-item", item }))).toBe("item_not_found");
  });

  it("destroyed leaves no row", async () => {
    const { vault, item, path, call, apply, rows } = await writtenItem(2);
    expect(kindOf(await apply({ kind: "destroy-item", item }))).toBe("item_not_found");
    await call("DELETE", path);
    expect(await apply({ kind: "destroy-item", item })).toEqual({ ok: true, value: { bookmark: expect.anything() } });
    expect(await rows()).toEqual({ versions: [], files: [], ended: [], deleted: undefined });
    expect(await countsOf(vault)).toMatchObject({ items: 0, deleted: 0, destroyed: 1 });
    expect(kindOf(await apply({ kind: "restore-item", item }))).toBe("item_not_found");
  });

  it("is destroyed at once when the retention is 0", async () => {
    const { path, call, rows } = await writtenItem(3, 10, 0);
    await call("DELETE", path);
    expect(await rows()).toEqual({ versions: [], files: [], ended: [], deleted: undefined });
  });
});

describe("expire-item", () => {
  it("destroys a deleted Item after its retention, and not before", async () => {
    const { vault, item, path, call, apply, rows } = await writtenItem(2);
    await call("DELETE", path);
    expect(await apply({ kind: "expire-item", item })).toEqual({ ok: true, value: { bookmark: expect.anything() } });
    expect((await rows()).versions).toEqual([1, 2]);
    await ageVault(vault, 31);
    await apply({ kind: "expire-item", item });
    expect(await rows()).toEqual({ versions: [], files: [], ended: [], deleted: undefined });
    expect(await countsOf(vault)).toMatchObject({ deleted: 0, destroyed: 1 });
  });

  it("drops what is beyond a lowered VERSIONS_KEPT, and changes nothing where nothing is", async () => {
    const { vault, item, apply, rows } = await writtenItem(4);
    await rebindCoordinator(vault, keeping(1, 30));
    await apply({ kind: "expire-item", item });
    await apply({ kind: "expire-item", item });
    expect((await rows()).versions).toEqual([3]);
    expect(await countsOf(vault)).toMatchObject({ destroyed: 1 });
  });
});

it("each of them is in the log once, with its event (contract 14.18)", async () => {
  const { vault, item, path, call, apply } = await writtenItem(2);
  await apply({ kind: "restore-version", item, version: 1 });
  await apply({ kind: "destroy-version", item, version: 2 });
  await call("DELETE", path);
  await apply({ kind: "restore-item", item });
  await call("DELETE", path);
  await apply({ kind: "destroy-item", item });
  const sql =
    "SELECT action, version, event FROM activity WHERE vault_id = ? AND item_id IS NOT NULL AND result = 'SUCCESS' ORDER BY sequence";
  const { results } = await env.DB.prepare(sql).bind(vault).all();
  expect(results.map(({ action, version, event }) => [action, version, event])).toEqual([
    ["CREATE", 1, null],
    ["UPDATE", 2, null],
    ["UPDATE", 3, "restored"],
    ["DELETE", 2, "version_destroyed"],
    ["DELETE", null, null],
    ["UPDATE", 4, "restored"],
    ["DELETE", null, null],
    ["DELETE", null, "destroyed"],
  ]);
});

describe("destroy-version", () => {
  it("deletes an earlier version, and only that", async () => {
    const { vault, item, apply, rows, path, call } = await writtenItem(3);
    expect(await apply({ kind: "destroy-version", item, version: 1 })).toEqual({
      ok: true,
      value: { bookmark: expect.anything() },
    });
    expect((await rows()).versions).toEqual([2]);
    expect(kindOf(await apply({ kind: "destroy-version", item, version: 1 }))).toBe("version_not_found");
    expect((await call("GET", path)).body.version).toBe(3);
    expect(await countsOf(vault)).toMatchObject({ destroyed: 1 });
  });

  it("refuses the current version, and every version of a deleted Item", async () => {
    const { item, apply, call, path } = await writtenItem(2);
    const destroy = async (version: number) => kindOf(await apply({ kind: "destroy-version", item, version }));
    expect(await destroy(2)).toBe("invalid");
    await call("DELETE", path);
    expect([await destroy(2), await destroy(1)]).toEqual(["item_not_found", "item_not_found"]);
  });
});

describe("a group that does several things to one Item", () => {
  it("deletes, restores and writes it in order", async () => {
    const { item, apply, rows, call, path } = await writtenItem(2);
    const answers = await Promise.all([
      apply({ kind: "delete-item", item }),
      apply({ kind: "restore-item", item }),
      apply({ kind: "restore-version", item, version: 1 }),
      apply({ kind: "destroy-version", item, version: 2 }),
    ]);
    expect(answers.map(kindOf)).toEqual([undefined, undefined, undefined, undefined]);
    expect((await call("GET", path)).body).toMatchObject({ version: 4, title: "1" });
    expect(await rows()).toMatchObject({ versions: [1, 3], deleted: undefined });
  });

  it("creates, deletes and destroys it", async () => {
    const { apply, rows, item, path, call } = await writtenItem(1);
    await Promise.all([apply({ kind: "delete-item", item }), apply({ kind: "destroy-item", item })]);
    expect(await rows()).toEqual({ versions: [], files: [], ended: [], deleted: undefined });
    expect((await call("GET", path)).status).toBe(404);
  });
});

it("a write that is sent again after its version became an earlier one, in a vault that does not open, ends after two D1 calls", async () => {
  const { vault, item, actor, tokenHash, patch } = await writtenItem(1);
  const change = { kind: "patch-item", item, edits: unwrap(parsePatch(retitled("2"))) } as const;
  const id = operationId(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
  const operation = {
    format: OPERATION_FORMAT,
    id,
    vault,
    actor,
    token: { id: actor, hash: tokenHash },
    size: 0,
    origin: { userAgent: "", requestIp: "" },
    change,
  };
  expect((await env.COORDINATOR.getByName(vault).write(operation)).ok).toBe(true);
  await patch("3");
  await env.DB.prepare("UPDATE vaults SET updated_at = 0 WHERE id = ?").bind(vault).run();
  const { count, db } = countingDatabase();
  await renewCoordinator(vault, { DB: wrapDatabase(db, { before: () => expect(count.calls).toBeLessThan(9) }) });
  expect(kindOf(await env.COORDINATOR.getByName(vault).write(operation))).toBe("overtaken");
  expect(count.calls).toBeLessThanOrEqual(2);
});
