import type { Schema } from "../types.ts";
import { arrayOf, closed, integer, nullable, open, ref, words } from "./shapes.ts";

/** Backups (contract 21). */

const flag = (description: string): Schema => nullable({ type: "boolean", description });
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
      findings: arrayOf(ref("Finding"), { description: "The rows that did not open when they were read." }),
      broken: { type: "string", const: "integrity", description: "The manifest is not authentic." },
    },
    ["createdAt", "rows", "bytes", "vaults", "missing", "findings", "broken"],
  ),
  BackupStep: open("What a step does (contract 21.4, 21.5).", {
    full: flag("Reads everything, also what the snapshot before has."),
    dryRun: flag("Changes nothing: the answer is what would be read."),
  }),
  VaultStep: closed("How far the snapshot of a vault is (contract 21.1).", {
    state: words("`done` and `unchanged` are the ends.", ["planned", "reading", "copying", "done", "unchanged", "busy"]),
    number,
    rows: integer("Rows that the snapshot has read.", 0),
    bytes: integer("Bytes of them.", 0),
    contents: integer("Contents that it has copied, or that were there.", 0),
    missing: integer("Contents that FILES did not have.", 0),
    findings: arrayOf(ref("Finding"), { description: "The rows that did not open when they were read (contract 21.5)." }),
  }),
  RegistryStep: closed(
    "How far the snapshot of the registry is (contract 21.6).",
    {
      state: words(
        "`done` is the end; `unrestored`: the database was never used, and the backups of the bucket are to be restored.",
        ["reading", "waiting", "pruning", "done", "busy", "unrestored"],
      ),
      number,
      vaults: integer("Vaults whose snapshots are found.", 0),
      behind: integer("Vaults without a snapshot of this run.", 0),
      broken: integer("Rows of all snapshots of the backup that did not open when they were read.", 0),
      findings: arrayOf(ref("Finding"), { description: "Those of them that belong to no vault (contract 21.6)." }),
      waiting: closed("The vault that is waited for.", {
        vault: ref("Uuid"),
        missing: { type: "boolean", description: "Whether it has no snapshot at all." },
      }),
    },
    ["waiting"],
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
            skipped: arrayOf(ref("SkippedSnapshot"), { description: "Snapshots that do not open, the newest first." }),
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
