import * as z from "zod";
import { isId } from "../../model/ids.ts";
import { optional } from "../../model/text.ts";

/** Attributes that requests for several kinds of jobs have. */

/** A request with `false` and one without the attribute are the same under an `Idempotency-Key`. */
export const flag = optional(z.boolean("is not a boolean")).transform((value) => value ?? false);

export const canonicalId = z.string("is not a string").refine(isId, "is not a canonical UUID");
