import type { TransferField, TransferItem } from "../../item.ts";
import type { Losses } from "../../losses.ts";
import { lookup } from "../../lookup.ts";
import { BRANDS, CARD, EXPIRY, LOGIN, MATCHES, SECTIONS, SECURE_NOTE, SHAPES, type Slot } from "./shapes.ts";
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
  const filled = fillSlots(item.fields, shape.slots);
  if (type === CARD) fillExpiry(item.fields, filled);
  const others = item.fields.filter((field) => field !== notes && ![...filled.values()].includes(field));
  for (const [slot, field] of filled) countChanges(slot, field, title, losses);
  const { passkeys, passwords, custom } = writeSpecial(others, type);
  const urls =
    type === LOGIN ? [] : item.urls.map(({ href, label }) => ({ name: label || "URL", value: href, type: 0, linkedId: null }));
  const part = Object.fromEntries(
    [...filled].map(([{ key, type: ofSlot }, { value = "" }]) => [
      key,
      ofSlot === "CREDIT_CARD_TYPE" ? (lookup(BRANDS, value.toLowerCase()) ?? value) : value,
    ]),
  );
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

/** Types that say what a field is, where no id and no label does. */
const TELLING = new Set(["CREDIT_CARD_NUMBER", "CREDIT_CARD_TYPE", "EMAIL", "OTP", "PHONE", "SSHKEY"]);

/** Whether an import has put the field beside the slots. */
const isBeside = ({ id = "", section }: TransferField): boolean =>
  /^custom-\d+$/.test(id) || Object.values(SECTIONS).some((one) => one.id === section?.id);

/** Finds the field of each slot: by its purpose, else by its id, its label or its type. Returns them in the order of the slots. */
function fillSlots(fields: readonly TransferField[], slots: readonly Slot[]): Map<Slot, TransferField> {
  const filled = new Map<Slot, TransferField>();
  const free = new Set(fields.filter((field) => !field.purpose && !isBeside(field)));
  const fill = (slot: Slot, field: TransferField | undefined) => {
    if (!field || filled.has(slot)) return;
    filled.set(slot, field);
    free.delete(field);
  };
  for (const slot of slots.filter(({ purpose }) => purpose))
    fill(
      slot,
      fields.find(({ purpose }) => purpose === slot.purpose),
    );
  const others = slots.filter(({ purpose }) => !purpose);
  const find = (fits: (field: TransferField) => boolean) => [...free].find(fits);
  for (const slot of others)
    fill(
      slot,
      find(({ id }) => id === slot.key),
    );
  for (const slot of others)
    fill(
      slot,
      find(({ id }) => id !== undefined && namesOf(slot).includes(id)),
    );
  for (const slot of others)
    fill(
      slot,
      find(({ label }) => label !== undefined && namesOf(slot).includes(label.toLowerCase())),
    );
  for (const slot of others)
    fill(
      slot,
      find(({ type = "" }) => type === slot.type && TELLING.has(type)),
    );
  return new Map(slots.flatMap((slot) => (filled.has(slot) ? [[slot, filled.get(slot)!] as const] : [])));
}

const namesOf = ({ key, label, also = [] }: Slot): readonly string[] => [key, label, ...also];

function countChanges(slot: Slot, { label, section, type = "STRING" }: TransferField, title: string, losses: Losses): void {
  if ((label ?? slot.label) !== slot.label) losses.add("labels of fields that Bitwarden names itself", title);
  if (section) losses.add("sections of fields", title);
  const expected = slot.type ?? "STRING";
  if (type !== expected && !(expected === "OTP" && type === "CONCEALED")) losses.add("types of fields", title);
}

const MONTH = /^(\d{4})\/?(\d{2})$/;

/** Adds the field for month and year together, if it holds them and no other field does. */
function fillExpiry(fields: readonly TransferField[], filled: Map<Slot, TransferField>): void {
  const isApart = [...filled.keys()].some(({ key }) => key === "expMonth" || key === "expYear");
  const used = new Set(filled.values());
  const months = fields.filter((field) => !used.has(field) && MONTH.test(field.value ?? ""));
  const [found] = isApart ? [] : fillSlots(months, [EXPIRY]);
  if (found) filled.set(...found);
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
