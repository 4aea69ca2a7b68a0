import { cachedVaultKeys, type VaultKeys } from "../../crypto/vault-keys.ts";
import type { Dialect } from "../../model/dialect.ts";
import type { KeyedFile } from "../../model/file.ts";
import { LIMITS } from "../../model/limits.ts";
import { findFile, type FoundField, isIdOfFile } from "../../model/named.ts";
import { namesNone, type Reference } from "../../model/reference.ts";
import { fail, invalid, map, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { type FileRow, type KeyedFiles, openFiles } from "../items/files.ts";
import { foldedIndex } from "../items/items.ts";
import {
  type FoundRow,
  type KeysInUse,
  loadMore,
  loadVaultsAndItems,
  loadWanted,
  CALL_ITEMS_MAX,
  type Reader,
  type Wanted,
} from "./rows.ts";
import {
  concludeSearch,
  type Hit,
  idIn,
  indexSearches,
  readItem,
  type Resolved,
  type Search,
  startSearch,
  wantedBy,
  wantedIn,
  findVault,
  openVaults,
  type ReferencedVault,
} from "./search.ts";

/**
 * Resolves references (contract 16) in one D1 call. The call loads the token's readable vaults, and the Items with these titles
 * in each of them. Further calls are made:
 * - for the Items, if references by name × vaults exceed `LIMITS.referencePairs`, or if a vault's keys, needed for blind indexes,
 *   are not cached;
 * - for each 4 MiB of Items that are larger than 20 KiB;
 * - for the Files, if a reference names no field.
 */

/** Computes the blind index of a name once for each vault. */
function createIndexer(): (vault: string, keys: VaultKeys, name: string) => Promise<string> {
  const known = new Map<string, Promise<string>>();
  return (vault, keys, name) => known.getOrInsertComputed(`${vault}/${name}`, () => foldedIndex(keys, name));
}

/** Tries of a request, if a vault gets a new key, or loses an earlier one, between two of its D1 calls. */
const TRIES_MAX = 5;

/**
 * Returns the value of each reference, in order. Fails with `unauthorized` (revoked) or `unavailable`. A single reference fails
 * with `reference_not_found`, `ambiguous` or `invalid`, or as decrypting its vault, Item or File does.
 */
export async function resolveReferences(
  store: Store,
  reading: Reading,
  references: readonly Reference[],
): Promise<Result<Result<Resolved>[]>> {
  for (let tries = 1; ; tries++) {
    const keysInUse: KeysInUse = { lists: new Map(), replaced: false };
    const resolved = await resolveOnce(store, { ...reading, keysInUse }, references);
    if (!keysInUse.replaced) return resolved;
    if (tries === TRIES_MAX) return fail("unavailable");
  }
}

async function resolveOnce(
  store: Store,
  reading: Reading,
  references: readonly Reference[],
): Promise<Result<Result<Resolved>[]>> {
  const index = createIndexer();
  const isNamed = ({ vault }: Reference): boolean => !reading.vaults.includes(idIn(vault) ?? "");
  const named = references.filter(isNamed);
  const guessed = named.length * reading.vaults.length <= LIMITS.referencePairs;
  const pairs = references.flatMap((reference) => {
    const vaults = isNamed(reference) ? (guessed ? reading.vaults : []) : [idIn(reference.vault)!];
    return vaults.map((vault) => ({ vault, part: reference.item }));
  });
  // Concurrently, as below: one after the other, each would take a turn of the event loop.
  const known = await Promise.all(
    pairs.map(async ({ vault, part }) => {
      const keys = cachedVaultKeys(store.keyring, vault, store.now);
      return keys ? wantedIn(vault, idIn(part), await index(vault, keys, part), reading.scope) : [];
    }),
  );
  const guesses = new Map(known.flat().map((one): [string, Wanted] => [nameOf(one), one]));
  const loaded = named.length > 0 ? reading.vaults : [...new Set(references.map(({ vault }) => idIn(vault)!))];
  const first = await loadVaultsAndItems(store, reading, loaded, [...guesses.values()]);
  if (!first.ok) return first;
  const [vaultRows, rows] = first.value;
  // There may be more: then the Items of the right vaults are requested.
  if (rows.length === CALL_ITEMS_MAX.guessed) guesses.clear();
  const vaults = await openVaults(store, vaultRows);
  for (const { id, keys } of vaultRows) reading.keysInUse?.lists.set(id, keys);
  const begun = await Promise.all(
    references.map(async (reference): Promise<Result<Search>> => {
      const vault = findVault(vaults, reference.vault);
      if (!vault.ok) return vault;
      const { id, keys } = vault.value;
      return ok(startSearch(reference, vault.value, await index(id, keys, reference.item)));
    }),
  );
  const searches = begun.flatMap((search) => (search.ok ? [search.value] : []));
  const more = await loadMissing(store, reading, searches, guesses);
  if (!more.ok) return more;
  const read = await readItems(store, reading, searches, [...rows, ...more.value]);
  if (!read.ok) return read;
  const hits = begun.map((search) => (search.ok ? concludeSearch(search.value, read.value(search.value)) : search));
  return withFiles(store, reading, begun, hits);
}

/** Returns the id of the vault that a text names, in one D1 call. Fails as `findVault` does, and with `unauthorized` (revoked) or `unavailable`. */
export async function loadNamedVault(store: Store, reader: Reader, name: string): Promise<Result<string>> {
  const read = await loadVaultsAndItems(store, reader, reader.vaults, []);
  return read.ok ? map(findVault(await openVaults(store, read.value[0]), name), ({ id }) => id) : read;
}

/** Completes the searches that name no field. Fails as `findFiles` does. */
async function withFiles(
  store: Store,
  reading: Reading,
  begun: readonly Result<Search>[],
  hits: readonly Hit[],
): Promise<Result<Result<Resolved>[]>> {
  const searches = hits.flatMap((hit, index) => {
    const search = begun[index]!;
    if (hit.ok !== "file" || !search.ok) return [];
    const { reference, vault } = search.value;
    return [{ reference, vault, item: hit.item.id, within: hit.within }];
  });
  const files = await findFiles(store, reading, searches);
  if (!files.ok) return files;
  const found = files.value.values();
  return ok(
    hits.map((hit): Result<Resolved> => {
      if (hit.ok !== "file") return hit;
      return map(found.next().value!, (file) => ({ ...hit.item, value: file }));
    }),
  );
}

interface Reading extends Reader {
  readonly dialect: Dialect;
}

const nameOf = (one: Wanted): string => [one.vault, one.item, one.folded].join("/");

/** Loads the Items of the searches that were not wholly queried. Fails as `loadWanted` does. */
async function loadMissing(
  store: Store,
  reading: Reading,
  searches: readonly Search[],
  asked: ReadonlyMap<string, Wanted>,
): Promise<Result<FoundRow[]>> {
  const wanted = searches
    .map((search) => wantedBy(search, reading.scope))
    .filter((all) => all.some((one) => !asked.has(nameOf(one))));
  const each = new Map(wanted.flat().map((one): [string, Wanted] => [nameOf(one), one]));
  return each.size > 0 ? loadWanted(store, reading, [...each.values()]) : ok([]);
}

/** Reads each Item once, and loads the Items whose text is missing. Returns the number of Items with the title of each search. */
async function readItems(
  store: Store,
  reading: Reading,
  searches: readonly Search[],
  found: readonly FoundRow[],
): Promise<Result<(search: Search) => number>> {
  const context = { dialect: reading.dialect, now: store.now };
  const searchesFor = indexSearches(searches);
  const rows = new Map(found.map((row) => [`${row.vault_id}/${row.id}`, row]));
  const titled = Map.groupBy(rows.values(), ({ vault_id, folded }) => `${vault_id}/${folded}`);
  let pending = [...rows.values()];
  while (pending.length > 0) {
    const missing: Wanted[] = [];
    await Promise.all(
      pending.map(async (row) => {
        const asking = searchesFor(row);
        if (asking.length === 0) return;
        const { details } = row;
        if (details === null) missing.push({ vault: row.vault_id, item: row.id, folded: null });
        else await readItem({ ...row, details }, asking, context);
      }),
    );
    const loaded: Result<FoundRow[]> = missing.length > 0 ? await loadWanted(store, reading, missing) : ok([]);
    if (!loaded.ok) return loaded;
    pending = loaded.value;
  }
  return ok(({ vault, folded }) => titled.get(`${vault.id}/${folded}`)?.length ?? 0);
}

/** References that name no field of their Item, and therefore a File. */
interface FileSearch {
  readonly reference: Reference;
  readonly vault: ReferencedVault;
  readonly item: string;
  readonly within: FoundField["within"];
}

const SQL = `
  SELECT files.vault_id, item_id, files.id, generation, size, sealed
  FROM json_each(?1) AS list CROSS JOIN files ON files.vault_id = list.value ->> 0 AND item_id = list.value ->> 1
  LIMIT ${LIMITS.referencedFiles} + 1`;

const itemName = (vault: string, item: string): string => `${vault}/${item}`;

/**
 * Finds the Files, in at most one D1 call. Returns the File of each search, in order. Fails with `unauthorized` (revoked) or `unavailable`. A
 * single search fails with `reference_not_found`, `ambiguous` or `integrity`, and with 400 if the Items together have too many Files.
 */
async function findFiles(store: Store, reader: Reader, searches: readonly FileSearch[]): Promise<Result<Result<KeyedFile>[]>> {
  if (searches.length === 0) return ok([]);
  const items = new Map(searches.map(({ vault, item }) => [itemName(vault.id, item), [vault.id, item]]));
  type Row = FileRow & { vault_id: string };
  const wanted = [...items.values()];
  const vaults = searches.map(({ vault }) => vault.id);
  const read = await loadMore<Row>(store, reader, vaults, store.db.prepare(SQL).bind(JSON.stringify(wanted)));
  if (!read.ok) return read;
  const rows = read.value;
  const last = rows.at(-1);
  const rowsOf = Map.groupBy(rows, (row) => itemName(row.vault_id, row.item_id));
  // The Files of the last Item may be incomplete, and Files of other Items are missing.
  const isCut = rows.length > LIMITS.referencedFiles;
  const cut = isCut && last && itemName(last.vault_id, last.item_id);
  const isComplete = (name: string): boolean => !isCut || (name !== cut && rowsOf.has(name));
  const opened = new Map<string, Promise<KeyedFiles>>();
  const find = async ({ reference, vault, item, within }: FileSearch): Promise<Result<KeyedFile>> => {
    const name = itemName(vault.id, item);
    if (!isComplete(name)) return invalid(TOO_MANY);
    const opening = opened.get(name) ?? openFiles(vault.keys, vault.id, rowsOf.get(name) ?? []);
    opened.set(name, opening);
    const { files, brokenFiles } = await opening;
    const found = findFile(files, reference, within);
    // A File whose row cannot be decrypted may have the name in the reference.
    const isCertain = found.ok && found.value !== undefined && isIdOfFile(found.value, reference.field);
    if (brokenFiles && !isCertain) return fail("integrity");
    if (!found.ok) return found;
    return found.value ? ok(found.value) : namesNone("field or File of the Item");
  };
  const found: Result<KeyedFile>[] = [];
  for (const search of searches) found.push(await find(search));
  return ok(found);
}

const TOO_MANY = `the Items of such references have more than ${LIMITS.referencedFiles} Files together: ask for fewer at once`;
