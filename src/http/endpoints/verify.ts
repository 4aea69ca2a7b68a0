import * as z from "zod";
import { ok, type Result } from "../../model/result.ts";
import { optional } from "../../model/text.ts";
import type { VerifyInput } from "../../model/verify.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { requireVault } from "../../store/vaults/vaults.ts";
import { requireBackup } from "../../store/verify/stages.ts";
import type { Call } from "../route.ts";
import { canonicalId, flag } from "./job-attributes.ts";

/** What a request for a job of verify has, and what has to exist (contract 22). */

const LOSS = { path: ["acceptLoss"], message: "needs repair and vault, and not backup" };

export const verifyRequest = {
  input: z
    .object({ vault: optional(canonicalId), quick: flag, repair: flag, acceptLoss: flag, backup: flag })
    .refine(({ vault, repair, acceptLoss, backup }) => !acceptLoss || (repair && !backup && vault !== undefined), LOSS),
  /** Errors: `vault_not_found`, `backup_not_found`; `misconfigured`, when no bucket of backups is bound. */
  async prepare({ store, c }: Call, input: VerifyInput): Promise<Result<VerifyInput>> {
    const { vault, backup } = input;
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    if (vault === undefined) return ok(input);
    const exists = backup ? await requireBackup(buckets.value, vault) : await requireVault(store.db, vault);
    return exists.ok ? ok(input) : exists;
  },
};
