import type { Category, Field, Item, Section } from "@item-vault/client";
import type { Purpose } from "@item-vault/model/purposes";

/** A draft: the attributes of an Item that people can write. The form edits it, and two states of an Item are compared by it. */

export type { Purpose };
export type FieldType = Field["type"];

export interface DraftField {
  readonly id: string;
  /** The id of a section of the draft; `""` without one. */
  readonly section: string;
  readonly type: FieldType;
  /** `""` without one. */
  readonly purpose: Purpose;
  readonly label: string;
  readonly value: string;
}

export interface DraftUrl {
  readonly href: string;
  /** `""` without one. */
  readonly label: string;
  readonly primary: boolean;
}

export interface Draft {
  readonly title: string;
  readonly category: Category;
  readonly favorite: boolean;
  readonly tags: readonly string[];
  readonly urls: readonly DraftUrl[];
  readonly sections: readonly Section[];
  readonly fields: readonly DraftField[];
}

/** The draft of an Item as it is stored. */
export const draftOf = ({ title, category, favorite, tags, urls, sections, fields }: Item): Draft => ({
  title,
  category,
  favorite,
  tags,
  urls: urls.map(({ href, label = "", primary = false }) => ({ href, label, primary })),
  sections: sections.map(({ id, label }) => ({ id, label })),
  fields: fields.map(({ id, section, type, purpose, label, value }) => ({
    id,
    section: section?.id ?? "",
    type,
    purpose: purpose ?? "",
    label,
    value,
  })),
});

/** Returns true if two drafts, or the same parts of two, are equal. The functions here make their attributes in one order. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
