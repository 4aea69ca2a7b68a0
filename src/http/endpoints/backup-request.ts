import * as z from "zod";
import type { BackupInput } from "../../model/job.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { withBuckets } from "../../store/backup/ports.ts";
import { hasVault } from "../../store/verify/stages.ts";
import type { Call } from "../route.ts";
import { flag, vaultId } from "./job-attributes.ts";

/** What a request for a job of backup has, and what has to exist (contract 21.1). */

export const backupRequest = {
  input: z.object({ vault: vaultId, full: flag, dryRun: flag }),
  /** Errors: `vault_not_found`; `misconfigured`, when no bucket of backups is bound. */
  async prepare({ store, c }: Call, input: BackupInput): Promise<Result<BackupInput>> {
    const buckets = withBuckets(store, c.env);
    if (!buckets.ok) return buckets;
    const { vault } = input;
    if (vault === undefined) return ok(input);
    const exists = await hasVault(buckets.value, vault, false);
    if (!exists.ok) return exists;
    return exists.value ? ok(input) : fail("vault_not_found", vault);
  },
};
