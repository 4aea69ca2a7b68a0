import { type Dialect, writeId } from "../model/dialect.ts";
import type { Deletion, Item, Summary } from "../model/item.ts";
import type { ListedVersion } from "../store/version-list.ts";
import { type ContentSource, presentItem, presentSummary, presentTime } from "./present.ts";

/** Versions and deleted Items on the wire (contract 14). */

/** An entry of the list of versions. */
export const presentVersion = ({ summary, current }: ListedVersion, dialect: Dialect): object => ({
  version: summary.version,
  updatedAt: presentTime(summary.updatedAt),
  lastEditedBy: writeId(summary.lastEditedBy, dialect),
  title: summary.title,
  current,
});

/** Where the Files of a version are downloaded. */
export const sourceOfVersion = (version: number): ContentSource => ({ list: "items", query: `?version=${version}` });

const presentDeletion = ({ deletedAt, deletedBy }: Deletion, dialect: Dialect) => ({
  state: "DELETED",
  deletedAt: presentTime(deletedAt),
  deletedBy: writeId(deletedBy, dialect),
});

export const presentDeletedSummary = (item: Summary & Deletion, dialect: Dialect): object => ({
  ...presentSummary(item, dialect),
  ...presentDeletion(item, dialect),
});

/** A full deleted Item. In: Unix milliseconds, for the codes of OTP fields. */
export const presentDeletedItem = (item: Item & Deletion, dialect: Dialect, now: number): object => ({
  ...presentItem(item, dialect, now, { list: "deleted-items", query: "" }),
  ...presentDeletion(item, dialect),
});
