import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Item } from "../../src/model/item.ts";
import type { Change } from "../../src/model/operation.ts";
import { parsePatch } from "../../src/model/item-input.ts";
import { setVariables } from "../support/bindings.ts";
import { CONTENTS, SEALED_BYTES } from "../support/faults.ts";
import { runs } from "../support/runs.ts";
import { LOGIN } from "../support/service.ts";
import { freshWriter, keeping, kindOf, unwrap } from "../support/versions.ts";

/** The rows of versions, Files and deleted Items after any writes, alone or in groups (docs/design/writes.md). */

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
        edits: unwrap(parsePatch([{ op: "replace", path: "/title", value: `title ${draw}` }])),
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

it("agree with each other and with the counts, and each kept version is the one that its write answered", async () => {
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
      const differences = (await env.DB.prepare(SQL).bind(vault).first<Record<string, number>>())!;
      expect(differences).toEqual(Object.fromEntries(Object.keys(differences).map((name) => [name, 0])));
    }
    for (const item of ids) await apply({ kind: "restore-item", item });
    const { results } = await env.DB.prepare(
      "SELECT item_id, version FROM item_versions WHERE vault_id = ? AND item_id IN (SELECT id FROM items)",
    )
      .bind(vault)
      .all<{ item_id: string; version: number }>();
    for (const { item_id: item, version } of results) {
      const restored = await apply({ kind: "restore-version", item, version });
      // A restoration drops the oldest version, which may be the next one of the list.
      if (!restored.ok && restored.failure.kind === "version_not_found") continue;
      expect(contentOf(unwrap(restored).item as Item)).toEqual(answered.get(`${item}/${version}`));
    }
  });
  await fc.assert(property, { numRuns: runs(6, 500) });
});
