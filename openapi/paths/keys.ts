import { json, listOf } from "../content.ts";
import { rewrapSlice, rootKeys } from "../operations-examples.ts";
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
  {
    method: "post",
    path: `${KEYS}/rewrap`,
    operationId: "rewrapKeys",
    tag: "Admin: keys",
    summary: "Rewrap a slice under the active root key",
    description:
      "Wraps keys of vaults, and seals rows of tokens, under the active root key. Send it until there is no cursor (contract 20.3).",
    access: ADMIN,
    parameters: ["RewrapCursor"],
    answers: { 200: { description: "What was done.", content: json("RewrapSlice", rewrapSlice) } },
    errors: ["invalid", "database_full"],
  },
];
