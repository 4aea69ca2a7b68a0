import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, ref } from "./shapes.ts";

/** Items in answers (contract 2, 9 and 14). */

const version = integer("1 at creation, +1 for each write that changes the Item (contract 2.18).", 1);
const lastEditedBy = ref("Id", "The id of the token that wrote last.");

const summary: Readonly<Record<string, Schema>> = {
  id: ref("Id"),
  title: { type: "string", description: 'The title; `""` when none was given.' },
  vault: ref("VaultOfItem"),
  category: ref("Category"),
  urls: arrayOf(ref("Url")),
  favorite: { type: "boolean" },
  tags: arrayOf({ type: "string" }),
  version,
  state: { type: "string", enum: ["ARCHIVED", "DELETED"], description: "Absent for an ordinary Item. Read-only." },
  createdAt: ref("Time"),
  updatedAt: ref("Time", "When the Item was written last. It never goes back."),
  lastEditedBy,
};

/** A list entry for a row that cannot be decrypted (contract 11.10). A damaged column may hold any text. */
const broken: Readonly<Record<string, Schema>> = {
  id: { type: "string", description: "The id, as the row has it." },
  vault: ref("VaultReference"),
  version: integer("The version; absent where the column is damaged.", 1),
  broken: { type: "string", const: "integrity", description: "The stored record cannot be decrypted (contract 11.10)." },
};

const username: Schema = {
  type: "string",
  description: "The value of the USERNAME field, with `include=username` and where there is one (contract 11.8).",
};

const contents: Readonly<Record<string, Schema>> = {
  sections: arrayOf(ref("Section"), { description: "In the order of the request that wrote them." }),
  fields: arrayOf(ref("Field"), { description: "In the order of the request that wrote them." }),
  files: arrayOf(ref("File"), { description: "In the order of their ids." }),
  brokenFiles: arrayOf(
    { type: "string" },
    { description: "The ids of the Files whose stored records cannot be decrypted; absent without one (contract 9.14)." },
  ),
};

const deletion: Readonly<Record<string, Schema>> = {
  state: { type: "string", const: "DELETED" },
  deletedAt: ref("Time"),
  deletedBy: ref("Id", "The id of the token that deleted the Item."),
};

export const itemSchemas: Readonly<Record<string, Schema>> = {
  VaultReference: closed("A vault, by its id.", { id: ref("Id") }),
  VaultOfItem: closed(
    "The vault of an Item.",
    { id: ref("Id"), name: { type: "string", description: "Its name; absent when that cannot be decrypted (contract 2.23)." } },
    ["name"],
  ),
  ItemReference: closed("An Item, by its id.", { id: ref("Id") }),
  Url: closed(
    "A URL of an Item (contract 2.3).",
    {
      href: { type: "string", description: "Required, and possibly empty." },
      label: { type: "string" },
      primary: { type: "boolean" },
    },
    ["label", "primary"],
  ),
  Section: closed("A section of an Item.", { id: { type: "string" }, label: { type: "string" } }),
  SectionReference: closed(
    "The section of a field. It has the section's label, unless that is empty or longer than 1 KiB (contract 2.22).",
    { id: { type: "string" }, label: { type: "string" } },
    ["label"],
  ),
  Field: closed(
    "A field of an Item (contract 2.4).",
    {
      id: { type: "string", description: "As the client chose it, or 26 generated characters (contract 2.13)." },
      section: ref("SectionReference"),
      type: ref("FieldType"),
      purpose: ref("Purpose"),
      label: { type: "string" },
      value: { type: "string", description: 'In the form of the token\'s dialect (contract 3.5); `""` when the field has none.' },
      entropy: { type: "number", minimum: 0, description: "Bits; only of purpose PASSWORD with a value (contract 7.6)." },
      totp: { type: "string", pattern: String.raw`^\d{6,8}$`, description: "The current code; only of type OTP with a value." },
    },
    ["section", "purpose", "entropy", "totp"],
  ),
  File: closed(
    "A File of an Item (contract 9.1).",
    {
      id: ref("Id"),
      name: { type: "string" },
      size: integer("Bytes of the content.", 0),
      content_path: {
        type: "string",
        description: "The path of the content, in the form of the token's dialect (contract 3.5).",
      },
      section: closed("The section of the Item that the File is in.", { id: { type: "string" } }),
      content: { type: "string", contentEncoding: "base64", description: "The bytes, where `inline_files=true` asks for them." },
    },
    ["section", "content"],
  ),
  ItemSummary: closed("An Item in a list. It contains no field (contract 2.1).", { ...summary, username }, ["state", "username"]),
  BrokenItem: closed("An Item in a list whose stored record cannot be decrypted (contract 11.10).", broken, ["version"]),
  Item: closed("A full Item (contract 2.2).", { ...summary, ...contents }, ["state", "brokenFiles"]),
  DeletedItemSummary: closed("A deleted Item in a list (contract 14.9).", { ...summary, ...deletion }),
  BrokenDeletedItem: closed(
    "A deleted Item in a list whose stored record cannot be decrypted (contract 14.9).",
    { ...broken, ...deletion, deletedBy: { type: "string", description: "As the row has it." } },
    ["version"],
  ),
  DeletedItem: closed(
    "A full deleted Item, as it was when it was deleted (contract 14.10).",
    { ...summary, ...contents, ...deletion },
    ["brokenFiles"],
  ),
  BrokenVersion: closed("A version in the list whose stored record cannot be decrypted (contract 14.2).", {
    version: { type: "integer", description: "The number of the version." },
    current: { type: "boolean", description: "Whether it is the current version." },
    broken: broken.broken!,
  }),
  Version: closed("A version of an Item in the list of its versions (contract 14.2).", {
    version: integer("The number of the version.", 1),
    updatedAt: ref("Time", "When the version was written."),
    lastEditedBy: ref("Id", "The id of the token that wrote the version."),
    title: { type: "string" },
    current: { type: "boolean", description: "Whether it is the current version." },
  }),
};
