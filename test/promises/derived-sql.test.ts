import { describe, expect, it } from "vitest";
import { REGISTRY_TABLES } from "../../src/store/backup/registry-tables.ts";
import { SLICE as BACKUP_SLICE, sliceOfAll, sliceOfNumbered } from "../../src/store/backup/slice-sql.ts";
import { VAULT_TABLES } from "../../src/store/backup/tables.ts";
import { columnsInVault, keyInVault, sliceOfVault } from "../../src/store/tables/slices.ts";
import { backedUpIn, tableOf } from "../../src/store/tables/tables.ts";

/** What is derived from the catalogue of tables is what was written by hand, which goes with the next commits. */

const words = (sql: string) => sql.replaceAll(/\s+/g, " ").replaceAll("( ", "(").trim();

describe("the catalogue gives", () => {
  it.each(VAULT_TABLES)("the key, the columns and the slices of $table in a backup", (table) => {
    const entry = tableOf(table.table)!;
    expect(keyInVault(entry)).toEqual(table.key);
    expect(columnsInVault(entry)).toEqual([...table.key, ...table.columns]);
    expect(entry.item).toBe(table.item === undefined ? undefined : table.item);
    expect(words(sliceOfVault(entry, BACKUP_SLICE, { keyParameter: 4 }))).toBe(words(sliceOfAll(table)));
    const where = "sequence > ?2 AND sequence <= ?3";
    expect(words(sliceOfVault(entry, BACKUP_SLICE, { keyParameter: 4, where }))).toBe(words(sliceOfNumbered(table)));
  });

  it("the tables of backups", () => {
    expect(
      backedUpIn("vault")
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(VAULT_TABLES.map(({ table }) => table).toSorted());
    expect(
      backedUpIn("registry")
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(REGISTRY_TABLES.map(({ table }) => table).toSorted());
  });

  it.each(REGISTRY_TABLES)("the key and the columns of $table in the registry", ({ table, key, columns }) => {
    const { key: own, columns: all, backup } = tableOf(table)!;
    const without = ("without" in backup && backup.without) || [];
    expect(own).toEqual(key);
    expect(
      Object.keys(all)
        .filter((name) => !without.includes(name))
        .toSorted(),
    ).toEqual([...key, ...columns].toSorted());
  });
});
