import { parseTotp } from "./totp-parameters.ts";

/** The types of fields (contract 2): accepted values and stored form. The page of the console loads this file too. */

/** `YYYY-MM-DD`, a day of the Gregorian calendar (RFC 3339 full-date); or Unix seconds. */
export function isDate(value: string): boolean {
  if (/^-?\d{1,12}$/.test(value)) return true;
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day); // Date.UTC reads the years 0–99 as 1900–1999
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** `YYYYMM` or `YYYY/MM`. */
export const isMonthYear = (value: string): boolean => /^\d{4}\/?(0[1-9]|1[0-2])$/.test(value);

interface Rules {
  /** Other names of the type in requests. */
  readonly aliases?: readonly string[];
  /** Returns true for a valid value that is not empty. Absent: every value is valid. */
  readonly accepts?: (value: string) => boolean;
  /** The refusal of an invalid value. */
  readonly refusal?: string;
  /** A value gives one-time codes (totp.ts). */
  readonly oneTime?: true;
  /** The form of the value that Connect sends. Absent: the value itself. */
  readonly connect?: (value: string) => string;
}

/** Converts a date to Unix seconds, the only form that the Terraform provider reads. Connect takes noon of the day. */
const unixSeconds = (value: string): string => (/^\d{4}-/.test(value) ? String(Date.parse(`${value}T12:00:00Z`) / 1000) : value);

export const FIELD_TYPES = {
  STRING: {},
  EMAIL: {},
  CONCEALED: {},
  URL: {},
  OTP: {
    aliases: ["TOTP"],
    accepts: (value) => parseTotp(value) !== undefined,
    refusal: "is not an otpauth://totp URI or a base32 secret",
    oneTime: true,
  },
  DATE: { accepts: isDate, refusal: "is not a date (YYYY-MM-DD or Unix seconds)", connect: unixSeconds },
  MONTH_YEAR: {
    accepts: isMonthYear,
    refusal: "is not a month (YYYYMM or YYYY/MM)",
    connect: (value) => value.replace("/", ""),
  },
  MENU: {},
  SSHKEY: {},
  ADDRESS: {},
  PHONE: {},
  GENDER: {},
  REFERENCE: {},
  FILE: {},
  CREDIT_CARD_NUMBER: {},
  CREDIT_CARD_TYPE: {},
} as const satisfies Readonly<Record<string, Rules>>;

export type FieldType = keyof typeof FIELD_TYPES;

export const FIELD_TYPE_NAMES = Object.keys(FIELD_TYPES) as FieldType[];

/** Returns the rules of a type. A type stored by a newer release has no rules. */
export const typeRules = (type: FieldType): Rules => (Object.hasOwn(FIELD_TYPES, type) ? FIELD_TYPES[type] : {});

/** Each alias, with the type that it stands for. */
export const FIELD_TYPE_ALIASES = Object.fromEntries(
  FIELD_TYPE_NAMES.flatMap((type) => (typeRules(type).aliases ?? []).map((alias) => [alias, type] as const)),
);
