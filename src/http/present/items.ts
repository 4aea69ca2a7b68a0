import type { Presented, Schemas } from "../../api/answer.ts";
import { type Dialect, DIALECTS, writeId } from "../../model/dialect.ts";
import type { File } from "../../model/file.ts";
import { type BrokenItem, type Field, isVersion, type Item, type OfVault, type Summary } from "../../model/item.ts";
import { fits, LIMITS } from "../../model/limits.ts";
import { codeOfField } from "../../model/totp.ts";
import { presentTime } from "./time.ts";

/** Items and Files on the wire (contract 2), in the dialect of the token (contract 3). */

export function presentSummary(item: Summary & OfVault, dialect: Dialect): Omit<Presented<Schemas.ItemSummary>, "username"> {
  return {
    id: writeId(item.id, dialect),
    title: item.title,
    vault: { id: writeId(item.vault, dialect), name: item.vaultName },
    category: item.category,
    urls: item.urls,
    favorite: item.favorite,
    tags: item.tags,
    version: item.version,
    state: item.state,
    createdAt: presentTime(item.createdAt),
    updatedAt: presentTime(item.updatedAt),
    lastEditedBy: writeId(item.lastEditedBy, dialect),
  };
}

/** Presents the entry of a row that cannot be decrypted (contract 11.10). An invalid version is left out. */
export const presentBroken = ({ id, vault, version, broken }: BrokenItem, dialect: Dialect): Presented<Schemas.BrokenItem> => ({
  id: writeId(id, dialect),
  vault: { id: writeId(vault, dialect) },
  version: isVersion(version) ? version : undefined,
  broken,
});

/** Presents a summary with the user name, if the Item has one (contract 11.8). */
export const presentWithUsername = (item: Summary & OfVault, dialect: Dialect): Presented<Schemas.ItemSummary> => ({
  ...presentSummary(item, dialect),
  username: item.username,
});

/** Presents a full Item. `now` is in Unix milliseconds, for the codes of OTP fields. `source` is the source for downloads of its Files. */
export function presentItem(
  item: Item & OfVault,
  dialect: Dialect,
  now: number,
  source?: ContentSource,
): Presented<Schemas.Item> {
  const files = item.files.map((file) => presentFile(file, item, dialect, undefined, source));
  // An Item has up to 1,000 fields, so a long label is not repeated in each of them.
  const labels = new Map(item.sections.map(({ id, label }) => [id, fits(label, LIMITS.repeatedLabel) ? label : ""]));
  return {
    ...presentSummary(item, dialect),
    sections: item.sections,
    fields: item.fields.map((field) => presentField(field, labels, dialect, now)),
    files,
    brokenFiles: item.brokenFiles?.map((id) => writeId(id, dialect)),
  };
}

/** Presents the answer to PUT, whose version depends on the dialect. */
export function presentReplaced(item: Item & OfVault, dialect: Dialect, now: number): Presented<Schemas.Item> {
  return presentItem({ ...item, version: DIALECTS[dialect].versionAfterPut(item.version) }, dialect, now);
}

/**
 * Presents a field. `labels` has the labels of the Item's sections by id. Clients such as vals look for a field by the label of its section.
 */
function presentField(
  { section, purpose, ...field }: Field,
  labels: ReadonlyMap<string, string>,
  dialect: Dialect,
  now: number,
): Presented<Schemas.Field> {
  const value = DIALECTS[dialect].fieldValue(field.type, field.value);
  const totp = codeOfField(field, now);
  return {
    ...field,
    value,
    // Clients in Rust and C# ignore fields whose purpose is "".
    purpose: purpose || undefined,
    section: section === undefined ? undefined : { id: section, label: labels.get(section) || undefined },
    entropy: field.entropy,
    totp,
  };
}

/** The source for downloads of an Item's Files: the list of the vault in the path, and the query. */
export interface ContentSource {
  readonly list: "items" | "deleted-items";
  readonly query: string;
}

const CURRENT: ContentSource = { list: "items", query: "" };

/** Presents a File of an Item. `content` has its bytes, if the request asks for them. */
export function presentFile(
  file: File,
  item: Pick<Summary, "id" | "vault">,
  dialect: Dialect,
  content?: Uint8Array,
  { list, query }: ContentSource = CURRENT,
): Presented<Schemas.File> {
  const id = writeId(file.id, dialect);
  const itemPath = `v1/vaults/${writeId(item.vault, dialect)}/${list}/${writeId(item.id, dialect)}`;
  return {
    id,
    name: file.name,
    size: file.size,
    content_path: DIALECTS[dialect].contentPath(`${itemPath}/files/${id}/content${query}`),
    section: file.section === undefined ? undefined : { id: file.section },
    content: content?.toBase64(),
  };
}
