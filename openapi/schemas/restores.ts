import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, nullable, open, ref, words } from "./shapes.ts";

/** Restores in requests and answers (contract 21.20). */

const snapshot = integer("The number of the snapshot.", 1, 99_999_999);

export const restoreSchemas: Readonly<Record<string, Schema>> = {
  RestoreRequest: open("What to restore: one vault, or without `vault` what belongs to no vault.", {
    vault: nullable(ref("IdInput")),
    item: nullable(ref("IdInput")),
    snapshot: nullable({ ...snapshot, description: "The number of the snapshot; by default the newest." }),
    overwrite: nullable({ type: "boolean", description: "Whether a vault that is newer than the snapshot may be replaced." }),
    dryRun: nullable({ type: "boolean", description: "Changes nothing, and opens what the restore would open." }),
    cursor: nullable({
      type: "string",
      pattern: "^[0-9]{1,8} [0-9]{1,8}$",
      description: "With `dryRun`: `next` of the answer before.",
    }),
  }),
  Restoration: closed(
    "How far a restore is (contract 21.20).",
    {
      vault: closed("The vault.", { id: ref("Uuid") }),
      item: closed("The Item, when one is restored.", { id: ref("Uuid") }),
      snapshot,
      takenAt: ref("Time"),
      deployment: { type: "string", description: "The deployment that the backup is of." },
      state: words("`planned`: nothing was changed. `running`: send the request again.", ["planned", "running", "done"]),
      done: integer("Steps that are done.", 0),
      total: integer("All steps.", 1),
      rows: integer("Rows of the parts of the snapshot.", 0),
      existing: words("What the database has of the vault, compared with the snapshot.", ["none", "deleted", "older", "newer"]),
      items: integer("Items of the vault.", 0),
      findings: arrayOf(ref("Finding"), {
        description: "The rows and contents of this slice that do not open (contract 21.24).",
      }),
      skipped: arrayOf(ref("SkippedSnapshot"), {
        description: "Only without `vault`: snapshots that are not authentic, or have no vaults (contract 21.25).",
      }),
      room: {
        type: "boolean",
        description:
          "Only with `dryRun`, not of an Item: whether the database has room for the rows; absent when the restore has begun.",
      },
      next: { type: "string", description: "Only with `dryRun`: `cursor` of the next request; absent at the end." },
      vaults: arrayOf(closed("A vault of the backup.", { id: ref("Uuid"), snapshot })),
    },
    ["vault", "item", "existing", "items", "vaults", "room", "next", "skipped"],
  ),
  SkippedSnapshot: closed("A newer snapshot that is not taken.", {
    snapshot,
    reason: { type: "string", description: "In words." },
  }),
  StoredObject: closed("Whether an object was stored.", {
    stored: { type: "boolean", description: "`false`: the bucket had it already." },
  }),
};
