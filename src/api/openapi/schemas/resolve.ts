import { LIMITS } from "../../../model/limits.ts";
import { resolveRequest } from "../../bodies.ts";
import type { Schema } from "../types.ts";
import { body } from "./body.ts";
import { arrayOf, closed, integer, ref } from "./shapes.ts";

/** References (contract 16). */

const reference: Schema = { type: "string", description: "The reference as the request wrote it." };

export const resolveSchemas: Readonly<Record<string, Schema>> = {
  ResolveRequest: body("The references to resolve.", resolveRequest, {
    references: `At most ${LIMITS.references}: \`op://<vault>/<item>/[<section>/]<field>[?attribute=…]\`, each at most ${LIMITS.reference} bytes of UTF-8 (contract 16.2).`,
  }),
  ResolveAnswer: closed("One entry for each reference, in their order.", {
    values: arrayOf({ oneOf: [ref("ResolvedValue"), ref("RefusedReference")] }),
  }),
  ResolvedValue: closed(
    "A reference that has a value.",
    {
      reference,
      value: { type: "string" },
      encoding: { type: "string", const: "base64", description: "The value is a content that is not UTF-8 (contract 16.8)." },
    },
    ["encoding"],
  ),
  RefusedReference: closed("A reference that has no value (contract 16.9).", {
    reference,
    status: integer("The status of the refusal.", 400, 599),
    message: {
      type: "string",
      description: "The part that is at fault. It repeats nothing of the reference, except ids in a 413.",
    },
  }),
};
