import type { Category } from "@item-vault/client";
import type { Draft, DraftField, FieldType, Purpose } from "../items/draft.ts";
import { newId } from "./draft.ts";

/** The drafts of new Items. */

/** The purposes of first fields, by label. */
const PURPOSES: Readonly<Record<string, readonly [Purpose, FieldType]>> = {
  username: ["USERNAME", "STRING"],
  password: ["PASSWORD", "CONCEALED"],
  notes: ["NOTES", "STRING"],
};

/** Returns fields from a row of the table of templates. `section` is the id of their section. */
const fieldsFrom = (text: string, section: string): DraftField[] =>
  text.split(", ").map((row) => {
    const [label, type = "STRING"] = row.split(":") as [string, FieldType?];
    const [purpose, implied] = (section === "" ? PURPOSES[label] : undefined) ?? (["", type] as const);
    return { id: newId([], purpose), section, type: implied, purpose, label, value: "" };
  });

/** The draft that a new Item of a category begins with. */
export function templateOf(category: Category): Draft {
  const { fields, sections = {}, url } = TEMPLATES[category];
  const labels = Object.entries(sections).map(([label, rows]) => ({ id: newId(), label, rows }));
  return {
    title: "",
    category,
    favorite: false,
    tags: [],
    urls: url ? [{ href: "", label: "", primary: true }] : [],
    sections: labels.map(({ id, label }) => ({ id, label })),
    fields: [
      ...fieldsFrom([fields, "notes"].filter(Boolean).join(", "), ""),
      ...labels.flatMap(({ id, rows }) => fieldsFrom(rows, id)),
    ],
  };
}

/**
 * A draft of another category: its template with all that was typed. A value goes to the field with the same purpose or label;
 * without one, its field is added.
 */
export function withCategory(draft: Draft, category: Category): Draft {
  const template = templateOf(category);
  const typed = draft.fields.filter(({ value }) => value !== "");
  const taken = new Set<DraftField>();
  const filled = template.fields.map((field) => {
    const found = typed.find((each) => !taken.has(each) && isAlike(field, each));
    if (found) taken.add(found);
    return found ? { ...field, value: found.value } : field;
  });
  const left = typed.filter((field) => !taken.has(field)).map(withoutItsSection);
  const urls = draft.urls.filter(({ href }) => href !== "");
  const { title, favorite, tags } = draft;
  return { ...template, title, favorite, tags, urls: urls.length > 0 ? urls : template.urls, fields: [...filled, ...left] };
}

const withoutItsSection = (field: DraftField): DraftField => ({ ...field, section: "" });

const isAlike = (a: DraftField, b: DraftField): boolean =>
  a.purpose === b.purpose && (a.purpose !== "" || (a.label === b.label && a.type === b.type));

/** The fields that a new Item of each category begins with, as people know them from 1Password. */

interface Template {
  /**
   * The labels of the fields, separated by commas, each with the type of its field behind a colon unless that is STRING. `username` and
   * `password` here, and not in a section, have these purposes. Every Item has a field for notes besides.
   */
  readonly fields: string;
  /** The fields of further sections, by the labels of these. */
  readonly sections?: Readonly<Record<string, string>>;
  /** The form begins with a row for a URL. */
  readonly url?: true;
}

const TEMPLATES: Readonly<Record<Category, Template>> = {
  LOGIN: { fields: "username, password, one-time password:OTP", url: true },
  PASSWORD: { fields: "password", url: true },
  API_CREDENTIAL: { fields: "username, credential:CONCEALED, type:MENU, valid from:DATE, expires:DATE, hostname" },
  SERVER: {
    fields: "URL:URL, username, password",
    sections: { "Admin console": "admin console URL:URL, admin console username, console password:CONCEALED" },
  },
  DATABASE: { fields: "type:MENU, server, port, database, username, password, SID, alias, connection options" },
  CREDIT_CARD: {
    fields:
      "cardholder name, type:CREDIT_CARD_TYPE, number:CREDIT_CARD_NUMBER, verification number:CONCEALED, expiry date:MONTH_YEAR, valid from:MONTH_YEAR",
    sections: { "Contact information": "issuing bank, phone:PHONE, website:URL", Limits: "PIN:CONCEALED, credit limit" },
  },
  MEMBERSHIP: {
    fields:
      "group, website:URL, telephone:PHONE, member name, member since:MONTH_YEAR, expiry date:MONTH_YEAR, member ID, PIN:CONCEALED",
  },
  PASSPORT: {
    fields:
      "type, issuing country, number, full name, gender:GENDER, nationality, issuing authority, date of birth:DATE, place of birth, issued on:DATE, expiry date:DATE",
  },
  SOFTWARE_LICENSE: {
    fields: "version, license key:CONCEALED",
    sections: {
      Customer: "licensed to, registered email:EMAIL, company",
      Order: "publisher, website:URL, purchase date:DATE, order number",
    },
  },
  OUTDOOR_LICENSE: {
    fields: "full name, valid from:DATE, expires:DATE, approved wildlife, maximum quota, state, country",
  },
  SECURE_NOTE: { fields: "" },
  WIRELESS_ROUTER: {
    fields:
      "base station name, base station password:CONCEALED, server, network name, wireless security:MENU, wireless network password:CONCEALED",
  },
  BANK_ACCOUNT: {
    fields: "bank name, name on account, type:MENU, routing number, account number, SWIFT, IBAN, PIN:CONCEALED",
    sections: { "Branch information": "phone:PHONE, address:ADDRESS" },
  },
  DRIVER_LICENSE: {
    fields:
      "full name, address:ADDRESS, date of birth:DATE, number, license class, restrictions, state, country, expiry date:MONTH_YEAR",
  },
  IDENTITY: {
    fields: "first name, initial, last name, gender:GENDER, birth date:DATE, occupation, company",
    sections: {
      Address: "address:ADDRESS, phone:PHONE",
      "Internet details": "username, email:EMAIL, website:URL",
    },
  },
  REWARD_PROGRAM: { fields: "company name, member name, member ID, PIN:CONCEALED, website:URL" },
  DOCUMENT: { fields: "" },
  EMAIL_ACCOUNT: {
    fields: "type:MENU, username, server, port number, password, security:MENU, auth method:MENU",
    sections: { SMTP: "SMTP server, port number, username, password:CONCEALED" },
  },
  SOCIAL_SECURITY_NUMBER: { fields: "name, number:CONCEALED" },
  MEDICAL_RECORD: {
    fields: "date:DATE, location, healthcare professional, patient, reason for visit, medication, dosage",
  },
  SSH_KEY: { fields: "private key:SSHKEY, public key, fingerprint, passphrase:CONCEALED" },
  CUSTOM: { fields: "" },
};
