import { RESEAL_STAGES } from "../../src/model/reseal.ts";
import type { Schema } from "../types.ts";
import { closed, integer, open, ref, words } from "./shapes.ts";

/** The keys of a vault, and their replacement (contract 20.20 to 20.26). */

const counts: Readonly<Record<string, Schema>> = {
  stage: words("The kind of records that is next.", RESEAL_STAGES),
  items: integer("The Items that were passed.", 0),
  rows: integer("All records that were passed.", 0),
  unreadable: integer("The records that do not open. They stay as they are.", 0),
};

export const resealSchemas: Readonly<Record<string, Schema>> = {
  DataKey: closed("The keys of a vault: its data key and its index key.", { id: ref("Uuid"), createdAt: ref("Time") }),
  Reseal: closed("The vault has new keys, and not all of its records are sealed under them yet.", {
    replaces: ref("Uuid", "The id of the keys that are replaced."),
    ...counts,
  }),
  ResealRequest: open("New keys for a vault.", { dataKey: ref("IdInput", "The id of the keys that are to be replaced.") }, [
    "dataKey",
  ]),
  ResealProgress: closed(
    "How far the replacement of the keys has come.",
    {
      done: {
        type: "boolean",
        description: "Whether every record is sealed under the new keys, and the keys before are gone.",
      },
      ...counts,
      of: integer("The Items of the vault.", 0),
    },
    ["stage"],
  ),
};
