import { blindIndex, noncePrefix, sealedLength, foldedBlindIndex } from "../../crypto/seal.ts";
import type { VaultKeys } from "../../crypto/vault-keys.ts";
import { openText, sealText } from "../../crypto/vault-seal.ts";
import { fold, FOLD_VERSION } from "../../model/fold.ts";
import type { BrokenItem, Item, OfVault, Summary } from "../../model/item.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Store } from "../d1/database.ts";
import { type RowInVault, type RowOf, TABLES } from "../tables/tables.ts";
import { type FromVault, joinedItem, loadFromVault, type VaultAccess } from "../vaults/authorized.ts";
import { type FileRow, FILES_OF_ITEM, openFiles, withoutKeys } from "./files.ts";

/** The rows of Items, two sealed texts each, and how they are loaded. commit/commit.ts writes them. */

export type ItemRow = Pick<RowOf<"items">, "id" | "version" | "overview" | "details">;

export type SealedItem = RowInVault<"items">;

const { associatedData } = TABLES.items;

/** The content of the text `details` (docs/design/reads.md). */
export type Details = Pick<Item, "title" | "state" | "sections" | "fields" | "nonce">;

/** Seals an Item: the summary apart from the secrets, so that a list decrypts no secret. */
export async function sealItem(keys: VaultKeys, item: Item): Promise<SealedItem> {
  const [summary, secrets] = textsOf(item);
  const [overview, details, title_index, folded_index] = await Promise.all([
    sealText(keys, associatedData.overview(item.vault, item), summary),
    sealText(keys, associatedData.details(item.vault, item), secrets, Uint8Array.fromHex(item.nonce)),
    blindIndex(keys.index, item.title),
    foldedIndex(keys, item.title),
  ]);
  return { id: item.id, version: item.version, overview, details, title_index, folded_index };
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + sealedLength(text), 0);

/** Returns the bytes of both sealed texts of an Item, computed without sealing them. */
export const sealedTexts = (item: Item): number => lengthOf(textsOf(item));

/**
 * Returns the bytes of the names and sections of the Files of an Item, as if they were a third sealed text. They count towards the
 * Item's size (contract 12.1). The row of a File has about 400 bytes more; the number of Files bounds these.
 */
export const sealedNames = (item: Item): number => lengthOf(namesOf(item));

const namesOf = ({ files }: Item): string[] =>
  files.length === 0 ? [] : [JSON.stringify(files.map(({ name, section }) => ({ name, section })))];

const textsOf = ({
  id: _id,
  vault: _vault,
  version: _version,
  nonce: _nonce,
  files: _files,
  brokenFiles: _broken,
  ...item
}: Item) => {
  const { sections, fields, ...attributes } = item;
  const summary = { ...attributes, username: usernameOf(fields) };
  const { title, state } = attributes;
  return [JSON.stringify(summary), JSON.stringify({ title, state, sections, fields })] as const;
};

const usernameOf = (fields: Item["fields"]): string | undefined =>
  fields.find(({ purpose }) => purpose === "USERNAME")?.value || undefined;

/** Decrypts the summary of a row of this vault. Fails with `integrity`. */
export async function openSummary(keys: VaultKeys, vault: string, row: Omit<ItemRow, "details">): Promise<Result<Summary>> {
  const { id, version } = row;
  const text = await openText(keys, associatedData.overview(vault, row), row.overview);
  return text.ok ? ok({ ...(JSON.parse(text.value) as Summary), id, vault, version }) : text;
}

/** Decrypts the details of a row of this vault. Fails with `integrity`. */
export async function openDetails(keys: VaultKeys, vault: string, row: Omit<ItemRow, "overview">): Promise<Result<Details>> {
  const text = await openText(keys, associatedData.details(vault, row), row.details);
  if (!text.ok) return text;
  return ok({ ...(JSON.parse(text.value) as Omit<Details, "nonce">), nonce: noncePrefix(row.details).toHex() });
}

/** Returns the list entry of a row of this vault that cannot be decrypted. */
export const brokenItem = (vault: string, { id, version }: Pick<ItemRow, "id" | "version">): BrokenItem => ({
  id,
  vault,
  version,
  broken: "integrity",
});

/** Decrypts a row and the rows of its Files. Fails with `integrity` if the row itself cannot be decrypted. */
export async function openItem(
  keys: VaultKeys,
  vault: string,
  row: ItemRow,
  fileRows: readonly FileRow[],
): Promise<Result<Item>> {
  const [summary, details, files] = await Promise.all([
    openSummary(keys, vault, row),
    openDetails(keys, vault, row),
    openFiles(keys, vault, fileRows),
  ]);
  if (!summary.ok) return summary;
  if (!details.ok) return details;
  const { username: _username, ...attributes } = summary.value;
  return ok({ ...attributes, ...details.value, ...withoutKeys(files) });
}

/** Decrypts an Item for an answer, which has the name of its vault too. Fails with `integrity`. */
export async function openAnswered(
  { keys, openName }: Pick<FromVault<unknown, never>, "keys" | "openName">,
  vault: string,
  row: ItemRow,
  fileRows: readonly FileRow[],
): Promise<Result<Item & OfVault>> {
  const [item, vaultName] = await Promise.all([openItem(keys, vault, row, fileRows), openName()]);
  return item.ok ? ok({ ...item.value, vaultName }) : item;
}

type JoinedItem = Omit<ItemRow, "id"> | { version: null };

/** Returns one Item. Refusals are checked in this order: `unauthorized` (revoked), `vault_not_found`, `item_not_found`, `integrity`. */
export async function loadItem(store: Store, access: VaultAccess, item: string): Promise<Result<Item & OfVault>> {
  const row = joinedItem(item, "version, overview, details");
  const read = await loadFromVault<JoinedItem, [FileRow]>(
    store,
    access,
    row,
    store.db.prepare(FILES_OF_ITEM).bind(access.vault, item),
  );
  if (!read.ok) return read;
  const { joined, rows } = read.value;
  if (joined.version === null) return fail("item_not_found");
  return openAnswered(read.value, access.vault, { ...joined, id: item }, rows[0]);
}

/** The index of folded titles (docs/design/reads.md): `items.folded_index` holds the blind index of the folded title. */

/** Returns the blind index of a folded name. */
export const foldedIndex = ({ index }: Pick<VaultKeys, "index">, name: string): Promise<string> =>
  foldedBlindIndex(index, FOLD_VERSION, fold(name));
