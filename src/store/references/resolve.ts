import { newestKeyId } from "../../crypto/key-list.ts";
import { cachedVaultKeys, namesOf, type VaultKeys } from "../../crypto/vault-keys.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Reference } from "../../model/reference.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { foldedIndexes } from "../items/folded-index.ts";
import { findFiles } from "./files.ts";
import { loadMissing, nameOf, readItems, type Reading } from "./items.ts";
import { type KeysInUse, loadVaultsAndItems, MOST_ITEMS, type Wanted } from "./rows.ts";
import { concludeSearch, type Hit, idIn, type Resolved, type Search, startSearch, wantedIn } from "./search.ts";
import { findVault, openVaults } from "./vaults.ts";

/**
 * Resolves references (contract 16) in one D1 call: it brings the vaults that the token reads, and the Items of these titles in
 * each of them. A further call is made for the Items
 * - when references by name × vaults are more than `LIMITS.referencePairs`, or the keys of a vault are not in the cache of the
 *   isolate, which the blind indexes need;
 * - for each 4 MiB of Items that are larger than 20 KiB;
 * and one for the Files, when a reference names no field.
 */

/** Computes the blind indexes of a name once for each vault. */
function createIndexer(): (keys: VaultKeys, name: string) => Promise<string[]> {
  const known = new Map<string, Promise<string[]>>();
  return (keys, name) => {
    const key = `${namesOf(keys)}/${name}`;
    const index = known.get(key) ?? foldedIndexes(keys, name);
    known.set(key, index);
    return index;
  };
}

/** So often a request begins again because a vault got new keys between two of its D1 calls. */
const TRIES = 3;

/**
 * Out: what each reference stands for, in their order. Errors: `unauthorized` (revoked), `unavailable`; of a reference
 * `reference_not_found`, `ambiguous`, `invalid`, and those of vaults, Items and Files that do not open.
 */
export async function resolveReferences(
  store: Store,
  reading: Reading,
  references: readonly Reference[],
): Promise<Result<Result<Resolved>[]>> {
  for (let tries = 1; ; tries++) {
    const keysInUse: KeysInUse = { ids: new Map(), replaced: false };
    const resolved = await resolveOnce(store, { ...reading, keysInUse }, references);
    if (!keysInUse.replaced) return resolved;
    if (tries === TRIES) return fail("unavailable");
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
  // At the same time, as below: one after the other, each would take a turn of the event loop.
  const known = await Promise.all(
    pairs.map(async ({ vault, part }) => {
      const keys = cachedVaultKeys(store.keyring, vault, store.now);
      return keys ? wantedIn(vault, idIn(part), await index(keys, part)) : [];
    }),
  );
  const guesses = new Map(known.flat().map((one): [string, Wanted] => [nameOf(one), one]));
  const loaded = named.length > 0 ? reading.vaults : [...new Set(references.map(({ vault }) => idIn(vault)!))];
  const first = await loadVaultsAndItems(store, reading, loaded, [...guesses.values()]);
  if (!first.ok) return first;
  const [vaultRows, rows] = first.value;
  // There may be more: then the Items of the right vaults are asked for.
  if (rows.length === MOST_ITEMS.guessed) guesses.clear();
  const vaults = await openVaults(store, vaultRows);
  for (const { id, keys } of vaultRows) reading.keysInUse?.ids.set(id, newestKeyId(keys));
  const begun = await Promise.all(
    references.map(async (reference): Promise<Result<Search>> => {
      const vault = findVault(vaults, reference.vault);
      return vault.ok ? ok(startSearch(reference, vault.value, await index(vault.value.keys, reference.item))) : vault;
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

/** Completes the searches that name no field. Errors: as `findFiles`. */
async function withFiles(
  store: Store,
  reading: Reading,
  begun: readonly Result<Search>[],
  hits: readonly Hit[],
): Promise<Result<Result<Resolved>[]>> {
  const searches = hits.flatMap((hit, place) => {
    const search = begun[place]!;
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
      const file = found.next().value!;
      return file.ok ? ok({ ...hit.item, value: file.value }) : file;
    }),
  );
}
