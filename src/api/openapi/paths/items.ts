import { json, listOfEither, required } from "../content.ts";
import { item, newItem, patch, replacement, summary } from "../examples.ts";
import { type Answer, type Descriptions } from "../operation.ts";

/** Items (contract 2, 6, 10 and 11). */

const tag = "Items";

/** Returns the answer of a write: the Item after it. */
export const written = (description: string): Answer => ({
  description,
  content: json("Item", item),
  headers: ["ETagIfKnown", "Broken"],
});
const writtenByBody = (description: string): Answer => ({
  ...written(description),
  headers: ["ETagIfKnown", "Broken", "Ignored"],
});
/** A write to an Item that answers with it. */
export const WRITES_ITEM = { coordinated: true, grows: true, errors: ["overtaken"] } as const;
export const UNCHANGED: Answer = { description: "The client has this version (contract 10.4).", headers: ["ETag", "Broken"] };

export const itemDescriptions = {
  listItems: {
    tag,
    summary: "List the Items of a vault",
    description:
      "In the order of their ids, without their fields. Without `limit` the whole list, a long one as a stream (contract 11). Filters: " +
      "contract 5. A token without the permission gets the 404 of a vault that does not exist (contract 4.7).",
    parameters: ["ItemFilter", "Archived", "Include", "Limit", "Cursor", "IfNoneMatch"],
    answers: {
      200: {
        description: "The Items.",
        content: listOfEither(["ItemSummary", "BrokenItem"], [summary]),
        headers: ["Link", "Broken", "ETagIfKnown"],
      },
      304: { description: "The client has this list (contract 11.11).", headers: ["ETag"] },
    },
    errors: ["filter", "invalid"],
  },
  createItem: {
    tag,
    summary: "Create an Item",
    description: "Returns the Item with its id and what was generated (contract 2.12, 2.13, 7).",
    body: required(json("NewItem", newItem)),
    ...WRITES_ITEM,
    answers: { 200: writtenByBody("The new Item.") },
    errors: ["category", "missing_field", "overtaken", "item_exists"],
  },
  getItem: {
    tag,
    summary: "Read an Item",
    description: "Returns the Item with its fields and the current codes of its OTP fields (contract 2.2, 2.11).",
    parameters: ["IfNoneMatch"],
    answers: { 200: { description: "The Item.", content: json("Item", item), headers: ["ETag", "Broken"] }, 304: UNCHANGED },
  },
  replaceItem: {
    tag,
    summary: "Replace an Item",
    description:
      "Replaces everything except the Files (contract 2.20). In the dialect `connect`, `version` is the one before (contract 3.5).",
    body: required(json("ItemReplacement", replacement)),
    ...WRITES_ITEM,
    answers: { 200: writtenByBody("The Item.") },
    errors: ["category", "missing_field", "overtaken"],
  },
  patchItem: {
    tag,
    summary: "Change an Item",
    description:
      "Applies operations in order, all or none (contract 6). An empty array returns the Item unmodified (contract 6.2).",
    body: required(json("Patch", patch)),
    ...WRITES_ITEM,
    answers: { 200: writtenByBody("The Item.") },
    errors: ["category", "missing_field", "overtaken"],
  },
  deleteItem: {
    tag,
    summary: "Delete an Item",
    description: "The Item is kept for `DELETED_RETENTION_DAYS` as a deleted Item (contract 14.8).",
    coordinated: true,
    answers: { 204: { description: "The Item is deleted." } },
  },
  archiveItem: {
    tag,
    summary: "Archive an Item",
    description: "Sets `state` to ARCHIVED; lists leave the Item out (contract 14.14, 14.15).",
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  unarchiveItem: {
    tag,
    summary: "Unarchive an Item",
    description: "Removes `state` (contract 14.14).",
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
} satisfies Partial<Descriptions>;
