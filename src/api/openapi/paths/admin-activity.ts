import { listOfEither } from "../content.ts";
import { adminEntry, entry } from "../examples.ts";
import type { Descriptions } from "../operation.ts";

/** The admin's log, the activity of a token, and the export of all logs (contract 13.21, 13.22, 13.28, 23.2). */

export const adminActivityDescriptions = {
  listAdminActivity: {
    tag: "Activity",
    summary: "Read the log of the admin",
    description: "What the admin did, and who was refused as the admin, newest first (contract 13.21, 13.22).",
    parameters: ["LogLimit", "LogBefore", "ByVault", "ByActor", "ByAction", "ByResult"],
    answers: {
      200: {
        description: "A page of the log.",
        content: listOfEither(["AdminActivityEntry", "BrokenActivityEntry"], [adminEntry]),
        headers: ["LogGap", "Link"],
      },
    },
    errors: ["invalid"],
  },
  listTokenActivity: {
    tag: "Activity",
    summary: "Read what a token has done",
    description:
      "In the log of the admin, in its own and in those of the vaults that it names, newest first: the first entry is its last use (contract 13.28).",
    parameters: ["LogLimit", "LogBefore", "ByVault", "ByItem", "ByAction", "ByResult"],
    answers: {
      200: {
        description: "A page of the entries. It may be short, or empty, although there is a next one.",
        content: listOfEither(["ExportedEntry", "BrokenActivityEntry"], [{ ...entry, log: entry.resource.vault.id }]),
        headers: ["LogGap", "Link"],
      },
    },
    errors: ["invalid"],
  },
  exportActivity: {
    tag: "Activity",
    summary: "Export all logs",
    description:
      "Those of vaults, of tokens and of the admin, also what is archived, the oldest day first (contract 23.2 to 23.5).",
    parameters: ["OfVault", "Since", "Until", "LogLimit", "Cursor"],
    answers: {
      200: {
        description: "A page of the export. It may be short, or empty, although there is a next one.",
        content: listOfEither(["ExportedEntry", "BrokenActivityEntry"], [{ ...adminEntry, log: "admin" }]),
        headers: ["Link"],
      },
    },
    errors: ["invalid"],
  },
} satisfies Partial<Descriptions>;
