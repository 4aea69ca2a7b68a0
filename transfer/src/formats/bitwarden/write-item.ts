import type { TransferField, TransferItem } from "../../item.ts";
import type { Losses } from "../../losses.ts";
import { CARD, EXPIRY, LOGIN, MATCHES, SECURE_NOTE, SHAPES, type Slot } from "./shapes.ts";
import { writeCustomField, writeHistory, writeSpecial } from "./write-parts.ts";

interface Place {
  readonly id: string;
  /** The id of the folder. */
  readonly folder: string | null;
}

/** An Item as an item of Bitwarden. What Bitwarden cannot hold is counted. */
export function writeItem(item: TransferItem, { id, folder }: Place, losses: Losses): Readonly<Record<string, unknown>> {
  const { title, createdAt, updatedAt, favorite = false } = item;
  const type = typeOf(item);
  const shape = SHAPES[type]!;
  if (shape.category !== item.category) losses.add("categories that Bitwarden lacks", title);
  losses.add("tags after the first of an Item", title, Math.max(0, item.tags.length - 1));
  const notes = item.fields.find(({ purpose }) => purpose === "NOTES");
  const filled = new Map(shape.slots.flatMap((slot) => slotOf(item.fields, slot)));
  if (type === CARD) for (const [slot, field] of expirySlot(item.fields)) filled.set(slot, field);
  const others = item.fields.filter((field) => field !== notes && ![...filled.values()].includes(field));
  for (const [slot, field] of filled) countChanges(slot, field, title, losses);
  const { passkeys, passwords, custom } = writeSpecial(others, type);
  const urls =
    type === LOGIN ? [] : item.urls.map(({ href, label }) => ({ name: label || "URL", value: href, type: 0, linkedId: null }));
  const part = Object.fromEntries([...filled].map(([{ key }, { value = "" }]) => [key, value]));
  const dates = { creationDate: isoDate(createdAt), revisionDate: isoDate(updatedAt) };
  return {
    passwordHistory: type === LOGIN ? writeHistory(item, losses) : passwords,
    ...dates,
    deletedDate: null,
    ...(item.archived ? { archivedDate: isoDate(updatedAt) ?? isoDate(0) } : {}),
    id,
    organizationId: null,
    folderId: folder,
    type,
    reprompt: 0,
    name: title,
    notes: notes?.value || null,
    favorite,
    fields: [...custom.map((field) => writeCustomField(field, title, losses)), ...urls],
    [shape.part]: {
      ...(type === SECURE_NOTE ? { type: 0 } : {}),
      ...writeExpiry(part),
      ...(type === LOGIN
        ? { uris: writeUris(item, losses), ...(passkeys.length > 0 ? { fido2Credentials: passkeys } : {}) }
        : {}),
    },
    collectionIds: null,
  };
}

const BY_CATEGORY = new Map(Object.entries(SHAPES).map(([type, { category }]) => [category, Number(type)]));

/** The type by the category; what has no type of its own is a login when it has something to log in with, else a note. */
function typeOf({ category, fields, urls }: TransferItem): number {
  const own = BY_CATEGORY.get(category);
  if (own !== undefined && own !== SECURE_NOTE) return own;
  const logs =
    urls.length > 0 || fields.some(({ purpose, type }) => purpose === "PASSWORD" || purpose === "USERNAME" || type === "OTP");
  return logs ? LOGIN : SECURE_NOTE;
}

function slotOf(fields: readonly TransferField[], slot: Slot): [Slot, TransferField][] {
  const fit = (field: TransferField) =>
    slot.purpose ? field.purpose === slot.purpose : field.id === slot.key && !field.purpose && !field.section;
  const otp = slot.type === "OTP" ? fields.find(({ type }) => type === "OTP") : undefined;
  const found = fields.find(fit) ?? otp;
  return found ? [[slot, found]] : [];
}

function countChanges(slot: Slot, { label, section, type = "STRING" }: TransferField, title: string, losses: Losses): void {
  if ((label ?? slot.label) !== slot.label) losses.add("labels of fields that Bitwarden names itself", title);
  if (section) losses.add("sections of fields", title);
  const expected = slot.type ?? "STRING";
  if (type !== expected && !(expected === "OTP" && type === "CONCEALED")) losses.add("types of fields", title);
}

const MONTH = /^(\d{4})\/?(\d{2})$/;

/** The field for month and year together, if it holds them and no other field does. */
function expirySlot(fields: readonly TransferField[]): [Slot, TransferField][] {
  const apart = fields.some(({ id }) => id === "expMonth" || id === "expYear");
  return apart ? [] : slotOf(fields, EXPIRY).filter(([, { value = "" }]) => MONTH.test(value));
}

function writeExpiry({ [EXPIRY.key]: expiry, ...part }: Readonly<Record<string, string>>): Record<string, string> {
  const [, year, month] = MONTH.exec(expiry ?? "") ?? [];
  return year && month ? { ...part, expMonth: String(Number(month)), expYear: year } : part;
}

function writeUris({ urls, title }: TransferItem, losses: Losses) {
  const [primary, others] = [urls.filter((url) => url.primary), urls.filter((url) => !url.primary)];
  return [...primary, ...others].map(({ href, label }) => {
    const match = label ? MATCHES.indexOf(label) : -1;
    if (label && match === -1) losses.add("labels of URLs", title);
    return { match: match === -1 ? null : match, uri: href };
  });
}

const isoDate = (time: number | undefined): string | undefined => (time === undefined ? undefined : new Date(time).toISOString());
