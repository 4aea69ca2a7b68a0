import { nameOfPurpose } from "@item-vault/model/purposes";
import type { TransferField, TransferState } from "../../item.ts";
import { lookup } from "../../lookup.ts";
import type { Losses } from "../../losses.ts";
import { isRefused } from "../../values.ts";
import { KEY_PARTS, KIND_NAMES, KINDS } from "./tables.ts";

/** The `details` of an Item of 1PUX. */

export interface StoredFile {
  readonly section: string | undefined;
  readonly attributes: { readonly fileName: string; readonly documentId: string; readonly decryptedSize: number };
}

/** Presents an Item. `files` are its Files in the archive. */
export function presentContent(item: TransferState, files: readonly StoredFile[], losses: Losses): object {
  const { category, fields, sections } = item;
  const purposed = (purpose: string) => fields.find((field) => field.purpose === purpose);
  const [password, notes] = [purposed("PASSWORD"), purposed("NOTES")];
  const form = fields.filter(({ purpose }) => purpose === "USERNAME" || (purpose === "PASSWORD" && category !== "PASSWORD"));
  const document = category === "DOCUMENT" ? files.find(({ section }) => section === undefined) : undefined;
  const inside: Inside = { item, files: files.filter((file) => file !== document), losses };
  countPurposed(item, losses);
  const unnamed = presentSection(undefined, "", inside);
  return {
    loginFields: form.map(presentFormField),
    ...(notes?.value ? { notesPlain: notes.value } : {}),
    ...(category === "PASSWORD" && password ? { password: password.value ?? "" } : {}),
    ...(document ? { documentAttributes: document.attributes } : {}),
    sections: [
      ...(unnamed.fields.length > 0 ? [unnamed] : []),
      ...namedSections(sections, inside).map(({ id, label = "" }) => presentSection(id, label, inside)),
    ],
  };
}

const FORM_TYPE_NAMES: Readonly<Record<string, string>> = { CONCEALED: "P", EMAIL: "E", URL: "U", PHONE: "TEL" };

/** Counts losses of fields with a purpose. 1PUX has them in no section; notes, and the password of a Password, are plain text. */
function countPurposed({ title, category, fields }: TransferState, losses: Losses): void {
  for (const { id, label, type = "STRING", purpose = "", section, value } of fields) {
    const name = nameOfPurpose(purpose);
    if (name === undefined) continue;
    const isBare = purpose === "NOTES" || (purpose === "PASSWORD" && category === "PASSWORD");
    if (section) losses.add("sections of user names, passwords and notes", title);
    if (purpose === "NOTES" && value === "") losses.add("empty notes", title);
    if (isBare ? (id ?? name) !== name || (label ?? name) !== name : label === "")
      losses.add("labels and ids of fields that 1Password names itself", title);
    if (purpose !== "PASSWORD" && type !== "STRING" && (isBare || !lookup(FORM_TYPE_NAMES, type)))
      losses.add("types of fields that 1Password does not have", title);
  }
}

interface Inside {
  readonly item: TransferState;
  readonly files: readonly StoredFile[];
  readonly losses: Losses;
}

/** Returns the declared sections, and the sections that only a field or a File names. */
function namedSections(declared: TransferState["sections"], { item, files }: Inside): TransferState["sections"] {
  const named = [
    ...item.fields.flatMap(({ section }) => section ?? []),
    ...files.flatMap(({ section: id }) => (id ? { id } : [])),
  ];
  const sections = new Map([...named.toReversed(), ...declared].map((section) => [section.id, section]));
  const order = [...declared, ...named].map(({ id }) => id);
  return [...new Set(order)].map((id) => sections.get(id)!);
}

function presentFormField({ id, label, type = "STRING", purpose = "", value = "" }: TransferField): object {
  const designation = nameOfPurpose(purpose)!;
  const fieldType = purpose === "PASSWORD" ? "P" : (lookup(FORM_TYPE_NAMES, type) ?? "T");
  return { value, id: id === designation ? "" : (id ?? ""), name: label ?? designation, fieldType, designation };
}

function presentSection(id: string | undefined, title: string, { item, files, losses }: Inside) {
  const own = item.fields.filter(({ purpose, section }) => !purpose && section?.id === id);
  const attached = files.filter(({ section }) => section === id);
  const fields = [
    ...own.map((field) => presentField(field, item, losses)),
    ...attached.map(({ attributes }) => fieldOf(attributes.documentId, attributes.fileName, { file: attributes })),
  ];
  return { title, name: id ?? "", fields };
}

function presentField(field: TransferField, item: TransferState, losses: Losses): object {
  const { id = "", label = "", type = "STRING", value = "" } = field;
  const kind = isRefused(field) ? undefined : lookup(KIND_NAMES, type);
  if (!kind && type !== "STRING") losses.add("types of fields that 1Password does not have", item.title);
  const content = kind ? KINDS[kind]!.present(value) : value;
  if (kind !== "sshKey") return fieldOf(id, label, { [kind ?? "string"]: content });
  const parts = Object.entries(KEY_PARTS).map(([part, known]) => [
    part,
    item.fields.find((other) => other.id === known.id)?.value ?? "",
  ]);
  return fieldOf(id, label, { sshKey: { privateKey: value, metadata: { privateKey: value, ...Object.fromEntries(parts) } } });
}

/** A field with the attributes without which 1Password refuses an import. */
const fieldOf = (id: string, title: string, value: object): object => ({
  title,
  id,
  value,
  guarded: false,
  multiline: false,
  dontGenerate: false,
  inputTraits: { keyboard: "default", correction: "default", capitalization: "default" },
});
