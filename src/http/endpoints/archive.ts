import type { Change } from "../../model/operation.ts";
import { ok, type Result } from "../../model/result.ts";
import { presentItem } from "../present.ts";
import type { ParseCall } from "../route.ts";
import { writeItem } from "./items.ts";

/** Endpoint 17: an archived Item is left out of lists (contract 14.14). */

const setState = (kind: "archive-item" | "unarchive-item") => ({
  parse: ({ item, ifMatch }: ParseCall): Result<Change> => ok({ kind, item, ifMatch }),
  handle: writeItem(presentItem, () => [kind]),
});

export const archiveItem = setState("archive-item");
export const unarchiveItem = setState("unarchive-item");
