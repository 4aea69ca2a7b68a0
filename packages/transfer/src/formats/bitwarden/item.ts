import { fieldOfPurpose, urlsOf } from "../../item-parts.ts";
import type { TransferField, TransferItem, TransferState } from "../../item.ts";
import type { JsonValue } from "../../json.ts";
import type { Losses } from "../../losses.ts";
import {
  CARD,
  EXPIRY,
  LOGIN,
  MATCHES,
  SECTIONS,
  SHAPES,
  UUID,
  type ItemShape,
  type Slot,
  CUSTOM,
  LINKS,
  SECURE_NOTE,
} from "./shapes.ts";

interface Source {
  /** The names of folders and collections, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly losses: Losses;
  readonly includeTrash: boolean;
}

/**
 * Converts an item of Bitwarden's export to an Item, without its Files. Returns undefined for an item in the trash. Throws a TransferError
 * that names the attribute.
 */
export function readItem(raw: JsonValue, { names, losses, includeTrash }: Source): TransferItem | undefined {
  const title = raw.get("name").text() ?? "";
  if (!includeTrash && !raw.get("deletedDate").absent) {
    losses.add("Items in the trash (--include-trash reads them)", title);
    return undefined;
  }
  const isLogin = raw.get("type").number() === LOGIN;
  const passwords = readPasswords(raw.get("passwordHistory"));
  const state = readState(raw, names, losses, isLogin ? [] : passwords.map(earlierField));
  if ((raw.get("reprompt").number() ?? 0) !== 0) losses.add("settings that ask for the master password again", title);
  losses.add("dates of earlier passwords", title, passwords.length);
  const id = raw.get("id").text();
  const withPassword = ({ value, changedAt }: Earlier): TransferState =>
    Object.assign({}, state, { fields: replacePassword(state.fields, value) }, changedAt === undefined ? {} : { changedAt });
  return {
    ...state,
    sourceId: id !== undefined && UUID.test(id) ? id.toLowerCase() : undefined,
    vault: undefined,
    archived: !raw.get("archivedDate").absent,
    ...dateOf(raw.get("creationDate"), (createdAt) => ({ createdAt })),
    ...dateOf(raw.get("revisionDate"), (updatedAt) => ({ updatedAt })),
    files: [],
    history: isLogin ? passwords.map(withPassword) : [],
  };
}

/** Converts a date in ISO 8601 with `use`, which gets Unix milliseconds. Returns undefined for an absent or invalid date. */
function dateOf<T>(value: JsonValue, use: (time: number) => T): T | undefined {
  const time = Date.parse(value.scalar() ?? "");
  return Number.isNaN(time) ? undefined : use(time);
}

function readState(
  raw: JsonValue,
  names: ReadonlyMap<string, string>,
  losses: Losses,
  earlier: readonly TransferField[],
): TransferState {
  const type = raw.get("type").number();
  if (type === undefined) throw raw.get("type").fault("is missing");
  const shape: ItemShape | undefined = SHAPES[type];
  const fields: TransferField[] = [
    ...(shape ? readSlots(raw.get(shape.part), shape, type) : []),
    ...readCustomFields(raw.get("fields")),
    ...readUnknownParts(raw, type, losses),
    ...(type === LOGIN ? readPasskeys(raw.get("login").get("fido2Credentials")) : []),
    ...earlier,
    ...fieldOfPurpose("NOTES", raw.get("notes").text() || undefined),
  ];
  const used = new Set(fields.map(({ section }) => section?.id));
  const containers = [raw.get("folderId"), ...raw.get("collectionIds").list()];
  return {
    title: raw.get("name").text() ?? "",
    category: shape?.category ?? "CUSTOM",
    favorite: raw.get("favorite").boolean() === true,
    tags: containers.flatMap((id) => names.get(id.text() ?? "") ?? []),
    urls: type === LOGIN ? readUrls(raw.get("login").get("uris")) : [],
    sections: Object.values(SECTIONS).filter(({ id }) => used.has(id)),
    fields,
  };
}

function readSlots(part: JsonValue, { slots }: ItemShape, type: number): TransferField[] {
  const [month, year] = ["expMonth", "expYear"].map((key) => (type === CARD ? (part.get(key).scalar() ?? "") : ""));
  const usual = /^(0?[1-9]|1[0-2])$/.test(month!) && /^\d{4}$/.test(year!);
  const expiry = usual ? [fieldOf(EXPIRY, `${year}${month!.padStart(2, "0")}`)] : [];
  return slots
    .flatMap((slot) => {
      const value = part.get(slot.key).scalar() ?? "";
      return value === "" || (usual && slot.key.startsWith("exp")) ? [] : [fieldOf(slot, value)];
    })
    .concat(expiry);
}

const fieldOf = ({ key, label, type = "STRING", purpose }: Slot, value: string): TransferField =>
  purpose === undefined ? { id: key, label, type, value } : { id: key, label, type, purpose, value };

function readUrls(uris: JsonValue): TransferState["urls"] {
  const urls = uris.list().map((entry) => {
    const label = MATCHES[entry.get("match").number() ?? -1];
    const href = entry.get("uri").text() ?? "";
    return label === undefined ? { href } : { href, label };
  });
  return urlsOf(urls.filter(({ href }) => href !== ""));
}

/** An earlier password, and when it was used last. */
interface Earlier {
  readonly value: string;
  readonly changedAt: number | undefined;
}

/** The earlier passwords, the oldest first. Bitwarden writes the newest first. */
function readPasswords(list: JsonValue): Earlier[] {
  const entries = list.list().map((entry) => ({
    value: entry.get("password").text() ?? "",
    changedAt: dateOf(entry.get("lastUsedDate"), (time) => time),
  }));
  const ordered = entries.toReversed().toSorted((a, b) => (a.changedAt ?? 0) - (b.changedAt ?? 0));
  return ordered.filter(({ value }) => value !== "");
}

const earlierField = ({ value }: Earlier, n: number): TransferField => ({
  id: `earlier-${n + 1}`,
  label: `earlier ${n + 1}`,
  type: "CONCEALED",
  value,
  section: SECTIONS.passwords,
});

function replacePassword(fields: readonly TransferField[], value: string): TransferField[] {
  const password = fieldOf(SHAPES[LOGIN]!.slots[1]!, value);
  const at = fields.findIndex(({ purpose }) => purpose === "PASSWORD");
  return at === -1 ? [password, ...fields] : fields.with(at, password);
}

/** The parts of Bitwarden's items without a slot: custom fields, passkeys, and additions of a newer version. */

const TYPES: Readonly<Record<number, string>> = { [CUSTOM.hidden]: "CONCEALED", [CUSTOM.boolean]: "MENU" };

const readCustomFields = (fields: JsonValue): TransferField[] => fields.list().map(readCustomField);

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
const readPasskeys = (credentials: JsonValue): TransferField[] =>
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

/** An attribute without a slot. `path` is the id of its field; `label` is its name, after those of its parents. */
interface Unknown {
  readonly path: string;
  readonly label: string;
  readonly value: JsonValue;
}

/** Every value of an item that this version does not know, at its top, in its parts and in its URIs, as a concealed field. */
function readUnknownParts(raw: JsonValue, type: number, losses: Losses): TransferField[] {
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

/** Returns the unknown attributes in the part of the item's type. */
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

/** Returns true for a value without content, including an empty list or part. */
const isEmpty = (value: unknown): boolean =>
  value === undefined || value === "" || (typeof value === "object" && Object.values(value!).length === 0);
