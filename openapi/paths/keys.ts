import { listOf } from "../content.ts";
import { rootKeys } from "../operations-examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** The root keys, for the admin (contract 20). */

const KEYS = "/v1/admin/keys";

export const keyRows: readonly Row[] = [
  {
    method: "get",
    path: KEYS,
    operationId: "listKeys",
    tag: "Admin: keys",
    summary: "List the root keys",
    description: "Their states and what each of them holds, without key material (contract 20.2).",
    access: ADMIN,
    answers: { 200: { description: "The root keys.", content: listOf("RootKey", rootKeys) } },
  },
];
