import { json, required } from "../content.ts";
import { verified } from "../operations-examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** The check of what is stored (contract 22). */

export const verifyRows: readonly Row[] = [
  {
    method: "post",
    path: "/v1/admin/verify",
    operationId: "verify",
    tag: "Admin: checks",
    summary: "Check a slice of what is stored",
    description: "Opens rows and contents and compares them with each other; `next` of the answer goes on (contract 22).",
    access: ADMIN,
    json: required(json("VerifyRequest", {})),
    answers: { 200: { description: "What was found in the slice.", content: json("Verified", verified) } },
    errors: ["vault_not_found", "backup_not_found", "version_skew"],
  },
];
