import { type Part, REGISTRY } from "../../model/backup.ts";
import { DEPLOYMENT_TABLES } from "./deployment-tables.ts";
import type { ColumnKind, Kind, Table } from "./table.ts";
import { VAULT_TABLES } from "./vault-tables.ts";

/**
 * The catalogue of the tables of D1: the content of each column, and the ownership, sealing, backup, deletion and counting of
 * rows. slices.ts makes SQL of it. Backup, restore, verify, purge and counting iterate over it (docs/design/tables.md).
 * test/promises/tables.test.ts compares it with the schema.
 */

export const TABLES = { ...DEPLOYMENT_TABLES, ...VAULT_TABLES } as const;

export type TableName = keyof typeof TABLES;

type CellOf<K extends ColumnKind> = K extends `${infer Base extends Kind}?`
  ? CellOf<Base> | null
  : K extends "time" | "number"
    ? number
    : string;

/** A row of a table, by column. */
export type RowOf<Name extends TableName> = {
  [Column in keyof (typeof TABLES)[Name]["columns"]]: CellOf<
    (typeof TABLES)[Name]["columns"][Column] extends infer K extends ColumnKind ? K : never
  >;
};

/** A row of a table whose rows belong to a vault or log, without the id of its owner. */
export type RowInVault<Name extends TableName> = Omit<RowOf<Name>, "vault_id">;

export interface NamedTable extends Table {
  readonly name: TableName;
}

/** All tables, in the order of the catalogue. */
export const ALL_TABLES: readonly NamedTable[] = Object.entries<Table>(TABLES).map(([name, table]) =>
  Object.assign({ name: name as TableName }, table),
);

/** Returns the columns of a kind, in the order of the table. */
export const columnsOfKind = ({ columns }: Table, kind: Kind): string[] =>
  Object.keys(columns).filter((name) => columns[name] === kind || columns[name] === `${kind}?`);

/** Returns the table with a name, or undefined. */
export const tableOf = (name: string): NamedTable | undefined => ALL_TABLES.find((table) => table.name === name);

/** The tables of a vault's rows besides its own row. Their rows outlive the vault for a while after its deletion. */
export const TABLES_OF_VAULT = ALL_TABLES.filter(({ purge }) => purge.withVault === "slices");

/** Of `TABLES_OF_VAULT`, the tables whose rows belong to Items. */
export const TABLES_OF_ITEM = TABLES_OF_VAULT.filter(({ item }) => item !== undefined);

/** Of `TABLES_OF_VAULT`, the tables whose rows name contents in R2. */
export const TABLES_OF_CONTENTS = TABLES_OF_VAULT.filter((table) => columnsOfKind(table, "content").length > 0);

/** The tables whose rows are counted in `root_key_uses`. */
export const TABLES_BY_ROOT_KEY = ALL_TABLES.filter(({ countedByRootKey }) => countedByRootKey);

/** The tables whose rows are in the parts of backups. */
export type TableInParts = {
  [Name in TableName]: (typeof TABLES)[Name]["backup"] extends { readonly in: readonly ["manifest"] }
    ? never
    : (typeof TABLES)[Name]["backup"] extends { readonly in: readonly unknown[] }
      ? Name
      : never;
}[TableName];

/** Returns the columns of a row that a backup has. */
export const backedUpColumns = ({ columns, backup }: Table): string[] =>
  Object.keys(columns).filter((column) => !("without" in backup && backup.without?.includes(column)));

/**
 * Returns the names of tables and columns in a part that this release does not have: a newer release wrote the part. `vault` is the owner of the
 * part, or `REGISTRY`.
 */
export function unknownNames(vault: string, { tables }: Part): string[] {
  const known = backedUpIn(vault === REGISTRY ? "registry" : "vault");
  return tables.flatMap(({ table: name, columns }) => {
    const table = known.find((one) => one.name === name);
    return table ? unknownColumns(table, columns) : `the table ${name}`;
  });
}

/** Returns the names of columns that a table does not have. */
export const unknownColumns = ({ name, columns }: NamedTable, given: readonly string[]): string[] =>
  given.filter((column) => !Object.hasOwn(columns, column)).map((column) => `the column ${name}.${column}`);

/** Returns the tables whose rows are in backups. */
export const backedUpIn = (where: "vault" | "registry"): NamedTable[] =>
  ALL_TABLES.filter(({ backup }) => "in" in backup && backup.in.includes(where));
