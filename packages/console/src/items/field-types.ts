import type { Field, Item } from "@item-vault/client";
import { type Purpose, purposeRules } from "@item-vault/model/purposes";
import { isSecretType } from "@item-vault/model/secret-types";
import { capitalized } from "../ui/texts.ts";

/** The props of a field. They include the Item, for references to the field and for copying its value. */
export type FieldProps = Readonly<{ field: Field; item: Item }>;

type FieldType = Field["type"];

/** The typed part of a field. In a draft, its purpose is `""` if it has none. */
type Typed = Readonly<{ type: FieldType; purpose?: Purpose }>;
type Named = Pick<Field, "id" | "label"> & Pick<Typed, "purpose">;

/** Returns true if the value is hidden until it is revealed. */
export const isConcealed = ({ type, purpose }: Typed): boolean => purpose !== "NOTES" && isSecretType(type) === true;

/** Returns true if the browser should offer to generate the value. */
export const isGeneratable = ({ type, purpose }: Typed): boolean => type === "CONCEALED" && purpose !== "NOTES";

/** The links of values. Only web links are permitted: a `javascript:` URL must not run in this page. */
const LINKS: Partial<Readonly<Record<FieldType, (value: string) => string | undefined>>> = {
  URL: (value) => (isWebUrl(value) ? value : undefined),
  EMAIL: (value) => `mailto:${value.split("@").map(encodeURIComponent).join("@")}`, // RFC 6068 section 2
  PHONE: (value) => (/\d/.test(value) ? `tel:${value.replaceAll(/[^\d+*#]/g, "").replaceAll("#", "%23")}` : undefined), // RFC 3966 section 3
};

export const isWebUrl = (href: string): boolean => URL.canParse(href) && /^https?:$/.test(new URL(href).protocol);

/** The address to which a value leads; undefined for most. */
export const hrefOf = ({ type, value }: Pick<Field, "type" | "value">): string | undefined => LINKS[type]?.(value);

/** The labels that the service gives to fields of a purpose (contract 2), in words for people. */
const DEFAULT_LABELS: Partial<Readonly<Record<Purpose, string>>> = { USERNAME: "username", NOTES: "notes" };

const isOfService = ({ label, purpose = "" }: Named): boolean => label !== "" && label === purposeRules(purpose).name;

/** The name of a field in sentences and messages. */
export const labelOf = (field: Named): string =>
  (isOfService(field) && DEFAULT_LABELS[field.purpose ?? ""]) || field.label || field.id;

/** The name of a field above its value: a label of the service has a capital letter, and people's own labels stay as they are. */
export const titleOfField = (field: Named): string => (isOfService(field) ? capitalized(labelOf(field)) : labelOf(field));
