import type { Category } from "@item-vault/client";

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

export const TEMPLATES: Readonly<Record<Category, Template>> = {
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
