import type { Cell, Part, TableRows } from "../../model/backup.ts";
import { VAULT_TABLES } from "../backup/tables.ts";

/** Cuts a part into groups of rows, each of which one D1 call writes. A pure function: a repeated step finds the same groups. */

/** Rows of one table, or the Items of which the rows of earlier parts do not count. */
export type RowGroup =
  | { readonly kind: "replace"; readonly items: readonly string[] }
  | ({ readonly kind: "insert" } & TableRows);

/** The most rows of a group, and about the most characters: D1 takes a parameter of 2 MB. */
const GROUP = { rows: 2_000, characters: 768 * 1024 };

/** The tables whose rows belong to the vault: those of the last part count. The entries of the log are in every part. */
const OF_VAULT = new Set(VAULT_TABLES.filter(({ item, table }) => !item && table !== "activity").map(({ table }) => table));

/** The groups of a part, in the order in which they are written. In: whether it is the last part. */
export const groupsOf = ({ replaces, tables }: Part, last: boolean): RowGroup[] => [
  ...chunk(replaces, (id) => id.length).map((items) => ({ kind: "replace" as const, items })),
  ...tables
    .filter(({ table }) => last || !OF_VAULT.has(table))
    .flatMap(({ table, columns, rows }) =>
      chunk(rows, lengthOf).map((some) => ({ kind: "insert" as const, table, columns, rows: some })),
    ),
];

const lengthOf = (row: readonly Cell[]): number =>
  row.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length + 3 : 20), 0);

function chunk<T>(list: readonly T[], size: (one: T) => number): T[][] {
  const chunks: T[][] = [];
  let length = 0;
  for (const one of list) {
    const last = chunks.at(-1);
    length += size(one);
    if (last && last.length < GROUP.rows && length <= GROUP.characters) last.push(one);
    else {
      chunks.push([one]);
      length = size(one);
    }
  }
  return chunks;
}
