import type { Field } from "@item-vault/client";
import { purposeRules } from "../../../src/model/purposes.ts";

/** How the value of each type of field is shown. */

type FieldType = Field["type"];

interface Display {
  /** The value is hidden until it is revealed. */
  readonly concealed?: true;
  /** The value has several lines, or is shown as it is written. */
  readonly block?: true;
}

const DISPLAYS: Partial<Readonly<Record<FieldType, Display>>> = {
  CONCEALED: { concealed: true },
  OTP: { concealed: true },
  SSHKEY: { concealed: true, block: true },
  CREDIT_CARD_NUMBER: { concealed: true },
};

export const displayOf = ({ type, purpose }: Pick<Field, "type" | "purpose">): Display =>
  purpose === "NOTES" ? { block: true } : (DISPLAYS[type] ?? {});

/** The labels that the service gives to fields of a purpose (contract 2), as people say them. */
const DEFAULT_LABELS: Partial<Readonly<Record<Field["purpose"], string>>> = { USERNAME: "user name", NOTES: "notes" };

/** The name of a field on the screen and in messages. */
export const labelOf = ({ label, id, purpose }: Pick<Field, "label" | "id" | "purpose">): string =>
  label !== "" && label === purposeRules(purpose).name ? (DEFAULT_LABELS[purpose] ?? label) : label || id;
