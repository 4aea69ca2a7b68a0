import type { FieldType } from "./field-types.ts";

/**
 * Field types whose values are secrets: programs show them only on request. This is not a column of FIELD_TYPES, because the
 * first script of the console would then load the parser of key URIs.
 */
const IS_SECRET: Readonly<Record<FieldType, boolean>> = {
  STRING: false,
  EMAIL: false,
  CONCEALED: true,
  URL: false,
  OTP: true,
  DATE: false,
  MONTH_YEAR: false,
  MENU: false,
  SSHKEY: true,
  ADDRESS: false,
  PHONE: false,
  GENDER: false,
  REFERENCE: false,
  FILE: false,
  CREDIT_CARD_NUMBER: true,
  CREDIT_CARD_TYPE: false,
};

/** Returns true if the values of a type are secrets. Returns undefined for a type of a later release. */
export const isSecretType = (type: string): boolean | undefined =>
  Object.hasOwn(IS_SECRET, type) ? IS_SECRET[type as FieldType] : undefined;
