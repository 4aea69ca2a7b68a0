import type { Category } from "@item-vault/client";
import type { Draft, DraftField, FieldType, Purpose } from "../items/draft.ts";
import { newId } from "./draft.ts";

/**
 * The fields that a new Item of each category begins with, as people know them from 1Password: their labels, separated by commas, each with
 * the type of its field behind a colon unless that is STRING. Sections follow, each with its label and its fields. `username` and `password`
 * outside of sections have these purposes. Every Item has a field for notes besides.
 */
const TEMPLATES: Readonly<Record<Category, string>> = {
  LOGIN: "username, password, one-time password:OTP",
  PASSWORD: "password",
  API_CREDENTIAL: "username, credential:CONCEALED, type:MENU, valid from:DATE, expires:DATE, hostname",
  SERVER:
    "URL:URL, username, password | Admin console = admin console URL:URL, admin console username, console password:CONCEALED",
  DATABASE: "type:MENU, server, port, database, username, password, SID, alias, connection options",
  CREDIT_CARD:
    "cardholder name, type:CREDIT_CARD_TYPE, number:CREDIT_CARD_NUMBER, verification number:CONCEALED, expiry date:MONTH_YEAR, valid from:MONTH_YEAR | Contact information = issuing bank, phone:PHONE, website:URL | Limits = PIN:CONCEALED, credit limit",
  MEMBERSHIP:
    "group, website:URL, telephone:PHONE, member name, member since:MONTH_YEAR, expiry date:MONTH_YEAR, member ID, PIN:CONCEALED",
  PASSPORT:
    "type, issuing country, number, full name, gender:GENDER, nationality, issuing authority, date of birth:DATE, place of birth, issued on:DATE, expiry date:DATE",
  SOFTWARE_LICENSE:
    "version, license key:CONCEALED | Customer = licensed to, registered email:EMAIL, company | Order = publisher, website:URL, purchase date:DATE, order number",
  OUTDOOR_LICENSE: "full name, valid from:DATE, expires:DATE, approved wildlife, maximum quota, state, country",
  SECURE_NOTE: "",
  WIRELESS_ROUTER:
    "base station name, base station password:CONCEALED, server, network name, wireless security:MENU, wireless network password:CONCEALED",
  BANK_ACCOUNT:
    "bank name, name on account, type:MENU, routing number, account number, SWIFT, IBAN, PIN:CONCEALED | Branch information = phone:PHONE, address:ADDRESS",
  DRIVER_LICENSE:
    "full name, address:ADDRESS, date of birth:DATE, number, license class, restrictions, state, country, expiry date:MONTH_YEAR",
  IDENTITY:
    "first name, initial, last name, gender:GENDER, birth date:DATE, occupation, company | Address = address:ADDRESS, phone:PHONE | Internet details = username, email:EMAIL, website:URL",
  REWARD_PROGRAM: "company name, member name, member ID, PIN:CONCEALED, website:URL",
  DOCUMENT: "",
  EMAIL_ACCOUNT:
    "type:MENU, username, server, port number, password, security:MENU, auth method:MENU | SMTP = SMTP server, port number, username, password:CONCEALED",
  SOCIAL_SECURITY_NUMBER: "name, number:CONCEALED",
  MEDICAL_RECORD: "date:DATE, location, healthcare professional, patient, reason for visit, medication, dosage",
  SSH_KEY: "private key:SSHKEY, public key, fingerprint, passphrase:CONCEALED",
  CUSTOM: "",
};

/** The form of these begins with a row for a URL. */
const WITH_URL: ReadonlySet<Category> = new Set(["LOGIN", "PASSWORD"]);

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

export function templateOf(category: Category): Draft {
  const [fields, ...others] = TEMPLATES[category].split(" | ");
  const sections = others.map((text) => {
    const [label, rows] = text.split(" = ") as [string, string];
    return { id: newId(), label, rows };
  });
  return {
    title: "",
    category,
    favorite: false,
    tags: [],
    urls: WITH_URL.has(category) ? [{ href: "", label: "", primary: true }] : [],
    sections: sections.map(({ id, label }) => ({ id, label })),
    fields: [
      ...fieldsFrom([fields, "notes"].filter(Boolean).join(", "), ""),
      ...sections.flatMap(({ id, rows }) => fieldsFrom(rows, id)),
    ],
  };
}

/** Returns the template of another category with all that was typed: a value goes to the field with the same purpose or label, or keeps its own. */
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
