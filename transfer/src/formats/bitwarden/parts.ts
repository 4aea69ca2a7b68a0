import type { JsonValue } from "../../json.ts";
import type { Losses } from "../../losses.ts";
import type { TransferField } from "../../item.ts";
import { CUSTOM, LINKS, SECTIONS } from "./shapes.ts";

/** The parts of Bitwarden's items that have no slot: custom fields, passkeys, and what a newer version adds. */

const TYPES: Readonly<Record<number, string>> = { [CUSTOM.hidden]: "CONCEALED", [CUSTOM.boolean]: "MENU" };

export const readCustomFields = (fields: JsonValue): TransferField[] => fields.list().map(readCustomField);

function readCustomField(field: JsonValue, n: number): TransferField {
  const base = { id: `custom-${n + 1}`, label: field.get("name").text() ?? "" };
  const [type, linked] = [field.get("type").number() ?? CUSTOM.text, field.get("linkedId")];
  if (type === CUSTOM.linked) {
    const value = LINKS.get(linked.number() ?? 0) ?? linked.scalar() ?? "";
    return { ...base, type: "STRING", value, section: SECTIONS.linked };
  }
  return { ...base, type: TYPES[type] ?? "STRING", value: field.get("value").scalar() ?? "" };
}

/** Each passkey as JSON in a concealed field: nothing uses it there, but nothing is lost. */
export const readPasskeys = (credentials: JsonValue): TransferField[] =>
  credentials.list().map((credential, n) => ({
    id: `passkey-${n + 1}`,
    label: credential.get("rpId").text() || "passkey",
    type: "CONCEALED",
    value: JSON.stringify(credential.value),
    section: SECTIONS.passkeys,
  }));

/** Attributes of an item that are read elsewhere, or that say nothing about its content. */
const KNOWN = new Set(
  [
    "id organizationId folderId collectionIds type reprompt name notes favorite fields passwordHistory revisionDate creationDate",
    "deletedDate archivedDate key object attachments organizationUseTotp edit viewPassword permissions",
    "login secureNote card identity sshKey",
  ].flatMap((names) => names.split(" ")),
);

/** Every value of a part that this version does not know, as a concealed field. */
export function readUnknownParts(raw: JsonValue, part: string | undefined, losses: Losses): TransferField[] {
  const title = raw.get("name").text();
  return raw.entries().flatMap(([name, value]) => {
    if (value.absent || name === part || KNOWN.has(name)) return [];
    const isPart = typeof value.value === "object" && !Array.isArray(value.value);
    const entries = (isPart ? value.entries() : [[name, value] as const]).filter(([, { value: text }]) => (text ?? "") !== "");
    losses.add("attributes of an unknown kind (kept as concealed text)", title, entries.length);
    return entries.map(([label, { value: text }]) => ({
      id: `${name}.${label}`,
      label,
      type: "CONCEALED",
      value: typeof text === "string" ? text : JSON.stringify(text),
    }));
  });
}
