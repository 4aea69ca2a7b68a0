import { json, required } from "../content.ts";
import { adminVault } from "../examples.ts";
import { resealProgress } from "../operations-examples.ts";
import { ADMIN, type Row } from "../operation.ts";

/** New keys for a vault (contract 20.20 to 20.26). */
export const resealRows: readonly Row[] = [
  {
    method: "post",
    path: "/v1/admin/vaults/{vault}/reseal",
    operationId: "resealVault",
    tag: "Admin: vaults",
    summary: "Give a vault new keys",
    description:
      "Replaces the data key and the index key of a vault, and seals its records again, some of them with each request, until " +
      "`done`. It may be repeated after every answer (contract 20.20 to 20.26).",
    access: ADMIN,
    json: required(json("ResealRequest", { dataKey: adminVault.dataKey.id })),
    errors: ["keys_used_up"],
    coordinated: true,
    answers: { 200: { description: "How far it has come.", content: json("ResealProgress", resealProgress) } },
  },
];
