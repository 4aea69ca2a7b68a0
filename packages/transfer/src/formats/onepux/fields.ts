import { purposeOfName } from "@item-vault/model/purposes";
import { fieldOfPurpose } from "../../item-parts.ts";
import type { TransferField, TransferFile, TransferState } from "../../item.ts";
import type { JsonValue } from "../../json.ts";
import { lookup } from "../../lookup.ts";
import type { Losses } from "../../losses.ts";
import type { Entry } from "../../zip.ts";
import { FORM_TYPES, KEY_PARTS, KINDS } from "./tables.ts";

/** The fields, sections and Files of an Item of 1PUX. */

export interface FieldContext {
  readonly archive: ReadonlyMap<string, Entry>;
  readonly losses: Losses;
  /** The title of the Item. */
  readonly title: string;
  /** Files that were found so far. */
  readonly files: TransferFile[];
}

/** The fields and sections of `details`; its Files go into the context. */
export function parseContent(details: JsonValue, context: FieldContext): Pick<TransferState, "fields" | "sections"> {
  const form = details.get("loginFields").list().map(parseFormField);
  const password = details.get("password").text();
  const hasPassword = form.some(({ purpose }) => purpose === "PASSWORD");
  addFile(details.get("documentAttributes"), undefined, context);
  const sections = details
    .get("sections")
    .list()
    .map((section, index) => parseSection(section, index, context));
  const fields = [
    ...form,
    ...(hasPassword ? [] : fieldOfPurpose("PASSWORD", password)),
    ...sections.flatMap(({ fields: inside }) => inside),
    ...fieldOfPurpose("NOTES", details.get("notesPlain").text() || undefined),
  ];
  return { fields: withKeyParts(fields, details), sections: sections.flatMap(({ section }) => section ?? []) };
}

function parseFormField(field: JsonValue): TransferField {
  const [id, name] = [field.get("id").scalar(), field.get("name").scalar()];
  const purpose = purposeOfName(field.get("designation").text() ?? "");
  const value = field.get("value");
  const given = typeof value.value === "object" ? KINDS["email"]!.parse(value) : (value.scalar() ?? "");
  const type = purpose === "PASSWORD" ? "CONCEALED" : (lookup(FORM_TYPES, field.get("fieldType").scalar() ?? "") ?? "STRING");
  return { ...(id ? { id } : {}), ...(name ? { label: name } : {}), ...(purpose ? { purpose } : {}), type, value: given };
}

interface ParsedSection {
  /** Absent for the section without a name and a title, which holds the fields that are in no section. */
  readonly section: { readonly id: string; readonly label: string } | undefined;
  readonly fields: TransferField[];
}

function parseSection(value: JsonValue, index: number, context: FieldContext): ParsedSection {
  const [name, label] = [value.get("name").scalar() ?? "", value.get("title").scalar() ?? ""];
  const section = name === "" && label === "" ? undefined : { id: name || `section-${index}`, label };
  const fields = value
    .get("fields")
    .list()
    .flatMap((field) => parseField(field, section, context));
  return { section, fields };
}

function parseField(field: JsonValue, section: ParsedSection["section"], context: FieldContext): TransferField[] {
  const id = field.get("id").scalar();
  const label = field.get("title").scalar() ?? "";
  const [[kind, value] = ["string", field.get("value").get("string")]] = field.get("value").entries();
  if (kind === "file") return addFile(value, section?.id, context);
  const named = { ...(id ? { id } : {}), label, ...(section ? { section: { id: section.id } } : {}) };
  const known = lookup(KINDS, kind);
  if (known) {
    if (kind === "address" && Object.values(value.object() ?? {}).filter(Boolean).length > 1)
      context.losses.add("parts of addresses (street, city …), joined to one text", context.title);
    return [{ ...named, type: known.type, value: known.parse(value) }];
  }
  context.losses.add("fields of a kind that the service does not have, kept as their JSON", context.title);
  return [{ ...named, type: "CONCEALED", value: JSON.stringify(value.value ?? null) }];
}

/** `{fileName, documentId, decryptedSize}`: the content lies at `files/<documentId>__<fileName>`. */
function addFile(file: JsonValue, section: string | undefined, { archive, losses, title, files }: FieldContext): [] {
  const id = file.get("documentId").text();
  if (!id) return [];
  const name = file.get("fileName").text() ?? "file";
  const entry = archive.get(`files/${id}__${name}`) ?? archive.get(`files/${id}`) ?? findByPrefix(archive, `files/${id}__`);
  if (entry) files.push(fileOfEntry(name, entry, section));
  else losses.add("Files that the archive does not contain", title);
  return [];
}

const findByPrefix = (archive: ReadonlyMap<string, Entry>, prefix: string): Entry | undefined =>
  [...archive.values()].find(({ name }) => name.startsWith(prefix));

/** Adds the public key, the fingerprint and the type of an SSH key as fields, where the Item has none of them. */
function withKeyParts(fields: TransferField[], details: JsonValue): TransferField[] {
  const values = details
    .get("sections")
    .list()
    .flatMap((section) =>
      section
        .get("fields")
        .list()
        .map((field) => field.get("value")),
    );
  const metadata = values
    .find((value) => !value.get("sshKey").absent)
    ?.get("sshKey")
    .get("metadata");
  const key = fields.find(({ type }) => type === "SSHKEY");
  if (!metadata || !key) return fields;
  const added = Object.entries(KEY_PARTS).flatMap(([part, { id, label }]) => {
    const value = metadata.get(part).scalar();
    const there = !value || fields.some((field) => field.id === id);
    return there ? [] : [{ id, label, type: "STRING", value, ...(key.section ? { section: key.section } : {}) }];
  });
  return [...fields, ...added];
}

export const fileOfEntry = (name: string, entry: Entry, section?: string): TransferFile => ({
  name,
  size: entry.size,
  read: () => entry.read(),
  ...(section ? { section } : {}),
});
