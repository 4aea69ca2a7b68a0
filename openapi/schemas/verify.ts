import { FINDING_KINDS } from "../../src/model/finding.ts";
import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, nullable, open, ref, words } from "./shapes.ts";

/** The check of what is stored (contract 22). */

const id = (description: string): Schema => ({ type: "string", description });
const flag = (description: string): Schema => nullable({ type: "boolean", description });

export const verifySchemas: Readonly<Record<string, Schema>> = {
  VerifyRequest: open("Which slice is checked (contract 22.1).", {
    vault: nullable(ref("Uuid", "Only this vault; absent: the whole deployment.")),
    cursor: nullable({ type: "string", description: "`next` of the answer before; absent in the first request." }),
    quick: flag("Contents of Files are only looked for, and not read."),
    backup: flag("The backups are checked, and not what the service serves (contract 22.6)."),
    repair: flag("What can be repaired is repaired (contract 22.5)."),
    acceptLoss: flag("The repair of `vault` takes Items that are missing out of its counts (contract 22.5)."),
  }),
  Verified: closed("What was found in a slice (contract 22.1).", {
    findings: arrayOf(ref("Finding")),
    checked: closed("How much was checked.", {
      rows: integer("Rows of the database or of a backup.", 0),
      items: integer("Items.", 0),
      contents: integer("Contents of Files.", 0),
      bytes: integer("Sealed bytes.", 0),
    }),
    next: nullable({ type: "string", description: "`cursor` of the next request; `null` when everything is checked." }),
  }),
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
      repaired: { type: "boolean", description: "Only in the answer to a request with `repair`." },
    },
    ["vault", "item", "file", "version", "id", "table", "snapshot", "repaired"],
  ),
};
