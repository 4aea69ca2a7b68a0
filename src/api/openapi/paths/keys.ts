import { listOf } from "../content.ts";
import type { Descriptions } from "../operation.ts";
import { rootKeys } from "../operations-examples.ts";

/** The root keys, for the admin (contract 20). */

export const keyDescriptions = {
  listKeys: {
    tag: "Admin: keys",
    summary: "List the root keys",
    description: "Their states and what each of them holds, without key material (contract 20.2).",
    answers: { 200: { description: "The root keys.", content: listOf("RootKey", rootKeys) } },
  },
} satisfies Partial<Descriptions>;
