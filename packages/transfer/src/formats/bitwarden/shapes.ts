import type { Purpose } from "@item-vault/model/purposes";

/** The mapping of Bitwarden's items to fields: tables for both the import and the export. */

export interface Slot {
  /** The attribute of the part, and the id of the field. */
  readonly key: string;
  readonly label: string;
  /** Further ids and labels of the field: those of 1Password, which Connect's clients write. */
  readonly also?: readonly string[];
  readonly type?: string;
  readonly purpose?: Purpose;
}

export interface ItemShape {
  /** The attribute of the item that holds its part. */
  readonly part: string;
  readonly category: string;
  readonly slots: readonly Slot[];
}

const texts = (entries: Readonly<Record<string, string>>): Slot[] =>
  Object.entries(entries).map(([key, label]) => ({ key, label }));

/** By Bitwarden's number of the type. */
export const SHAPES: Readonly<Record<number, ItemShape>> = {
  1: {
    part: "login",
    category: "LOGIN",
    slots: [
      { key: "username", label: "username", purpose: "USERNAME" },
      { key: "password", label: "password", purpose: "PASSWORD", type: "CONCEALED" },
      { key: "totp", label: "one-time password", type: "OTP" },
    ],
  },
  2: { part: "secureNote", category: "SECURE_NOTE", slots: [] },
  3: {
    part: "card",
    category: "CREDIT_CARD",
    slots: [
      { key: "cardholderName", label: "cardholder name", also: ["cardholder"] },
      { key: "brand", label: "type", type: "CREDIT_CARD_TYPE" },
      { key: "number", label: "number", type: "CREDIT_CARD_NUMBER", also: ["ccnum"] },
      { key: "code", label: "verification number", type: "CONCEALED", also: ["cvv"] },
      { key: "expMonth", label: "expiry month" },
      { key: "expYear", label: "expiry year" },
    ],
  },
  4: {
    part: "identity",
    category: "IDENTITY",
    slots: [
      { key: "title", label: "title" },
      { key: "firstName", label: "first name", also: ["firstname"] },
      { key: "middleName", label: "middle name", also: ["initial"] },
      { key: "lastName", label: "last name", also: ["lastname"] },
      ...texts({ company: "company", username: "username" }),
      { key: "email", label: "email", type: "EMAIL" },
      { key: "phone", label: "phone", type: "PHONE", also: ["defphone", "default phone"] },
      ...texts({ address1: "address", address2: "address 2", address3: "address 3", city: "city" }),
      ...texts({ state: "state", postalCode: "postal code", country: "country" }),
      { key: "ssn", label: "social security number", type: "CONCEALED" },
      { key: "passportNumber", label: "passport number", type: "CONCEALED" },
      { key: "licenseNumber", label: "license number", type: "CONCEALED" },
    ],
  },
  5: {
    part: "sshKey",
    category: "SSH_KEY",
    slots: [
      { key: "privateKey", label: "private key", type: "SSHKEY", also: ["private_key"] },
      { key: "publicKey", label: "public key", also: ["public_key"] },
      { key: "keyFingerprint", label: "fingerprint" },
    ],
  },
};

export const LOGIN = 1;
export const SECURE_NOTE = 2;
export const CARD = 3;

/** The field that stands for expMonth and expYear together. */
export const EXPIRY: Slot = { key: "expiry", label: "expiry date", type: "MONTH_YEAR" };

/** Bitwarden's names of card brands, by 1Password's. */
export const BRANDS: Readonly<Record<string, string>> = {
  visa: "Visa",
  mc: "Mastercard",
  mastercard: "Mastercard",
  amex: "Amex",
  discover: "Discover",
  diners: "Diners Club",
  jcb: "JCB",
  maestro: "Maestro",
  unionpay: "UnionPay",
};

/** Sections for parts of Bitwarden's items that an Item does not have. The export writes their fields back. */
export const SECTIONS = {
  passkeys: { id: "passkeys", label: "Passkeys" },
  linked: { id: "linked-fields", label: "Linked fields" },
  passwords: { id: "password-history", label: "Password history" },
} as const;

/** The label of a URL for each way to match it, by Bitwarden's number. */
export const MATCHES = ["base domain", "host", "starts with", "exact", "regular expression", "never"].map(
  (name) => `match: ${name}`,
);

/** The targets of linked fields, by Bitwarden's numbers: the first number of a type of item, and the names in order. */
const LINKED: Readonly<Record<number, string>> = {
  100: "username password",
  300: "cardholderName expMonth expYear code brand number",
  400:
    "title middleName address1 address2 address3 city state postalCode country company email phone ssn username " +
    "passportNumber licenseNumber firstName lastName fullName",
};

export const LINKS: ReadonlyMap<number, string> = new Map(
  Object.entries(LINKED).flatMap(([first, names]) => names.split(" ").map((name, n) => [Number(first) + n, name] as const)),
);

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Types of custom fields. */
export const CUSTOM = { text: 0, hidden: 1, boolean: 2, linked: 3 } as const;
