import { FINDING_KINDS } from "../../../model/finding.ts";
import type { Schema } from "../types.ts";
import { closed, integer, words } from "./shapes.ts";

/** The findings in stored data (contract 22). */

const id = (description: string): Schema => ({ type: "string", description });

export const findingSchemas: Readonly<Record<string, Schema>> = {
  Finding: closed(
    "Something that is wrong (contract 22.2). It has no text of a user.",
    {
      kind: words("What is wrong.", FINDING_KINDS),
      vault: id("The id of the vault; of a log that is not of a vault, the id of the log."),
      item: id("The id of the Item."),
      file: id("The id of the File."),
      version: integer("The version of the Item.", 0),
      id: id("The id of another record, for example of a token."),
      table: id("The table of the row."),
      snapshot: integer("The number of the snapshot, in a backup.", 0),
      detail: { type: "string", description: "The fault, in words and numbers." },
      repairable: { type: "boolean", description: "Whether `repair` repairs it." },
      repaired: { type: "boolean", description: "Only of a job with `repair`: whether it is repaired." },
    },
    ["vault", "item", "file", "version", "id", "table", "snapshot", "repaired"],
  ),
};
