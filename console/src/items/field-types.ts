import type { Field } from "@item-vault/client";

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

/** The name of a field in messages and labels. */
export const labelOf = ({ label, id }: Pick<Field, "label" | "id">): string => label || id;
