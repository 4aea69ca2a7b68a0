import { LIMITS } from "../../model/limits.ts";
import { findFile, type FoundField } from "../../model/named.ts";
import type { KeyedFile } from "../../model/file.ts";
import { namesNone, type Reference } from "../../model/reference.ts";
import { invalid, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { type FileRow, openFiles } from "../items/files.ts";
import { loadMore, type Reader } from "./rows.ts";
import type { ReferencedVault } from "./vaults.ts";

/** References that name no field of their Item, and therefore a File. */
export interface FileSearch {
  readonly reference: Reference;
  readonly vault: ReferencedVault;
  readonly item: string;
  readonly within: FoundField["within"];
}

const SQL = `
  SELECT files.vault_id, item_id, files.id, generation, size, sealed
  FROM json_each(?1) AS list CROSS JOIN files ON files.vault_id = list.value ->> 0 AND item_id = list.value ->> 1
  LIMIT ${LIMITS.referencedFiles} + 1`;

const nameOf = (vault: string, item: string): string => `${vault}/${item}`;

/**
 * Finds the Files, in one D1 call, or in none when there is nothing to find. Out: the File of each search, in their order.
 * Errors: `unauthorized` (revoked), `unavailable`; of a search `reference_not_found`, `ambiguous`, `integrity`, and 400 when
 * the Items have too many Files together.
 */
export async function findFiles(
  store: Store,
  reader: Reader,
  searches: readonly FileSearch[],
): Promise<Result<Result<KeyedFile>[]>> {
  if (searches.length === 0) return ok([]);
  const items = new Map(searches.map(({ vault, item }) => [nameOf(vault.id, item), [vault.id, item]]));
  type Row = FileRow & { vault_id: string };
  const wanted = [...items.values()];
  const vaults = searches.map(({ vault }) => vault.id);
  const read = await loadMore<Row>(store, reader, vaults, store.db.prepare(SQL).bind(JSON.stringify(wanted)));
  if (!read.ok) return read;
  const rows = read.value;
  const last = rows.at(-1);
  const rowsOf = Map.groupBy(rows, (row) => nameOf(row.vault_id, row.item_id));
  // The Files of the last Item may be incomplete, and those of other Items are missing.
  const isCut = rows.length > LIMITS.referencedFiles;
  const cut = isCut && last && nameOf(last.vault_id, last.item_id);
  const isComplete = (name: string): boolean => !isCut || (name !== cut && rowsOf.has(name));
  const opened = new Map<string, Promise<Result<KeyedFile[]>>>();
  const find = async ({ reference, vault, item, within }: FileSearch): Promise<Result<KeyedFile>> => {
    const name = nameOf(vault.id, item);
    if (!isComplete(name)) return invalid(TOO_MANY);
    const opening = opened.get(name) ?? openFiles(vault.keys, vault.id, rowsOf.get(name) ?? []);
    opened.set(name, opening);
    const files = await opening;
    if (!files.ok) return files;
    const found = findFile(files.value, reference, within);
    if (!found.ok) return found;
    return found.value ? ok(found.value) : namesNone("field or File of the Item");
  };
  const found: Result<KeyedFile>[] = [];
  for (const search of searches) found.push(await find(search));
  return ok(found);
}

const TOO_MANY = `the Items of such references have more than ${LIMITS.referencedFiles} Files together: ask for fewer at once`;
