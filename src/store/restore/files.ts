import type { VaultKeys } from "../../crypto/vault-keys.ts";
import type { Cell, Part, TableRows } from "../../model/backup.ts";
import { type ContentAddress, type KeyedFile, addressOf } from "../../model/file.ts";
import { type FileRow, openFile } from "../items/files.ts";
import { TABLES_OF_CONTENTS } from "../tables/tables.ts";

/** The Files of a part: the contents that its rows name, with their keys. */

export interface PartFile {
  readonly address: ContentAddress;
  readonly file: KeyedFile;
}

/** The rows of a table of a part, as objects. */
export const objectsOf = ({ columns, rows }: TableRows): Record<string, Cell>[] =>
  rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));

/** The rows of one table of a part; none when the part does not have the table. */
export const rowsOf = <Row>({ tables }: Part, name: string): Row[] =>
  tables.filter(({ table }) => table === name).flatMap(objectsOf) as Row[];

/** The rows of Files of a part, one for each content: several rows may share one. */
export function fileRowsOf(part: Part): FileRow[] {
  const rows = TABLES_OF_CONTENTS.flatMap(({ name }) => rowsOf<FileRow>(part, name));
  return [...new Map(rows.map((row) => [`${row.item_id}/${row.id}/${row.generation}`, row])).values()];
}

/** Returns the Files of a vault whose rows can be decrypted. */
export async function openPartFiles(keys: VaultKeys, vault: string, rows: readonly FileRow[]): Promise<PartFile[]> {
  const opened = await Promise.all(rows.map((row) => openFile(keys, vault, row)));
  return opened.flatMap((file, index) =>
    file.ok ? { file: file.value, address: addressOf(vault, rows[index]!.item_id, file.value) } : [],
  );
}
