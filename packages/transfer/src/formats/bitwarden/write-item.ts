import { isSecretType } from "@item-vault/model/secret-types";
import type { TransferField, TransferItem, TransferState } from "../../item.ts";
import { lookup } from "../../lookup.ts";
import type { Losses } from "../../losses.ts";
import { BRANDS, CARD, EXPIRY, LOGIN, MATCHES, SECTIONS, SECURE_NOTE, SHAPES, type Slot, CUSTOM, LINKS } from "./shapes.ts";

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

/** Returns the type for the category. A category without its own type becomes a login if it has credentials, else a note. */
function typeOf({ category, fields, urls }: TransferItem): number {
  const own = BY_CATEGORY.get(category);
  if (own !== undefined && own !== SECURE_NOTE) return own;
  const logs =
    urls.length > 0 || fields.some(({ purpose, type }) => purpose === "PASSWORD" || purpose === "USERNAME" || type === "OTP");
  return logs ? LOGIN : SECURE_NOTE;
}

/** Types that identify a field without a known id or label. */
const TELLING = new Set(["CREDIT_CARD_NUMBER", "CREDIT_CARD_TYPE", "EMAIL", "OTP", "PHONE", "SSHKEY"]);

/** Returns true if an import has put the field next to the slots. */
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

/** The conversion of fields without a slot to Bitwarden's export. */

const isIn = ({ section }: TransferField, { id }: { readonly id: string }) => section?.id === id;

function parsePasskey(field: TransferField): unknown {
  if (!isIn(field, SECTIONS.passkeys)) return undefined;
  try {
    const value = JSON.parse(field.value ?? "") as unknown;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Separates the fields that an import has put into sections of its own. `fields` have no slot; `type` is the type of the item. */
function writeSpecial(fields: readonly TransferField[], type: number) {
  const passkeys = type === LOGIN ? fields.filter((field) => parsePasskey(field) !== undefined) : [];
  const passwords = type === LOGIN ? [] : fields.filter((field) => isIn(field, SECTIONS.passwords) && field.value);
  const custom = fields.filter((field) => !passkeys.includes(field) && !passwords.includes(field));
  // Bitwarden has the newest first.
  const history = passwords.toReversed().map(({ value }, n) => ({ lastUsedDate: dateOf(undefined, n), password: value }));
  return { passkeys: passkeys.map(parsePasskey), passwords: history, custom };
}

const NUMBERS = new Map([...LINKS].map(([number, name]) => [name, number]));

function writeCustomField(field: TransferField, title: string, losses: Losses) {
  const { label = "", value = "", type = "STRING", purpose } = field;
  const linked = isIn(field, SECTIONS.linked)
    ? (NUMBERS.get(value) ?? (/^\d{1,9}$/.test(value) ? Number(value) : undefined))
    : undefined;
  if (linked !== undefined) return { name: label, value: null, type: CUSTOM.linked, linkedId: linked };
  if (field.section) losses.add("sections of fields", title);
  const boolean = type === "MENU" && /^(true|false)$/.test(value);
  if (!boolean && type !== "STRING" && type !== "CONCEALED") losses.add("types of fields", title);
  if (purpose) losses.add("purposes of fields", title);
  const number = boolean ? CUSTOM.boolean : isSecretType(type) ? CUSTOM.hidden : CUSTOM.text;
  return { name: label, value, type: number, linkedId: null };
}

/** Bitwarden keeps earlier passwords only; each needs a date, so without one the order is written in milliseconds. */
const dateOf = (updatedAt: number | undefined, n: number): string => new Date((updatedAt ?? 1_000_000) - n - 1).toISOString();

const passwordOf = ({ fields }: TransferState): string | undefined => fields.find(({ purpose }) => purpose === "PASSWORD")?.value;

/** The state without its password, for comparison. */
const restOf = ({ title, category, favorite = false, tags, urls, fields }: TransferState): string =>
  JSON.stringify([title, category, favorite, tags, urls, fields.filter(({ purpose }) => purpose !== "PASSWORD")]);

/** The passwords of earlier versions, the newest first. A version in which something else differs is counted. */
function writeHistory(item: TransferItem, losses: Losses) {
  const states: readonly TransferState[] = [...item.history, item];
  const earlier = item.history.toReversed().filter((state) => passwordOf(state));
  const others = states.slice(0, -1).filter((state, n) => restOf(state) !== restOf(states[n + 1]!) || !passwordOf(state));
  losses.add("earlier versions, except for their passwords", item.title, others.length);
  return earlier.map((state, n) => ({
    lastUsedDate: state.changedAt === undefined ? dateOf(item.updatedAt, n) : new Date(state.changedAt).toISOString(),
    password: passwordOf(state),
  }));
}
