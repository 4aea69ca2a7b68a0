import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Cell, Manifest, Part } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import type { Store } from "../d1/database.ts";
import { checkPart, checkVaultRow, isImpossible } from "../checks/parts.ts";
import { holdsTime } from "../tables/numbers.ts";
import { findingOf } from "../checks/fault.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";
import type { VaultRow } from "../vaults/rows.ts";
import type { Step } from "./step.ts";

/**
 * Makes a part with broken rows restorable: a damaged row affects no other row (contract 21.24). A row of an Item or a version is written
 * unchanged. The Item keeps its earlier versions and its Files, and each of them is served if it can be decrypted. A broken row of a File or
 * a webhook is left out, because it is useless.
 */

const LEFT_OUT: ReadonlySet<string> = new Set([...TABLES_OF_CONTENTS.map(({ name }) => name), "webhooks"]);

interface ReadablePart {
  /** The rows to write. */
  readonly part: Part;
  /** The number of rows that were left out. */
  readonly rowsLeftOut: number;
  /** The rows that cannot be decrypted. */
  readonly findings: readonly Finding[];
}

/** Returns the restorable rows of a part. `keys` are the keys of the vault; absent in the registry. */
export async function readablePart(
  store: Store,
  manifest: Manifest,
  part: Part,
  keys: VaultKeys | undefined,
): Promise<ReadablePart> {
  const context = { store, vault: manifest.vault, keys };
  const { broken, faults } = await checkPart(context, manifest.number, part);
  if (broken.size === 0) return { part, rowsLeftOut: 0, findings: [] };
  const findings = faults.filter(({ kind }) => kind === "row_unreadable").map((one) => findingOf(one));
  let rowsLeftOut = 0;
  const tables = part.tables.map(({ table, columns, rows }) => {
    const kept = rows.filter((row) => isWritten(table, columns, row, broken.get(row) ?? true));
    rowsLeftOut += rows.length - kept.length;
    return {
      table,
      columns,
      rows: kept.map((row) => (broken.has(row) ? withPossibleCells(table, columns, row, manifest.at) : row)),
    };
  });
  return { part: { ...part, tables }, rowsLeftOut, findings };
}

/** Returns the broken rows of a part; with the first part, also the broken row of the vault. */
export async function findingsOf(
  store: Store,
  { manifest, row, position }: Step,
  { findings }: ReadablePart,
): Promise<readonly Finding[]> {
  return row && position.part === 0 ? [...(await findBrokenVault(store, manifest.row!)), ...findings] : findings;
}

/** Returns the faults of the row of the vault in a backup. */
const findBrokenVault = async (store: Store, row: NonNullable<Manifest["row"]>): Promise<Finding[]> =>
  (await checkVaultRow(store, row as unknown as VaultRow)).map((one) => findingOf(one));

const isWritten = (table: string, columns: readonly string[], row: readonly Cell[], opens: boolean): boolean =>
  (opens || !LEFT_OUT.has(table)) &&
  columns.every(
    (column, index) => holdsTime(table, column) || isSince(table, column) || !isImpossible(table, column, row[index]!),
  );

/**
 * Returns true for the first version of a File. A damaged number becomes 0, so that the File is kept. If the File replaced another File,
 * finish.ts sets the number.
 */
const isSince = (table: string, column: string): boolean => table === "files" && column === "since";

/** A value, or the replacement of an impossible value: 0 for a first version, else the time of the backup, in Unix milliseconds. */
const possibleCell = (table: string, column: string, value: Cell, at: number): Cell => {
  if (!isImpossible(table, column, value)) return value;
  return isSince(table, column) ? 0 : at;
};

const withPossibleCells = (table: string, columns: readonly string[], row: readonly Cell[], at: number): Cell[] =>
  row.map((value, index) => possibleCell(table, columns[index]!, value, at));
