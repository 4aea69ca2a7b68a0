import type { JsonValue } from "../../json.ts";
import type { Losses } from "../../losses.ts";
import type { TransferField } from "../../item.ts";
import { CUSTOM, type ItemShape, LINKS, LOGIN, SECTIONS, SECURE_NOTE, SHAPES } from "./shapes.ts";

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

const setOf = (...names: readonly string[]): ReadonlySet<string> => new Set(names.flatMap((some) => some.split(" ")));

/** Attributes of an item that are read elsewhere, or that say nothing about its content. */
const OF_ITEM = setOf(
  "id organizationId folderId collectionIds type reprompt name notes favorite fields passwordHistory revisionDate creationDate",
  "deletedDate archivedDate key object attachments organizationUseTotp edit viewPassword permissions",
);

/** The same of the parts of a login and of a secure note. */
const OF_LOGIN = setOf("uris fido2Credentials passwordRevisionDate");
const OF_NOTE = setOf("type");

const NONE = setOf();
const NOTE_PART = SHAPES[SECURE_NOTE]!.part;

const OF_URI = setOf("uri uriChecksum match");

/** An attribute that has no place of its own. `path`: the id of its field; `label`: its name, after those of its parents. */
interface Unknown {
  readonly path: string;
  readonly label: string;
  readonly value: JsonValue;
}

/** Every value of an item that this version does not know, at its top, in its parts and in its URIs, as a concealed field. */
export function readUnknownParts(raw: JsonValue, type: number, losses: Losses): TransferField[] {
  const shape: ItemShape | undefined = SHAPES[type];
  const unknown = raw.entries().flatMap(([name, value]) => {
    if (OF_ITEM.has(name)) return [];
    const isPart = typeof value.value === "object" && !Array.isArray(value.value);
    if (!isPart) return [{ path: `${name}.${name}`, label: name, value }];
    return name === shape?.part ? unknownOfPart(value, shape) : unknownIn(value, name, name === NOTE_PART ? OF_NOTE : NONE);
  });
  const kept = unknown.filter(({ value: { value } }) => !isEmpty(value));
  losses.add("attributes of an unknown kind (kept as concealed text)", raw.get("name").text(), kept.length);
  return kept.map(({ path, label, value: { value } }) => ({
    id: path,
    label,
    type: "CONCEALED",
    value: typeof value === "string" ? value : JSON.stringify(value),
  }));
}

/** In: the part of the type of the item. */
function unknownOfPart(value: JsonValue, { part, slots }: ItemShape): Unknown[] {
  const isLogin = part === SHAPES[LOGIN]!.part;
  const others = isLogin ? OF_LOGIN : part === NOTE_PART ? OF_NOTE : NONE;
  const uris = isLogin ? value.get("uris").list() : [];
  return [
    ...unknownIn(value, part, new Set([...slots.map(({ key }) => key), ...others])),
    ...uris.flatMap((uri, n) => unknownIn(uri, `${part}.uris-${n + 1}`, OF_URI)),
  ];
}

const unknownIn = (part: JsonValue, path: string, known: ReadonlySet<string>): Unknown[] =>
  part
    .entries()
    .flatMap(([name, value]) => (known.has(name) ? [] : [{ path: `${path}.${name}`, label: `${path}.${name}`, value }]));

/** Whether a value says nothing: also a list, or a part, without any. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (typeof value === "object" && Object.values(value!).length === 0);
