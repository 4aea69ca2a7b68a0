import * as z from "zod";
import type { BackupInput } from "../../model/job.ts";
import { ok, type Result } from "../../model/result.ts";
import { optional } from "../../model/text.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { requireVault } from "../../store/vaults/vaults.ts";
import type { Call } from "../route.ts";
import { canonicalId, flag } from "./job-attributes.ts";

/** What a request for a job of backup has, and what has to exist (contract 21.1). */

export const backupRequest = {
  input: z.object({ vault: optional(canonicalId), full: flag, dryRun: flag }),
  /** Errors: `vault_not_found`; `misconfigured`, when no bucket of backups is bound. */
  async prepare({ store, c }: Call, input: BackupInput): Promise<Result<BackupInput>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const { vault } = input;
    if (vault === undefined) return ok(input);
    const exists = await requireVault(store.db, vault);
    return exists.ok ? ok(input) : exists;
  },
};
