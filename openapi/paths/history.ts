import { json, listOfEither } from "../content.ts";
import { item, summary, versions } from "../examples.ts";
import { may, type Row } from "../operation.ts";
import { DOWNLOADS } from "./files.ts";
import { UNCHANGED, WRITES_ITEM, written } from "./items.ts";

/** Versions and deleted Items (contract 14). */

const VERSIONS = "/v1/vaults/{vault}/items/{item}/versions";
const VERSION = `${VERSIONS}/{version}`;
const DELETED_ITEMS = "/v1/vaults/{vault}/deleted-items";
const DELETED_ITEM = `${DELETED_ITEMS}/{item}`;

const deleted = { state: "DELETED", deletedAt: summary.updatedAt, deletedBy: summary.lastEditedBy };

const versionRows: readonly Row[] = [
  {
    method: "get",
    path: VERSIONS,
    operationId: "listVersions",
    tag: "Versions",
    summary: "List the versions of an Item",
    description: "Newest first, the current one too. The numbers may have gaps (contract 14.2).",
    access: may("r"),
    parameters: ["VersionLimit", "Cursor"],
    answers: {
      200: {
        description: "A page of versions.",
        content: listOfEither(["Version", "BrokenVersion"], versions),
        headers: ["Link"],
      },
    },
    errors: ["invalid"],
  },
  {
    method: "get",
    path: VERSION,
    operationId: "getVersion",
    tag: "Versions",
    summary: "Read a version",
    description: "Returns the Item as it was at that version, with the `ETag` that it had (contract 14.3).",
    access: may("r"),
    parameters: ["IfNoneMatch"],
    answers: { 200: { description: "The Item.", content: json("Item", item), headers: ["ETag"] }, 304: UNCHANGED },
  },
  {
    method: "post",
    path: `${VERSION}/restore`,
    operationId: "restoreVersion",
    tag: "Versions",
    summary: "Restore a version",
    description: "Makes a new version with the content of an earlier one (contract 14.6).",
    access: may("rw"),
    conditional: true,
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  {
    method: "delete",
    path: VERSION,
    operationId: "destroyVersion",
    tag: "Versions",
    summary: "Destroy a version",
    description: "Erases an earlier version. The current one is a 400 (contract 14.7).",
    access: may("d"),
    idempotent: true,
    coordinated: true,
    answers: { 204: { description: "The version is destroyed." } },
  },
];

const deletedItemRows: readonly Row[] = [
  {
    method: "get",
    path: DELETED_ITEMS,
    operationId: "listDeletedItems",
    tag: "Deleted Items",
    summary: "List the deleted Items",
    description: "In the order of their ids (contract 14.9).",
    access: may("rw"),
    parameters: ["DeletedLimit", "Cursor"],
    answers: {
      200: {
        description: "A page of deleted Items.",
        content: listOfEither(["DeletedItemSummary", "BrokenDeletedItem"], [{ ...summary, ...deleted }]),
        headers: ["Link"],
      },
    },
    errors: ["invalid"],
  },
  {
    method: "get",
    path: DELETED_ITEM,
    operationId: "getDeletedItem",
    tag: "Deleted Items",
    summary: "Read a deleted Item",
    description: "Returns the Item as it was when it was deleted (contract 14.10).",
    access: may("rw"),
    parameters: ["IfNoneMatch"],
    answers: {
      200: { description: "The deleted Item.", content: json("DeletedItem", { ...item, ...deleted }), headers: ["ETag"] },
      304: UNCHANGED,
    },
  },
  {
    method: "delete",
    path: DELETED_ITEM,
    operationId: "destroyDeletedItem",
    tag: "Deleted Items",
    summary: "Destroy a deleted Item",
    description: "Erases the Item with all its versions and Files (contract 14.12).",
    access: may("d"),
    idempotent: true,
    coordinated: true,
    answers: { 204: { description: "The Item is destroyed." } },
    errors: ["invalid"],
  },
  {
    method: "post",
    path: `${DELETED_ITEM}/restore`,
    operationId: "restoreDeletedItem",
    tag: "Deleted Items",
    summary: "Restore a deleted Item",
    description: "The Item exists again, under its old id and with the next version (contract 14.11).",
    access: may("rw"),
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  {
    method: "get",
    path: `${DELETED_ITEM}/files/{file}/content`,
    operationId: "getDeletedFileContent",
    tag: "Deleted Items",
    summary: "Download a File of a deleted Item",
    description: "As the download of a File (contract 14.10).",
    access: may("rw"),
    ...DOWNLOADS,
    errors: ["range"],
  },
];

export const historyRows: readonly Row[] = [...versionRows, ...deletedItemRows];
