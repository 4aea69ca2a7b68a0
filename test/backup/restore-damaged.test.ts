import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { backUp, backUpAll, rowsInDatabase, type VaultRows } from "../support/backup.ts";
import { restore } from "../support/restores.ts";
import { sample } from "../support/runs.ts";
import { flipped, type Planted, plantVault } from "../verify/support/vault.ts";
import { verifyAll } from "../verify/support/verify.ts";
import { ignoreChecks } from "../support/migrate.ts";

/** One damaged row costs no other one in a backup and a restore (contract 21.5 and 21.24). */

/** 10000-01-01: no list shows a row with such a time (contract 11.10), so no backup and no restore may take it for sound. */
const NO_TIME = "253402300800000";
const HUGE = "9223372036854775807";

interface Damage {
  readonly table: string;
  readonly column: string;
  /** SQL of the damaged value. */
  readonly value: string;
  /** Whether the restore leaves the row out; else it writes it, with the time of the snapshot in place of one that is none. */
  readonly leftOut?: boolean;
}

const sealed = (table: string, column = "sealed"): Damage => ({ table, column, value: flipped(column) });
const number = (table: string, column: string, value: string, leftOut = false): Damage => ({ table, column, value, leftOut });
const word = (table: string, column: string): Damage => ({ table, column, value: "'WORD'" });

const DAMAGES: readonly Damage[] = [
  sealed("items", "overview"),
  sealed("items", "details"),
  sealed("item_versions", "overview"),
  sealed("item_versions", "details"),
  sealed("files"),
  sealed("file_versions"),
  sealed("webhooks"),
  sealed("activity"),
  sealed("vaults", "name"),
  sealed("vaults", "description"),
  number("files", "size", HUGE, true),
  number("file_versions", "size", HUGE, true),
  number("items", "version", "version + 9"),
  number("items", "version", "0", true),
  number("items", "version", "-1", true),
  number("files", "since", HUGE, true),
  ...["action", "result", "resource", "event"].map((column) => word("activity", column)),
  ...[HUGE, "-1"].flatMap((value) => [number("activity", "sequence", value), number("activity", "version", value)]),
  ...[NO_TIME, HUGE, "-1"].flatMap((value) => [
    number("deleted_items", "deleted_at", value),
    number("activity", "at", value),
    number("vaults", "updated_at", value),
    number("vaults", "created_at", value),
    number("webhooks", "created_at", value),
  ]),
];

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
  deleted_items: "true",
  webhooks: "true",
  activity: "id = (SELECT min(id) FROM activity WHERE vault_id = ?1 AND sequence IS NOT NULL)",
};

let planted: Planted;
/** The rows of the vault, and its row, before each damage. */
let sound: VaultRows;
let row: Record<string, unknown>;

const vaultRow = async () => (await env.DB.prepare("SELECT * FROM vaults WHERE id = ?").bind(planted.vault).first())!;
/** The rows but for the log: entries of reads may come at any time. */
const withoutLog = ({ activity: _activity, log_segments: _segments, ...rows }: VaultRows) => rows;

beforeAll(async () => {
  planted = await plantVault();
  await backUpAll();
  sound = await rowsInDatabase(planted.vault);
  row = await vaultRow();
});

/** Runs a statement as only a damage of the file changes rows. In: SQL with ?1, the vault. Out: the number of rows. */
async function runDamage(sql: string): Promise<number> {
  await ignoreChecks(true);
  const { meta } = await env.DB.prepare(sql).bind(planted.vault).run();
  await ignoreChecks(false);
  return meta.changes;
}

/** Out: what takes the damage back. */
async function damage({ table, column, value }: Damage): Promise<() => Promise<unknown>> {
  const where = table === "vaults" ? "id = ?1" : `vault_id = ?1 AND ${FIRST[table]}`;
  const before = await env.DB.prepare(`SELECT ${column} FROM ${table} WHERE ${where}`).bind(planted.vault).first(column);
  expect(await runDamage(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`)).toBe(1);
  return () => env.DB.prepare(`UPDATE ${table} SET ${column} = ?2 WHERE ${where}`).bind(planted.vault, before).run();
}

/** Runs a dry run and the restore, which have the same findings. */
async function expectFindings(body: object, findings: readonly object[]): Promise<void> {
  for (const dryRun of [true, false])
    expect(await restore({ ...body, dryRun })).toMatchObject({ status: 200, body: { state: "done", findings } });
}

describe("a row that is damaged", () => {
  it.each(sample(DAMAGES, 6).map((one) => [`${one.table}.${one.column} = ${one.value.slice(0, 25)}`, one] as const))(
    "is in the backup that reads it, and costs no other one in a restore: %s",
    async (_, one) => {
      const { vault } = planted;
      const undo = await damage(one);
      try {
        const step = await backUp(vault, { full: true });
        expect(step).toMatchObject({ state: "done", findings: [] });
        await expectFindings({ vault, snapshot: step.snapshot, overwrite: true }, []);
        const after = withoutLog(await rowsInDatabase(vault));
        for (const [table, rows] of Object.entries(withoutLog(sound))) {
          const others = table === one.table ? 1 : 0;
          expect([table, after[table]!.length]).toEqual([table, rows.length - (one.leftOut ? others : 0)]);
          const same = rows.filter((expected) =>
            after[table]!.some((found) => JSON.stringify(found) === JSON.stringify(expected)),
          );
          expect([table, same.length]).toEqual([table, rows.length - others]);
        }
        for (const column of ["updated_at", "created_at"]) {
          const time = Number((await vaultRow())[column]);
          expect(time >= Number(row["created_at"]) && time <= Date.now()).toBe(true);
        }
        // `verify` names a row that is written as it is, and the loss of a row that was left out; a row that got a time, it does not.
        const lost = one.table === "items" ? ["vaults", "items"] : ["vaults"];
        const { findings } = await verifyAll({ vault });
        // An entry that the database has stays as it is, but for its number and time.
        const stays = one.table === "activity" && !["at", "sequence"].includes(one.column);
        const isNamed = !one.leftOut && (stays || one.table === "items" || one.value === flipped(one.column));
        // A lost File is missing from two counters of the vault.
        expect([...new Set(findings.map(({ table }) => table))]).toEqual(one.leftOut ? lost : isNamed ? [one.table] : []);
      } finally {
        await restore({ vault, snapshot: 1, overwrite: true });
        if (one.table === "activity") await undo(); // entries of the log stay as they are
        expect(withoutLog(await rowsInDatabase(vault))).toEqual(withoutLog(sound));
        expect(await vaultRow()).toEqual(row);
      }
    },
  );
});

const COUNTS = ["items", "created", "deleted", "files", "file_bytes", "sealed_bytes", "versions_kept"];
const NUMBERS: readonly (readonly [string, unknown?])[] = [
  ...[...COUNTS, "content_version", "attribute_version"].map((column) => [column] as const),
  ...["restored", "destroyed"].map((column) => [column, 0] as const),
  ...["quota_items", "quota_bytes", "quota_file_bytes"].map((column) => [column, null] as const),
];

describe("a number in the row of a vault that no vault can have", () => {
  it.each(
    sample(
      [HUGE, "-1"].flatMap((value) => NUMBERS.map(([column, expected]) => [column, value, expected] as const)),
      5,
    ),
  )("is counted again by the restore, or is as that of a new vault: %s = %s", async (column, value, expected = row[column]) => {
    const { vault } = planted;
    await damage({ table: "vaults", column, value });
    const { snapshot } = await backUp(vault, { full: true });
    expect(await restore({ vault, snapshot, overwrite: true })).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await vaultRow()).toEqual({ ...row, [column]: expected });
    expect((await planted.call("GET", planted.items)).status).toBe(200);
    await restore({ vault, snapshot: 1, overwrite: true });
    expect(await vaultRow()).toEqual(row);
  });
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
  expect(withoutLog(await rowsInDatabase(planted.vault))).toEqual(withoutLog(sound));
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
