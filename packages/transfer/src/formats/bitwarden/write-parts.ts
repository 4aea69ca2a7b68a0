import { isSecretType } from "@item-vault/model/secret-types";
import type { TransferField, TransferItem, TransferState } from "../../item.ts";
import type { Losses } from "../../losses.ts";
import { CUSTOM, LINKS, LOGIN, SECTIONS } from "./shapes.ts";

/** What a field without a slot becomes in Bitwarden's export. */

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

/** Separates what an import has put into sections of its own. In: the fields without a slot, and the type of the item. */
export function writeSpecial(fields: readonly TransferField[], type: number) {
  const passkeys = type === LOGIN ? fields.filter((field) => parsePasskey(field) !== undefined) : [];
  const passwords = type === LOGIN ? [] : fields.filter((field) => isIn(field, SECTIONS.passwords) && field.value);
  const custom = fields.filter((field) => !passkeys.includes(field) && !passwords.includes(field));
  // Bitwarden has the newest first.
  const history = passwords.toReversed().map(({ value }, n) => ({ lastUsedDate: dateOf(undefined, n), password: value }));
  return { passkeys: passkeys.map(parsePasskey), passwords: history, custom };
}

const NUMBERS = new Map([...LINKS].map(([number, name]) => [name, number]));

export function writeCustomField(field: TransferField, title: string, losses: Losses) {
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
export function writeHistory(item: TransferItem, losses: Losses) {
  const states: readonly TransferState[] = [...item.history, item];
  const earlier = item.history.toReversed().filter((state) => passwordOf(state));
  const others = states.slice(0, -1).filter((state, n) => restOf(state) !== restOf(states[n + 1]!) || !passwordOf(state));
  losses.add("earlier versions, except for their passwords", item.title, others.length);
  return earlier.map((state, n) => ({
    lastUsedDate: state.changedAt === undefined ? dateOf(item.updatedAt, n) : new Date(state.changedAt).toISOString(),
    password: passwordOf(state),
  }));
}
