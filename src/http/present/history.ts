import type { Presented, Schemas } from "../../api/answer.ts";
import { type Dialect, writeId } from "../../model/dialect.ts";
import type { BrokenItem, Deletion, Item, OfVault, Summary } from "../../model/item.ts";
import type { ListedVersion } from "../../store/items/versions.ts";
import { type ContentSource, presentBroken, presentItem, presentSummary } from "./items.ts";
import { presentTime } from "./time.ts";

/** Versions and deleted Items on the wire (contract 14). */

/** Presents an entry of the list of versions. */
export function presentVersion(
  { summary, current }: ListedVersion,
  dialect: Dialect,
): Presented<Schemas.Version | Schemas.BrokenVersion> {
  const { version } = summary;
  if ("broken" in summary) return { version, current, broken: summary.broken };
  const { updatedAt, lastEditedBy, title } = summary;
  return { version, updatedAt: presentTime(updatedAt), lastEditedBy: writeId(lastEditedBy, dialect), title, current };
}

/** Returns the source for downloads of a version's Files. */
export const sourceOfVersion = (version: number): ContentSource => ({ list: "items", query: `?version=${version}` });

const presentDeletion = ({ deletedAt, deletedBy }: Deletion, dialect: Dialect) => ({
  state: "DELETED" as const,
  deletedAt: presentTime(deletedAt),
  deletedBy: writeId(deletedBy, dialect),
});

export function presentDeletedSummary(
  item: (Summary | BrokenItem) & OfVault & Deletion,
  dialect: Dialect,
): Presented<Schemas.DeletedItemSummary | Schemas.BrokenDeletedItem> {
  const shown = "broken" in item ? presentBroken(item, dialect) : presentSummary(item, dialect);
  return { ...shown, ...presentDeletion(item, dialect) };
}

/** Presents a full deleted Item. `now` is in Unix milliseconds, for the codes of OTP fields. */
export const presentDeletedItem = (
  item: Item & OfVault & Deletion,
  dialect: Dialect,
  now: number,
): Presented<Schemas.DeletedItem> => ({
  ...presentItem(item, dialect, now, { list: "deleted-items", query: "" }),
  ...presentDeletion(item, dialect),
});
