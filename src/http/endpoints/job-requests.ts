import type * as z from "zod/mini";
import type { jobInputs } from "../../api/job-bodies.ts";
import { REGISTRY } from "../../model/backup.ts";
import type { BackupInput, RequestedKind, ResealInput, RewrapInput } from "../../model/job.ts";
import type { RestoreInput } from "../../model/restore.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { VerifyInput } from "../../model/verify.ts";
import { createRequestId } from "../../request-id.ts";
import { sealOrigin } from "../../store/activity/entries.ts";
import { type BackupStore, withBuckets } from "../../store/backup/ports.ts";
import { checkRestore } from "../../store/restore/check.ts";
import { checkItem } from "../../store/restore/restore-item.ts";
import { requireVault } from "../../store/vaults/vaults.ts";
import { requireBackup } from "../../store/verify/stages.ts";
import { originOf } from "../audit.ts";
import type { Call } from "../route.ts";

/** What has to hold before a job is created, and what the job then has to know, by its kind (contract 26.2). */

export interface JobRequest<Input extends object = object> {
  /** Whether the job seals: then the root keys are compared with those of the database before. What a wrong key seals, no other one opens. */
  readonly seals?: true;
  /** Checks a request before its job is created. Out: the input of the job. */
  prepare(call: Call, input: Input): Promise<Result<object>>;
}

export const JOB_REQUESTS: { readonly [Kind in RequestedKind]: JobRequest<z.output<(typeof jobInputs)[Kind]>> } = {
  rewrap: {
    seals: true,
    prepare: async ({ store: { keyring } }) => ok<RewrapInput>({ activeKey: keyring.active.id }),
  },
  verify: { prepare: prepareVerify },
  reseal: { seals: true, prepare: prepareReseal },
  backup: { prepare: prepareBackup },
  restore: { seals: true, prepare: prepareRestore },
};

/** Errors: `vault_not_found`, `backup_not_found`; `misconfigured`, when no bucket of backups is bound. */
async function prepareVerify({ store, c }: Call, input: VerifyInput): Promise<Result<VerifyInput>> {
  const { vault, backup } = input;
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  if (vault === undefined) return ok(input);
  const exists = backup ? await requireBackup(buckets.value, vault) : await requireVault(store.db, vault);
  return exists.ok ? ok(input) : exists;
}

/** Errors: `vault_not_found`. */
async function prepareReseal({ store: { db } }: Call, input: ResealInput): Promise<Result<ResealInput>> {
  const exists = await requireVault(db, input.vault);
  return exists.ok ? ok(input) : exists;
}

/** Errors: `vault_not_found`; `misconfigured`, when no bucket of backups is bound. */
async function prepareBackup({ store, c }: Call, input: BackupInput): Promise<Result<BackupInput>> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const { vault } = input;
  if (vault === undefined) return ok(input);
  const exists = await requireVault(store.db, vault);
  return exists.ok ? ok(input) : exists;
}

type RestoreRequest = Omit<RestoreInput, "entry" | "origin">;

/** Errors: `misconfigured`, when no bucket of backups is bound; those of `checkRestore` and `checkItem`; `database_full`. */
async function prepareRestore({ store, c }: Call, input: RestoreRequest): Promise<Result<RestoreInput>> {
  const buckets = withBuckets(store, c.env);
  if (!buckets.ok) return buckets;
  const checked = await requireRestorable(buckets.value, input);
  if (!checked.ok) return checked;
  // The job keeps its input, and the operator has it from another isolate.
  const entry = createRequestId(Date.now());
  return ok({ ...input, entry, origin: await sealOrigin(store, entry, originOf(c)) });
}

async function requireRestorable(store: BackupStore, input: RestoreRequest): Promise<Result<undefined>> {
  const { item, vault = REGISTRY, ...wanted } = input;
  const request = { vault, ...wanted };
  const checked = item === undefined ? await checkRestore(store, request) : await checkItem(store, request, item);
  if (!checked.ok) return checked;
  const lacksRoom = "room" in checked.value && !checked.value.room && !wanted.dryRun;
  return lacksRoom ? fail("database_full") : ok(undefined);
}
