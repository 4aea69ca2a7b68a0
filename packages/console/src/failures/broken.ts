import type {
  BrokenDeletedItem,
  BrokenItem,
  BrokenVersion,
  DeletedItemSummary,
  File,
  Item,
  ItemSummary,
  Version,
} from "@item-vault/client";

/** Broken entries of lists (contract 11.10), in the shape of others with a telling name. Opening one shows the failure. */

const nameOf = (id: string): string => `Damaged item ${id.slice(0, 8)}`;

/** Returns the broken Files of an Item (contract 9.14). */
export const damagedFiles = ({ brokenFiles = [] }: Pick<Item, "brokenFiles">): Pick<File, "id" | "name">[] =>
  brokenFiles.map((id) => ({ id, name: `Damaged file ${id.slice(0, 8)}` }));

const UNKNOWN = "";

export const asSummary = (item: ItemSummary | BrokenItem): ItemSummary => ("broken" in item ? summaryOf(item) : item);

const summaryOf = ({ id, vault, version = 0 }: BrokenItem): ItemSummary => ({
  id,
  vault,
  version,
  title: nameOf(id),
  category: "CUSTOM",
  urls: [],
  favorite: false,
  tags: [],
  createdAt: UNKNOWN,
  updatedAt: UNKNOWN,
  lastEditedBy: "",
});

export const asDeleted = (item: DeletedItemSummary | BrokenDeletedItem): DeletedItemSummary =>
  "broken" in item ? { ...summaryOf(item), state: "DELETED", deletedAt: item.deletedAt, deletedBy: item.deletedBy } : item;

export type ListedVersion = Version & Readonly<{ damaged?: true }>;

export const asVersion = (version: Version | BrokenVersion): ListedVersion =>
  "broken" in version
    ? {
        version: version.version,
        current: version.current,
        title: "Damaged version",
        updatedAt: UNKNOWN,
        lastEditedBy: "",
        damaged: true,
      }
    : version;
