import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { operationId } from "../../src/model/ids.ts";
import { parsePatch } from "../../src/model/item-input.ts";
import type { Item } from "../../src/model/item.ts";
import { type Change, OPERATION_FORMAT } from "../../src/model/operation.ts";
import { countingDatabase, rebindCoordinator, renewCoordinator, setVariables, wrapDatabase } from "../support/bindings.ts";
import { CONTENTS, SEALED_BYTES } from "../support/faults.ts";
import { freshItem, pattern } from "../support/files.ts";
import { inOneGroup } from "../support/group.ts";
import { runs } from "../support/runs.ts";
import { LOGIN } from "../support/service.ts";
import { runSql, selectAll, selectFirst } from "../support/sql.ts";
import { countsOf, freshWriter, keeping, kindOf, rowsOf, unwrap } from "../support/versions.ts";
import { flipped } from "../verify/support/vault.ts";

/**
 * The write path of kept versions and deleted Items (docs/design/writes.md). test/proof/versions.test.ts compares what is kept with a model.
 */

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
  const results = await selectAll(sql, vault);
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
  await runSql("UPDATE vaults SET updated_at = 0 WHERE id = ?", vault);
  const { count, db } = countingDatabase();
  await renewCoordinator(vault, { DB: wrapDatabase(db, { before: () => expect(count.calls).toBeLessThan(9) }) });
  expect(kindOf(await env.COORDINATOR.getByName(vault).write(operation))).toBe("overtaken");
  expect(count.calls).toBeLessThanOrEqual(2);
});

it("an Item that does not open leaves the counts as the rows are when it is deleted (contract 12.6)", async () => {
  const { vault, path, call, upload } = await freshItem();
  await upload(pattern(10));
  await runSql(`UPDATE items SET details = ${flipped("details")} WHERE vault_id = ?`, vault);
  await evictDurableObject(env.COORDINATOR.getByName(vault));
  expect((await call("DELETE", path)).status).toBe(204);
  expect(await differencesIn(vault)).toMatchObject({ sealedBytes: 0 });
  expect(await env.DB.prepare("SELECT sealed_bytes FROM vaults WHERE id = ?").bind(vault).first("sealed_bytes")).toBeGreaterThan(
    0,
  );
});

const KEPT = 3;

/** What must be equal, and what must be 0. */
const SQL = `
  SELECT sealed_bytes - (${SEALED_BYTES}) AS sealedBytes,
    file_bytes - (SELECT total(size) FROM (${CONTENTS})) AS fileBytes,
    files - (SELECT count(*) FROM files WHERE vault_id = ?1 AND item_id IN (SELECT id FROM items WHERE vault_id = ?1)) AS files,
    items - (SELECT count(*) FROM items WHERE vault_id = ?1) AS items,
    deleted - (SELECT count(*) FROM deleted_items WHERE vault_id = ?1) AS deleted,
    content_version - (SELECT count(*) FROM activity WHERE vault_id = ?1 AND item_id IS NOT NULL AND action NOT IN ('READ')) AS writes,
    (SELECT count(*) FROM deleted_items WHERE vault_id = ?1 AND id IN (SELECT id FROM items WHERE vault_id = ?1)) AS both,
    (SELECT count(*) FROM deleted_items AS d WHERE vault_id = ?1 AND NOT EXISTS (
      SELECT 1 FROM item_versions WHERE vault_id = ?1 AND item_id = d.id AND version = d.version)) AS withoutContent,
    (SELECT count(*) FROM file_versions AS f WHERE vault_id = ?1 AND NOT EXISTS (
      SELECT 1 FROM item_versions WHERE vault_id = ?1 AND item_id = f.item_id AND version >= since AND version < until)) AS unusedFiles,
    (SELECT count(*) FROM (SELECT item_id FROM item_versions WHERE vault_id = ?1 GROUP BY item_id
      HAVING count(*) > ${KEPT} + (item_id IN (SELECT id FROM deleted_items WHERE vault_id = ?1)))) AS tooMany,
    (SELECT count(*) FROM item_versions WHERE vault_id = ?1 AND item_id NOT IN (
      SELECT id FROM items WHERE vault_id = ?1 UNION SELECT id FROM deleted_items WHERE vault_id = ?1)) AS withoutItem
  FROM vaults WHERE id = ?1`;

const differencesIn = async (vault: string) => (await selectFirst<Record<string, number>>(SQL, vault))!;

const kinds = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("patch", "add", "restore", "restore item") },
  { weight: 1, arbitrary: fc.constantFrom("replace", "delete file", "destroy version", "delete", "destroy item") },
);
const one = fc.record({ kind: kinds, item: fc.nat(1), file: fc.nat(2), version: fc.integer({ min: 1, max: 8 }) });
const group = fc.record({ writes: fc.array(one, { minLength: 1, maxLength: 8 }), evict: fc.boolean() });

function changeOf({ kind, file, version }: { kind: string; file: number; version: number }, item: string, draw: number): Change {
  const id = `00000000-0000-4000-8000-00000000000${file}`;
  const content = { id, size: 10 + draw, generation: crypto.randomUUID(), key: "A".repeat(44) };
  switch (kind) {
    case "patch":
      return {
        kind: "patch-item",
        item,
        edits: unwrap(parsePatch(retitled(`title ${draw}`))),
      };
    case "add": // the id of a File is new with each upload
      return { kind: "add-file", item, file: { ...content, id: crypto.randomUUID(), name: `file ${draw}` } };
    case "replace":
      return { kind: "replace-content", item, file: content };
    case "delete file":
      return { kind: "delete-file", item, file: id };
    case "restore":
      return { kind: "restore-version", item, version };
    case "destroy version":
      return { kind: "destroy-version", item, version };
    case "delete":
      return { kind: "delete-item", item };
    default:
      return { kind: kind === "restore item" ? "restore-item" : "destroy-item", item };
  }
}

const contentOf = ({ title, files }: Pick<Item, "title" | "files">) => ({
  title,
  files: files.map(({ id, generation, size, name }) => [id, generation, size, name]).toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
});

it("the rows of versions, Files and deleted Items agree with each other and with the counts, and each kept version is the one that its write answered", async () => {
  let draw = 0;
  const property = fc.asyncProperty(fc.array(group, { minLength: 1, maxLength: 6 }), async (groups) => {
    const { vault, items, call, apply } = await freshWriter();
    await setVariables(vault, keeping(KEPT, 30));
    const ids: string[] = await Promise.all(
      [0, 1].map(async () => (await call("POST", items, { body: LOGIN })).body.id as string),
    );
    const first = ids.map((id) => [`${id}/1`, { title: LOGIN.title, files: [] as unknown[] }] as const);
    const answered = new Map<string, unknown>(first);
    const names = new Map<string, string[]>();
    for (const { writes, evict } of groups) {
      const answers = writes.map((write) => {
        const id = ids[write.item]!;
        const change = changeOf(write, id, ++draw);
        // An existing File, where one is named.
        const file = names.get(id)?.[write.file];
        if (file !== undefined && change.kind === "delete-file") return apply({ ...change, file });
        return apply(
          file !== undefined && change.kind === "replace-content" ? { ...change, file: { ...change.file, id: file } } : change,
        );
      });
      for (const answer of await Promise.all(answers)) {
        expect(kindOf(answer) ?? "invalid").toMatch(/not_found|invalid/);
        const item = answer.ok ? answer.value.item : undefined;
        if (!item) continue;
        answered.set(`${item.id}/${item.version}`, contentOf(item));
        names.set(
          item.id,
          item.files.map(({ id }) => id),
        );
      }
      if (evict) await evictDurableObject(env.COORDINATOR.getByName(vault));
      if (evict) await setVariables(vault, keeping(KEPT, 30));
      const differences = await differencesIn(vault);
      expect(differences).toEqual(Object.fromEntries(Object.keys(differences).map((name) => [name, 0])));
    }
    for (const item of ids) await apply({ kind: "restore-item", item });
    const results = await selectAll<{ item_id: string; version: number }>(
      "SELECT item_id, version FROM item_versions WHERE vault_id = ? AND item_id IN (SELECT id FROM items)",
      vault,
    );
    for (const { item_id: item, version } of results) {
      const restored = await apply({ kind: "restore-version", item, version });
      // A restoration drops the oldest version, which may be the next one of the list.
      if (!restored.ok && restored.failure.kind === "version_not_found") continue;
      expect(contentOf(unwrap(restored).item as Item)).toEqual(answered.get(`${item}/${version}`));
    }
  });
  await fc.assert(property, { numRuns: runs(6, 500) });
});
