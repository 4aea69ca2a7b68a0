import { json, listOfEither } from "../content.ts";
import { item, summary, versions } from "../examples.ts";
import type { Descriptions } from "../operation.ts";
import { DOWNLOADS } from "./files.ts";
import { UNCHANGED, WRITES_ITEM, written } from "./items.ts";

/** Versions and deleted Items (contract 14). */

const deleted = { state: "DELETED", deletedAt: summary.updatedAt, deletedBy: summary.lastEditedBy };

const versionDescriptions = {
  listVersions: {
    tag: "Versions",
    summary: "List the versions of an Item",
    description: "Newest first, the current one too. The numbers may have gaps (contract 14.2).",
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
  getVersion: {
    tag: "Versions",
    summary: "Read a version",
    description: "Returns the Item as it was at that version, with the `ETag` that it had (contract 14.3).",
    parameters: ["IfNoneMatch"],
    answers: { 200: { description: "The Item.", content: json("Item", item), headers: ["ETag", "Broken"] }, 304: UNCHANGED },
  },
  restoreVersion: {
    tag: "Versions",
    summary: "Restore a version",
    description: "Makes a new version with the content of an earlier one (contract 14.6).",
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  destroyVersion: {
    tag: "Versions",
    summary: "Destroy a version",
    description: "Erases an earlier version. The current one is a 400 (contract 14.7).",
    coordinated: true,
    answers: { 204: { description: "The version is destroyed." } },
  },
} satisfies Partial<Descriptions>;

const deletedItemDescriptions = {
  listDeletedItems: {
    tag: "Deleted Items",
    summary: "List the deleted Items",
    description: "In the order of their ids (contract 14.9).",
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
  getDeletedItem: {
    tag: "Deleted Items",
    summary: "Read a deleted Item",
    description: "Returns the Item as it was when it was deleted (contract 14.10).",
    parameters: ["IfNoneMatch"],
    answers: {
      200: {
        description: "The deleted Item.",
        content: json("DeletedItem", { ...item, ...deleted }),
        headers: ["ETag", "Broken"],
      },
      304: UNCHANGED,
    },
  },
  destroyDeletedItem: {
    tag: "Deleted Items",
    summary: "Destroy a deleted Item",
    description: "Erases the Item with all its versions and Files (contract 14.12).",
    coordinated: true,
    answers: { 204: { description: "The Item is destroyed." } },
    errors: ["invalid"],
  },
  restoreDeletedItem: {
    tag: "Deleted Items",
    summary: "Restore a deleted Item",
    description: "The Item exists again, under its old id and with the next version (contract 14.11).",
    ...WRITES_ITEM,
    answers: { 200: written("The Item.") },
  },
  getDeletedFileContent: {
    tag: "Deleted Items",
    summary: "Download a File of a deleted Item",
    description: "As the download of a File (contract 14.10).",
    ...DOWNLOADS,
    errors: ["range"],
  },
} satisfies Partial<Descriptions>;

export const historyDescriptions = { ...versionDescriptions, ...deletedItemDescriptions };
