import { json, listOfEither, required } from "../content.ts";
import { item, newItem, patch, replacement, summary } from "../examples.ts";
import { type Answer, MAY_FIND, may, type Row } from "../operation.ts";

/** Items (contract 2, 6, 10 and 11). */

const tag = "Items";
const ITEMS = "/v1/vaults/{vault}/items";
const ITEM = `${ITEMS}/{item}`;

/** The answer of a write: the Item after it. */
export const written = (description: string): Answer => ({ description, content: json("Item", item), headers: ["ETagIfKnown"] });
/** A write to an Item that answers with it. */
export const WRITES_ITEM = { idempotent: true, coordinated: true, grows: true, errors: ["overtaken"] } as const;
export const UNCHANGED: Answer = { description: "The client has this version (contract 10.4).", headers: ["ETag"] };

export const itemRows: readonly Row[] = [
  {
    method: "get",
    path: ITEMS,
    operationId: "listItems",
    tag,
    summary: "List the Items of a vault",
    description:
      "In the order of their ids, without their fields. Without `limit` the whole list, a long one as a stream (contract 11). Filters: " +
      "contract 5. A token without the permission gets the 404 of a vault that does not exist (contract 4.7).",
    access: MAY_FIND,
    parameters: ["ItemFilter", "Archived", "Include", "Limit", "Cursor"],
    answers: {
      200: {
        description: "The Items.",
        content: listOfEither(["ItemSummary", "BrokenItem"], [summary]),
        headers: ["Link", "Broken"],
      },
    },
    errors: ["filter", "invalid"],
  },
  {
    method: "post",
    path: ITEMS,
    operationId: "createItem",
    tag,
    summary: "Create an Item",
    description: "Returns the Item with its id and what was generated (contract 2.12, 2.13, 7).",
    access: may("w"),
    parameters: ["ItemId"],
    json: required(json("NewItem", newItem)),
    ...WRITES_ITEM,
    answers: { 200: written("The new Item.") },
    errors: ["category", "missing_field", "overtaken", "item_exists"],
  },
  {
    method: "get",
    path: ITEM,
    operationId: "getItem",
    tag,
    summary: "Read an Item",
    description: "Returns the Item with its fields and the current codes of its OTP fields (contract 2.2, 2.11).",
    access: may("r"),
    parameters: ["IfNoneMatch"],
    answers: { 200: { description: "The Item.", content: json("Item", item), headers: ["ETag"] }, 304: UNCHANGED },
  },
  {
    method: "put",
    path: ITEM,
    operationId: "replaceItem",
    tag,
    summary: "Replace an Item",
    description:
      "Replaces everything except the Files (contract 2.20). In the dialect `connect`, `version` is the one before (contract 3.5).",
    access: may("rw"),
    json: required(json("ItemReplacement", replacement)),
    conditional: true,
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
    errors: ["category", "missing_field", "overtaken"],
  },
  {
    method: "patch",
    path: ITEM,
    operationId: "patchItem",
    tag,
    summary: "Change an Item",
    description:
      "Applies operations in order, all or none (contract 6). An empty array returns the Item unmodified (contract 6.2).",
    access: may("rw"),
    json: required(json("Patch", patch)),
    conditional: true,
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
    errors: ["category", "missing_field", "overtaken"],
  },
  {
    method: "delete",
    path: ITEM,
    operationId: "deleteItem",
    tag,
    summary: "Delete an Item",
    description: "The Item is kept for `DELETED_RETENTION_DAYS` as a deleted Item (contract 14.8).",
    access: may("w"),
    conditional: true,
    idempotent: true,
    coordinated: true,
    answers: { 204: { description: "The Item is deleted." } },
  },
  {
    method: "post",
    path: `${ITEM}/archive`,
    operationId: "archiveItem",
    tag,
    summary: "Archive an Item",
    description: "Sets `state` to ARCHIVED; lists leave the Item out (contract 14.14, 14.15).",
    access: may("rw"),
    conditional: true,
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  {
    method: "post",
    path: `${ITEM}/unarchive`,
    operationId: "unarchiveItem",
    tag,
    summary: "Unarchive an Item",
    description: "Removes `state` (contract 14.14).",
    access: may("rw"),
    conditional: true,
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
];
