import type { FieldType } from "./field-types.ts";
import type { File } from "./file.ts";
import { COUNT_MAX } from "./limits.ts";
import type { Purpose } from "./purposes.ts";

/** An Item (contract 2), in the shape that the store seals and http/present/items.ts writes. */

export const CATEGORIES = [
  "LOGIN",
  "PASSWORD",
  "API_CREDENTIAL",
  "SERVER",
  "DATABASE",
  "CREDIT_CARD",
  "MEMBERSHIP",
  "PASSPORT",
  "SOFTWARE_LICENSE",
  "OUTDOOR_LICENSE",
  "SECURE_NOTE",
  "WIRELESS_ROUTER",
  "BANK_ACCOUNT",
  "DRIVER_LICENSE",
  "IDENTITY",
  "REWARD_PROGRAM",
  "DOCUMENT",
  "EMAIL_ACCOUNT",
  "SOCIAL_SECURITY_NUMBER",
  "MEDICAL_RECORD",
  "SSH_KEY",
  "CUSTOM",
] as const;
export type Category = (typeof CATEGORIES)[number];

export interface Url {
  readonly href: string;
  readonly label?: string | undefined;
  readonly primary?: boolean | undefined;
}

export interface Section {
  readonly id: string;
  readonly label: string;
}

export interface Field {
  readonly id: string;
  /** The id of a section of the same Item. */
  readonly section?: string | undefined;
  readonly type: FieldType;
  readonly purpose: Purpose;
  readonly label: string;
  readonly value: string;
  /** Bits; of a field with purpose PASSWORD that has a value. */
  readonly entropy?: number | undefined;
}

/** The attributes of an Item in lists. They hold no secret, and the store seals them apart from the details. */
export interface Summary {
  readonly id: string;
  readonly vault: string;
  readonly version: number;
  readonly title: string;
  readonly category: Category;
  readonly tags: readonly string[];
  readonly urls: readonly Url[];
  readonly favorite: boolean;
  readonly state?: "ARCHIVED" | "DELETED" | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The id of the token that wrote last. */
  readonly lastEditedBy: string;
  /** The value of the USERNAME field; absent when that is empty. */
  readonly username?: string | undefined;
}

/** The attributes of an answer with an Item that come from its vault (contract 2.1). */
export interface OfVault {
  /** The name of the vault; undefined if it cannot be decrypted. */
  readonly vaultName: string | undefined;
}

/** The list entry of a row that cannot be decrypted (contract 11.10): its plaintext columns, without sealed values. */
export interface BrokenItem {
  readonly id: string;
  readonly vault: string;
  readonly version: number;
  readonly broken: "integrity";
}

/** The Files of an Item. A row that cannot be decrypted does not affect the other rows. */
export interface FilesOfItem {
  readonly files: readonly File[];
  /** The ids of the Files whose rows cannot be decrypted; `files` lacks them (contract 9.14). Absent if there are none. */
  readonly brokenFiles?: readonly string[] | undefined;
}

/** A full Item has its user name among its fields only. */
export interface Item extends Omit<Summary, "username">, FilesOfItem {
  /** 16 hexadecimal digits, drawn for each version: the first 8 bytes of the nonce of the sealed details (docs/design/reads.md). */
  readonly nonce: string;
  readonly sections: readonly Section[];
  readonly fields: readonly Field[];
}

/** The time of an Item's deletion, and its token. */
export interface Deletion {
  /** Unix milliseconds. */
  readonly deletedAt: number;
  readonly deletedBy: string;
}

/** Returns the entity tag of an Item, without quotes (contract 10.1). */
export const entityTag = ({ version, nonce }: Pick<Item, "version" | "nonce">): string => `${version}-${nonce}`;

/** Returns true if a column holds a valid version. */
export const isVersion = (version: number): boolean => Number.isInteger(version) && version > 0 && version <= COUNT_MAX;

/** An `If-Match` or `If-None-Match` header (RFC 9110 section 13.1): any version, or a list of entity tags. */
export type Precondition = "any" | readonly string[];

/** Returns true if an Item matches the header. */
export const fulfils = (item: Item, header: Precondition): boolean => header === "any" || header.includes(entityTag(item));

/** Returns true if `If-None-Match` has the tag, given in quotes, or `*` (RFC 9110 section 13.1.2). */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === "*" || header.includes(tag));
