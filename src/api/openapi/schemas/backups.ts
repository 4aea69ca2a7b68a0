import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, ref, words } from "./shapes.ts";

/** Backups (contract 21). */

const number = integer("The number of the snapshot.", 0);

export const backupSchemas: Readonly<Record<string, Schema>> = {
  Snapshot: closed(
    "A snapshot of a vault or of the registry (contract 21.8).",
    {
      number,
      createdAt: ref("Time"),
      rows: integer("Rows of its parts.", 0),
      bytes: integer("Bytes of its parts, without the contents of Files.", 0),
      vaults: integer("Only of the registry: the vaults that belong to it.", 0),
      missing: arrayOf({ type: "string", description: "The key of a content that FILES did not have." }),
      broken: words("Why the manifest cannot be read: it is not authentic, or a newer release wrote it.", [
        "integrity",
        "backup_too_new",
      ]),
    },
    ["createdAt", "rows", "bytes", "vaults", "missing", "broken"],
  ),
  BackedUpVaults: closed(
    "A page of the vaults of the backups (contract 21.15).",
    {
      vaults: arrayOf(
        closed(
          "A vault, by its newest snapshot that opens.",
          {
            id: ref("Uuid"),
            name: { type: "string", description: "Its name then." },
            snapshot: integer("The number of that snapshot.", 1),
            createdAt: ref("Time"),
            items: integer("Its Items then.", 0),
            skipped: arrayOf(ref("SkippedSnapshot"), { description: "Snapshots that cannot be decrypted, the newest first." }),
          },
          ["name", "snapshot", "createdAt", "items"],
        ),
      ),
      next: { ...ref("Uuid"), description: "`after` of the next page; absent on the last one." },
    },
    ["next"],
  ),
  BackupObjects: closed(
    "A page of the objects of all backups (contract 21.9).",
    {
      objects: arrayOf(
        closed("An object.", {
          key: { type: "string", description: "Also its path in a folder." },
          size: integer("Bytes.", 0),
        }),
      ),
      next: { type: "string", description: "`after` of the next page; absent on the last one." },
    },
    ["next"],
  ),
  SkippedSnapshot: closed("A newer snapshot that is not taken.", {
    snapshot: integer("The number of the snapshot.", 1, 99_999_999),
    reason: { type: "string", description: "In words." },
  }),
  StoredObject: closed("Whether an object was stored.", {
    stored: { type: "boolean", description: "`false`: the bucket had it already." },
  }),
};
