import * as z from "zod";
import { REGISTRY } from "../../model/backup.ts";
import type { RestoreInput } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { optional } from "../../model/text.ts";
import { createRequestId } from "../../request-id.ts";
import { sealOrigin } from "../../store/activity/entries.ts";
import { type BackupStore, withBuckets } from "../../store/backup/ports.ts";
import { checkRestore } from "../../store/restore/check.ts";
import { checkItem } from "../../store/restore/restore-item.ts";
import { originOf } from "../audit.ts";
import type { Call } from "../route.ts";
import { canonicalId, flag } from "./job-attributes.ts";

/** What a request for a job of restore has, and what has to hold before anything is done (contract 21.20). */

const NEEDS_VAULT = "needs the vault";

type Wanted = Omit<RestoreInput, "entry" | "origin">;

export const restoreRequest = {
  seals: true,
  input: z
    .object({
      vault: optional(canonicalId),
      item: optional(canonicalId),
      snapshot: optional(z.int("is not an integer").min(1, "is less than 1").max(99_999_999, "is more than 99999999")),
      overwrite: flag,
      dryRun: flag,
    })
    .refine(({ vault }) => vault !== REGISTRY, { path: ["vault"], message: "is none that a vault can have" })
    .refine(({ vault, item }) => item === undefined || vault !== undefined, { path: ["item"], message: NEEDS_VAULT })
    .refine(({ vault, overwrite }) => !overwrite || vault !== undefined, { path: ["overwrite"], message: NEEDS_VAULT }),
  /**
   * Errors: `misconfigured`, when no bucket of backups is bound; those of `checkRestore` and `checkItem`; `database_full`.
   */
  async prepare({ store, c }: Call, input: Wanted): Promise<Result<RestoreInput>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const checked = await check(buckets.value, input);
    if (!checked.ok) return checked;
    // The job keeps its input, and the operator has it from another isolate.
    const entry = createRequestId(Date.now());
    return ok({ ...input, entry, origin: await sealOrigin(store, entry, originOf(c)) });
  },
};

async function check(store: BackupStore, { item, vault = REGISTRY, ...wanted }: Wanted): Promise<Result<undefined>> {
  const request = { vault, ...wanted };
  const checked = item === undefined ? await checkRestore(store, request) : await checkItem(store, request, item);
  if (!checked.ok) return checked;
  const lacksRoom = "room" in checked.value && !checked.value.room && !wanted.dryRun;
  return lacksRoom ? fail("database_full") : ok(undefined);
}
