import type { FieldType } from "../../../src/model/field-types.ts";

/** The Items of the sample that is stored with a release. */

/** An Item with all attributes that the API accepts. */
export const FULL = {
  category: "LOGIN",
  title: 'Database "main" – Grüße 🔑',
  favorite: true,
  tags: ["production", "zwei Wörter", "a&b"],
  urls: [
    { href: "https://db.example.com/a?b=c", primary: true, label: "console" },
    { href: "", label: "" },
  ],
  sections: [
    { id: "network", label: "Network" },
    { id: "empty", label: "" },
  ],
  fields: [
    { purpose: "USERNAME", value: "ada" },
    { purpose: "PASSWORD", generate: true, recipe: { length: 40, characterSets: ["LETTERS", "DIGITS"] } },
    { purpose: "NOTES", value: "line 1\nline 2\t\u{1F511}" },
    { id: "host", label: "host", type: "STRING", value: "10.0.0.1", section: { id: "network" } },
    { id: "otp", label: "one-time password", type: "OTP", value: "JBSWY3DPEHPK3PXP" },
    {
      id: "otp8",
      label: "SHA-256",
      type: "OTP",
      value: "otpauth://totp/x:ada?secret=JBSWY3DPEHPK3PXP&algorithm=SHA256&digits=8&period=60",
    },
  ],
};

const VALUES: Readonly<Record<FieldType, string>> = {
  STRING: "text",
  EMAIL: "ada@example.com",
  CONCEALED: "correct horse battery staple",
  URL: "https://example.com/?q=1",
  OTP: "GEZDGNBVGY3TQOJQ",
  DATE: "2024-02-29",
  MONTH_YEAR: "202412",
  MENU: "choice",
  SSHKEY: "ssh-ed25519 AAAA ada",
  ADDRESS: "1 Main Street\nBerlin",
  PHONE: "+49 30 1234",
  GENDER: "female",
  REFERENCE: "h6uf6zcxc5cwfm74fsld6zvpuy",
  FILE: "a file",
  CREDIT_CARD_NUMBER: "4111111111111111",
  CREDIT_CARD_TYPE: "visa",
};

/** An Item with a field of every type. */
export const EVERY_TYPE = {
  category: "CUSTOM",
  title: "Every type of field",
  fields: Object.entries(VALUES).map(([type, value]) => ({ id: type.toLowerCase(), label: type, type, value })),
};

const CATEGORIES =
  "API_CREDENTIAL SERVER DATABASE CREDIT_CARD MEMBERSHIP PASSPORT SOFTWARE_LICENSE OUTDOOR_LICENSE SECURE_NOTE WIRELESS_ROUTER " +
  "BANK_ACCOUNT DRIVER_LICENSE IDENTITY REWARD_PROGRAM DOCUMENT EMAIL_ACCOUNT SOCIAL_SECURITY_NUMBER MEDICAL_RECORD SSH_KEY";

/** An Item of each other category. */
export const EVERY_CATEGORY = [
  { category: "PASSWORD", title: "PASSWORD", fields: [{ purpose: "PASSWORD", generate: true }] },
  ...CATEGORIES.split(" ").map((category) => ({ category, title: category, tags: ["sample"] })),
];

/** Content of a File: the same bytes at each call. */
export function contentOf(size: number, seed = 1): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: size }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state >>> 24;
  });
}
