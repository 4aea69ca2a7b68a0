import { fieldOfPurpose, urlsOf } from "../../item-parts.ts";
import type { JsonValue } from "../../json.ts";
import type { Losses } from "../../losses.ts";
import type { TransferField, TransferItem, TransferState } from "../../item.ts";
import { readCustomFields, readPasskeys, readUnknownParts } from "./parts.ts";
import { CARD, EXPIRY, LOGIN, MATCHES, SECTIONS, SHAPES, UUID, type ItemShape, type Slot } from "./shapes.ts";

interface Source {
  /** The names of folders and collections, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly losses: Losses;
  readonly includeTrash: boolean;
}

/**
 * An item of Bitwarden's export as an Item, without its Files.
 * Out: `undefined` for an item in the trash. Errors: throws a TransferError that names the attribute.
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

/** Attributes for a date in ISO 8601; none when it is absent or no date. In: makes them of Unix milliseconds. */
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
