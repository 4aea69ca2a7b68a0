import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { backUp, backUpAll, stateOf } from "../support/backup.ts";
import { ignoreChecks } from "../support/migrate.ts";
import { restore } from "../support/restores.ts";
import { sample } from "../support/runs.ts";
import { flipped, type Planted, plantVault } from "../verify/support/vault.ts";
import { verifyAll } from "../verify/support/verify.ts";

/** One damaged row costs no other one in a backup and a restore (contract 21.5 and 21.24). */

/** SQL of a damaged value, by the column. test/damage/numbers.test.ts has every column with numbers. */
const DAMAGES = [
  ...["items", "item_versions"].flatMap((table) => ["overview", "details"].map((column) => [table, column, flipped(column)])),
  ...["files", "file_versions", "webhooks", "activity"].map((table) => [table, "sealed", flipped("sealed")]),
  ...["name", "description"].map((column) => ["vaults", column, flipped(column)]),
  ...["action", "result", "resource", "event"].map((column) => ["activity", column, "'WORD'"]),
] as [table: string, column: string, value: string][];

/** SQL: whether a File replaced another one of its id. */
const REPLACED = "EXISTS (SELECT 1 FROM file_versions WHERE (item_id, id) = (files.item_id, files.id))";

/** The row that is damaged: the first one of its table, in the order of its key. */
const FIRST: Readonly<Record<string, string>> = {
  // Without earlier versions, of which `verify` would name those that lie between.
  items:
    "id = (SELECT id FROM items WHERE vault_id = ?1 AND NOT EXISTS (SELECT 1 FROM item_versions WHERE item_id = items.id) LIMIT 1)",
  item_versions:
    "(item_id, version) = (SELECT item_id, version FROM item_versions WHERE vault_id = ?1 ORDER BY item_id, version LIMIT 1)",
  // One that replaced no other.
  files: `(item_id, id) = (SELECT item_id, id FROM files WHERE vault_id = ?1 AND NOT (${REPLACED}) ORDER BY item_id, id LIMIT 1)`,
  file_versions:
    "(item_id, id, until) = (SELECT item_id, id, until FROM file_versions WHERE vault_id = ?1 ORDER BY item_id, id, until LIMIT 1)",
  webhooks: "true",
  activity: "id = (SELECT min(id) FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL)",
};

let planted: Planted;
/** The vault before each damage. */
let sound: Awaited<ReturnType<typeof stateOf>>;

beforeAll(async () => {
  planted = await plantVault();
  await backUpAll();
  sound = await stateOf(planted.vault);
});

/** Damages a row. Returns what takes the damage back. */
async function damage(table: string, column: string, value: string): Promise<() => Promise<unknown>> {
  const where = table === "vaults" ? "id = ?1" : `vault_id = ?1 AND ${FIRST[table]}`;
  const before = await env.DB.prepare(`SELECT ${column} FROM ${table} WHERE ${where}`).bind(planted.vault).first(column);
  await ignoreChecks(true);
  const { meta } = await env.DB.prepare(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`).bind(planted.vault).run();
  await ignoreChecks(false);
  expect(meta.changes).toBe(1);
  return () => env.DB.prepare(`UPDATE ${table} SET ${column} = ?2 WHERE ${where}`).bind(planted.vault, before).run();
}

async function expectFindings(body: object, findings: readonly object[]): Promise<void> {
  for (const dryRun of [true, false])
    expect(await restore({ ...body, dryRun })).toMatchObject({ status: 200, body: { state: "done", findings } });
}

describe("a row that is damaged", () => {
  it.each(sample(DAMAGES, 3))(
    "is in the backup that reads it, and costs no other one in a restore: %s.%s",
    async (table, column, value) => {
      const { vault } = planted;
      const undo = await damage(table, column, value);
      try {
        const step = await backUp(vault, { full: true });
        expect(step).toMatchObject({ state: "done", findings: [] });
        await expectFindings({ vault, snapshot: step.snapshot, overwrite: true }, []);
        const { rows: after } = await stateOf(vault);
        for (const [name, rows] of Object.entries(sound.rows)) {
          const texts = new Set(after[name]!.map((row) => JSON.stringify(row)));
          const same = rows.filter((row) => texts.has(JSON.stringify(row)));
          expect([name, after[name]!.length, same.length]).toEqual([name, rows.length, rows.length - (table === name ? 1 : 0)]);
        }
        // The row is written as it is, and named.
        const { findings } = await verifyAll({ vault });
        expect([...new Set(findings.map((one) => one.table))]).toEqual([table]);
      } finally {
        await restore({ vault, snapshot: 1, overwrite: true });
        if (table === "activity") await undo(); // entries of the log stay as they are
        expect(await stateOf(vault)).toEqual(sound);
      }
    },
  );
});

const place = () => planted.object;
const copy = () => `contents/${place()}`;

/** Runs a check without the content in FILES and with a changed copy in the backup. Without bytes of `change` there is no copy. */
async function checkWithCopy(change: (bytes: Uint8Array) => Uint8Array | undefined, check: () => Promise<void>): Promise<void> {
  const [saved, content] = [await (await env.BACKUPS.get(copy()))!.bytes(), await (await env.FILES.get(place()))!.bytes()];
  const changed = change(saved);
  await (changed ? env.BACKUPS.put(copy(), changed) : env.BACKUPS.delete(copy()));
  await env.FILES.delete(place());
  await check();
  expect((await stateOf(planted.vault)).rows).toEqual(sound.rows);
  await env.BACKUPS.put(copy(), saved);
  await env.FILES.put(place(), content);
}

describe("a content that the backup does not have as it was", () => {
  it("is named by the dry run and the restore if it is missing, and everything else comes back", () =>
    checkWithCopy(
      () => undefined,
      async () => {
        const { vault, file, item } = planted;
        const named = [{ kind: "content_missing", vault, item, file, id: place() }];
        await expectFindings({ vault, snapshot: 1, overwrite: true }, named);
        expect(await env.FILES.head(place())).toBeNull();
      },
    ));

  it.each([
    ["cut off", "content_size_wrong", (bytes: Uint8Array) => bytes.slice(0, -1)],
    ["changed", "content_damaged", (bytes: Uint8Array) => bytes.with(bytes.length - 100, bytes.at(-100)! ^ 1)],
  ])("is copied as it is, and named by a verify afterwards: %s", (_, kind, change) =>
    checkWithCopy(change, async () => {
      const { vault, file, item } = planted;
      await expectFindings({ vault, snapshot: 1, overwrite: true }, []);
      expect((await verifyAll({ vault })).findings).toMatchObject([{ kind, vault, item, file }]);
    }),
  );
});
