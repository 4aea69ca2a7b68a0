import { typeRules } from "@item-vault/model/field-types";
import type { DraftField, FieldType, Purpose } from "../items/draft.ts";

/** The input of each type of field. The service checks every value; patterns only show refusals earlier. */

interface ValueInput {
  readonly label: string;
  readonly input?: object;
  readonly block?: true;
  /** The refusal of an invalid value (src/model/field-types.ts). */
  readonly refusal?: string;
}

export const TYPES: Readonly<Record<FieldType, ValueInput>> = {
  STRING: { label: "Text" },
  CONCEALED: { label: "Password" },
  OTP: {
    label: "One-time password",
    input: { placeholder: "otpauth:// address or setup key" },
    // No pattern: the time of such a pattern grows with the square of the length of some values, which freezes the page.
    refusal: "Enter an otpauth:// address or a setup key (letters and the digits 2 to 7).",
  },
  EMAIL: { label: "Email", input: { inputMode: "email" } },
  URL: { label: "URL", input: { inputMode: "url" } },
  PHONE: { label: "Phone", input: { inputMode: "tel" } },
  ADDRESS: { label: "Address", block: true },
  DATE: { label: "Date", input: { type: "date", max: "9999-12-31" } },
  MONTH_YEAR: {
    label: "Month",
    input: { pattern: "\\d{4}/?(0[1-9]|1[0-2])", placeholder: "YYYY/MM", title: "A month as YYYY/MM, for example 2027/04." },
  },
  MENU: { label: "Choice" },
  GENDER: { label: "Gender" },
  SSHKEY: { label: "SSH key", block: true },
  CREDIT_CARD_NUMBER: { label: "Card number", input: { inputMode: "numeric" } },
  CREDIT_CARD_TYPE: { label: "Card type" },
  REFERENCE: { label: "Reference" },
  FILE: { label: "File" },
};

export const PURPOSES: Readonly<Record<Purpose, string>> = {
  "": "",
  USERNAME: "Username",
  PASSWORD: "Password",
  NOTES: "Notes",
};

/** A date may also be Unix seconds (contract 2.10), which the browser's input for dates cannot show. */
const AS_TEXT: ValueInput = {
  label: "Date",
  input: { pattern: "-?\\d{1,12}|\\d{4}-\\d{2}-\\d{2}", title: "A date as YYYY-MM-DD, or Unix seconds." },
};

/** A type of a newer release is typed as a text. */
export function inputOf({ type, value, purpose }: DraftField): ValueInput {
  if (purpose === "NOTES" || /[\r\n]/.test(value)) return { label: "", block: true };
  if (type === "DATE" && /^-?\d+$/.test(value)) return AS_TEXT;
  return TYPES[type] ?? TYPES.STRING;
}

/** Why the service would refuse the value of a field, in words; empty if it would not. */
export function refusalOf(field: DraftField): string {
  const { accepts } = typeRules(field.type);
  const { refusal } = inputOf(field);
  return refusal === undefined || field.value === "" || accepts?.(field.value) !== false ? "" : refusal;
}
