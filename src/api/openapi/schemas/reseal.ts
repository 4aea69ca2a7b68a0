import { RESEAL_STAGES } from "../../../model/reseal.ts";
import type { Schema } from "../types.ts";
import { closed, integer, ref, words } from "./shapes.ts";

/** The keys of a vault, and their replacement (contract 20.20 to 20.26). */

/** Counts of processed rows. */
export const resealCounts: Readonly<Record<string, Schema>> = {
  items: integer("The Items that were passed.", 0),
  rows: integer("All records that were passed.", 0),
  unreadable: integer("The records that do not open. They stay as they are.", 0),
};

export const resealSchemas: Readonly<Record<string, Schema>> = {
  DataKey: closed("The keys of a vault: its data key and its index key.", { id: ref("Uuid"), createdAt: ref("Time") }),
  Reseal: closed("The vault has new keys, and not all of its records are sealed under them yet.", {
    replaces: ref("Uuid", "The id of the keys that are replaced."),
    stage: words("The kind of records that is next.", RESEAL_STAGES),
    ...resealCounts,
  }),
};
