import * as z from "zod/mini";
import { REGISTRY } from "../model/backup.ts";
import { isId } from "../model/ids.ts";
import { REQUESTED_KINDS, type RequestedKind } from "../model/job.ts";
import { oneOf } from "../model/scope.ts";
import { fault, optional } from "../model/text.ts";

/** The JSON bodies of requests for jobs (contract 26.2). */

/** The attributes of a request for a job of any kind (contract 26.2). */
export const anyJob = z.looseObject({ kind: z.enum(REQUESTED_KINDS, fault(`is not ${oneOf(REQUESTED_KINDS)}`)) });

export const canonicalId = z.string().check(z.refine(isId, "is not a canonical UUID"));

/** A request with `false` and one without the attribute are the same under an `Idempotency-Key`. */
const jobFlag = z.pipe(
  optional(z.boolean()),
  z.transform((value) => value ?? false),
);

const NEEDS_VAULT = "needs the vault";

/** The attributes of a request for a job besides the kind, by kind. */
export const jobInputs = {
  rewrap: z.strictObject({}),
  verify: z
    .strictObject({ vault: optional(canonicalId), quick: jobFlag, repair: jobFlag, acceptLoss: jobFlag, backup: jobFlag })
    .check(
      z.refine(({ repair, acceptLoss, backup }) => !acceptLoss || (repair && !backup), {
        path: ["acceptLoss"],
        message: "needs repair, and not backup",
      }),
    ),
  backup: z.strictObject({ vault: optional(canonicalId), full: jobFlag }),
  restore: z
    .strictObject({
      vault: optional(canonicalId),
      item: optional(canonicalId),
      snapshot: optional(z.int().check(z.minimum(1, "is less than 1"), z.maximum(99_999_999, "is more than 99999999"))),
      overwrite: jobFlag,
      dryRun: jobFlag,
    })
    .check(
      z.refine(({ vault }) => vault !== REGISTRY, { path: ["vault"], message: "is none that a vault can have" }),
      z.refine(({ vault, item }) => item === undefined || vault !== undefined, { path: ["item"], message: NEEDS_VAULT }),
      z.refine(({ vault, overwrite }) => !overwrite || vault !== undefined, { path: ["overwrite"], message: NEEDS_VAULT }),
    ),
} as const satisfies Readonly<Record<RequestedKind, z.ZodMiniObject>>;
