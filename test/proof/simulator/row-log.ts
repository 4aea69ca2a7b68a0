import type { DatabaseSync } from "node:sqlite";
import { columnsInVault, keyInVault } from "../../../src/store/tables/slices.ts";
import { backedUpIn, type NamedTable, tableOf } from "../../../src/store/tables/tables.ts";

/** Records what each transaction has changed of the rows of vaults, so that a backup can be compared with the vault at any write. */

/** A row that was written, or deleted. */
export interface RowChange {
  /** The table and the key: unique in the vault. */
  readonly row: string;
  /** The columns that a backup has, as JSON; absent: the row was deleted. */
  readonly text: string | undefined;
}

/** What a transaction has changed of one vault. */
export interface RowCommit {
  /** Unix milliseconds. */
  readonly time: number;
  /** The state of the vault after it, as `stateName`; absent while the vault has no row. */
  readonly state: string | undefined;
  readonly changes: readonly RowChange[];
  /** Whether it has restored D1 to an earlier time. */
  readonly isReset: boolean;
}

export interface RowLog {
  /** Ends a transaction, which was committed or rolled back. In: whether it has restored the database to an earlier time. */
  readonly endTransaction: (isCommitted: boolean, isReset?: boolean) => void;
  /** The commits of each vault, in order. */
  readonly commits: ReadonlyMap<string, readonly RowCommit[]>;
}

const ITEM_TABLES = backedUpIn("vault").filter(({ item }) => item !== undefined);
const VAULTS = tableOf("vaults")!;

/** The name of a row. In: its values, those of the key first. */
export const rowName = (table: NamedTable, values: readonly unknown[]): string =>
  [table.name, ...values.slice(0, keyInVault(table).length)].join(" ");

/** The row of the vault itself. */
export const VAULT_ROW = "vaults";

/** The columns of the row of a vault, in the order of its text. */
export const VAULT_COLUMNS: readonly string[] = Object.keys(VAULTS.columns);

/** A vault has the state of one write: the number of the write and its time, because a restore repeats numbers. */
export const stateName = (row: Readonly<Record<string, unknown>>): string =>
  `${Number(row["content_version"]) + Number(row["attribute_version"])} ${String(row["updated_at"])}`;

export const isTableOfItems = (name: string): boolean => ITEM_TABLES.some((table) => table.name === name);

const trigger = (table: NamedTable, event: "INSERT" | "UPDATE" | "DELETE", columns: readonly string[], vault: string): string => {
  const side = event === "DELETE" ? "old" : "new";
  const values = columns.map((column) => `${side}.${column}`).join(", ");
  return `
    CREATE TEMP TRIGGER rows_${table.name}_${event} AFTER ${event} ON main.${table.name} BEGIN
      SELECT record_row('${table.name}', ${side}.${vault}, json_array(${values}), ${event === "DELETE" ? 1 : 0});
    END;`;
};

/** Of a database without these triggers. */
export const NO_ROWS: RowLog = { endTransaction: () => undefined, commits: new Map() };

/** Installs temporary triggers. */
export function recordRows(db: DatabaseSync): RowLog {
  const commits = new Map<string, RowCommit[]>();
  const states = new Map<string, string | undefined>();
  let open = new Map<string, RowChange[]>();

  db.function("record_row", (name, vault, text, isDeleted) => {
    const changes = open.get(vault as string) ?? [];
    open.set(vault as string, changes);
    const row =
      name === "vaults" ? VAULT_ROW : rowName(tableOf(name as string)!, JSON.parse(text as string) as readonly unknown[]);
    changes.push({ row, text: isDeleted ? undefined : (text as string) });
    return null;
  });
  for (const event of ["INSERT", "UPDATE", "DELETE"] as const) {
    db.exec(trigger(VAULTS, event, VAULT_COLUMNS, "id"));
    for (const table of ITEM_TABLES) db.exec(trigger(table, event, columnsInVault(table), "vault_id"));
  }

  return {
    commits,
    endTransaction(isCommitted, isReset = false) {
      if (open.size === 0) return;
      for (const [vault, changes] of isCommitted ? open : []) {
        const ofVault = changes.findLast(({ row }) => row === VAULT_ROW);
        if (ofVault) states.set(vault, ofVault.text === undefined ? undefined : stateName(vaultOf(ofVault.text)));
        const known = commits.get(vault) ?? [];
        commits.set(vault, known);
        known.push({ time: Date.now(), state: states.get(vault), changes, isReset });
      }
      open = new Map();
    },
  };
}

/** The row of a vault by column. In: its text. */
export function vaultOf(text: string): Record<string, unknown> {
  const values = JSON.parse(text) as readonly unknown[];
  return Object.fromEntries(VAULT_COLUMNS.map((column, index) => [column, values[index]]));
}
