import type { JsonValue } from "../../json.ts";
import { dateOfSeconds, secondsOfDate } from "../../values.ts";

/** Names of the same things in 1PUX and the API (support.1password.com/1pux-format). */

/** `categoryUuid`, and the category. */
export const CATEGORIES: Readonly<Record<string, string>> = {
  "001": "LOGIN",
  "002": "CREDIT_CARD",
  "003": "SECURE_NOTE",
  "004": "IDENTITY",
  "005": "PASSWORD",
  "006": "DOCUMENT",
  "100": "SOFTWARE_LICENSE",
  "101": "BANK_ACCOUNT",
  "102": "DATABASE",
  "103": "DRIVER_LICENSE",
  "104": "OUTDOOR_LICENSE",
  "105": "MEMBERSHIP",
  "106": "PASSPORT",
  "107": "REWARD_PROGRAM",
  "108": "SOCIAL_SECURITY_NUMBER",
  "109": "WIRELESS_ROUTER",
  "110": "SERVER",
  "111": "EMAIL_ACCOUNT",
  "112": "API_CREDENTIAL",
  "113": "MEDICAL_RECORD",
  "114": "SSH_KEY",
};

export const CATEGORY_IDS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(CATEGORIES).map(([id, category]) => [category, id]),
);

/** `fieldType` of a field of a web form, and the type. */
export const FORM_TYPES: Readonly<Record<string, string>> = { P: "CONCEALED", E: "EMAIL", U: "URL", TEL: "PHONE" };

interface Kind {
  readonly type: string;
  /** The value of the field. */
  parse(value: JsonValue): string;
  /** Converts back a value that the type accepts. */
  present(value: string): unknown;
}

const plain = (type: string): Kind => ({ type, parse: (value) => value.scalar() ?? "", present: (value) => value });

const ADDRESS = ["street", "city", "state", "zip", "country"];

/** The attribute of a field's `value`, and the type. `file` and `sshKey` have code of their own. */
export const KINDS: Readonly<Record<string, Kind>> = {
  string: plain("STRING"),
  concealed: plain("CONCEALED"),
  url: plain("URL"),
  totp: plain("OTP"),
  phone: plain("PHONE"),
  gender: plain("GENDER"),
  menu: plain("MENU"),
  reference: plain("REFERENCE"),
  creditCardNumber: plain("CREDIT_CARD_NUMBER"),
  creditCardType: plain("CREDIT_CARD_TYPE"),
  email: {
    type: "EMAIL",
    parse: (value) => (typeof value.value === "string" ? value.value : (value.get("email_address").text() ?? "")),
    present: (value) => ({ email_address: value, provider: null }),
  },
  date: {
    type: "DATE",
    parse: (value) => (value.absent ? "" : dateOfSeconds(value.number()!)),
    present: (value) => (value === "" ? null : secondsOfDate(value)),
  },
  monthYear: {
    type: "MONTH_YEAR",
    parse: (value) => (value.number() ? String(value.number()).padStart(6, "0") : ""),
    present: (value) => (value === "" ? null : Number(value.replace("/", ""))),
  },
  address: {
    type: "ADDRESS",
    parse: (value) => ADDRESS.flatMap((part) => value.get(part).text() || []).join(", "),
    present: (value) => ({ street: value, city: "", country: "", zip: "", state: "" }),
  },
  sshKey: {
    type: "SSHKEY",
    parse: (value) => value.get("privateKey").text() ?? "",
    present: (value) => ({ privateKey: value }),
  },
};

/** The attribute of `value` for a type. */
export const KIND_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(KINDS).map(([name, { type }]) => [type, name]),
);

/** Further parts of a key in 1Password, as ids of fields that Connect gives them. */
export const KEY_PARTS: Readonly<Record<string, { readonly id: string; readonly label: string }>> = {
  publicKey: { id: "public_key", label: "public key" },
  fingerprint: { id: "fingerprint", label: "fingerprint" },
  keyType: { id: "key_type", label: "key type" },
};
