import type { Field, Item } from "@item-vault/client";
import { type Purpose, purposeRules } from "@item-vault/model/purposes";
import { isSecretType } from "@item-vault/model/secret-types";

/** How the value of each type of field is shown. */

/** What shows a field gets the Item too, for references to the field and for copying its value. */
export interface FieldProps {
  readonly field: Field;
  readonly item: Item;
}

type FieldType = Field["type"];

/** What is needed of a field as it was read, or of one of a draft, whose purpose is `""` when it has none. */
interface Typed {
  readonly type: FieldType;
  readonly purpose?: Purpose;
}
type Named = Pick<Field, "id" | "label"> & Pick<Typed, "purpose">;

interface Display {
  /** The value is hidden until it is revealed. */
  readonly concealed?: true;
}

export const displayOf = ({ type, purpose }: Typed): Display =>
  purpose !== "NOTES" && isSecretType(type) ? { concealed: true } : {};

/** Whether people want the browser to make the value up. */
export const isGeneratable = ({ type, purpose }: Typed): boolean => type === "CONCEALED" && purpose !== "NOTES";

/** The links of values that have one. Only those of the web: a `javascript:` URL must not run in this page. */
const LINKS: Partial<Readonly<Record<FieldType, (value: string) => string | undefined>>> = {
  URL: (value) => (isWebUrl(value) ? value : undefined),
  EMAIL: (value) => `mailto:${value.split("@").map(encodeURIComponent).join("@")}`, // RFC 6068 section 2
  PHONE: (value) => (/\d/.test(value) ? `tel:${value.replaceAll(/[^\d+*#]/g, "").replaceAll("#", "%23")}` : undefined), // RFC 3966 section 3
};

export const isWebUrl = (href: string): boolean => URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);

/** The address to which a value leads; undefined for most. */
export const hrefOf = ({ type, value }: Pick<Field, "type" | "value">): string | undefined => LINKS[type]?.(value);

/** The labels that the service gives to fields of a purpose (contract 2), as people say them. */
const DEFAULT_LABELS: Partial<Readonly<Record<Purpose, string>>> = { USERNAME: "username", NOTES: "notes" };

/** The name of a field on the screen and in messages. */
export const labelOf = ({ label, id, purpose = "" }: Named): string =>
  label !== "" && label === purposeRules(purpose).name ? (DEFAULT_LABELS[purpose] ?? label) : label || id;
