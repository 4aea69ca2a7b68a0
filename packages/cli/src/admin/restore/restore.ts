import { hash } from "node:crypto";
import { type Client, type Finding, ItemVaultError } from "@item-vault/client";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError, EXIT, vaultNames } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { requireFolder } from "../../frame/paths.ts";
import { printable, plural } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { tell } from "../../output/format.ts";
import { runJob } from "../jobs/run-job.ts";
import { findingsOf, hasEnded, listJobs, type Restored } from "../jobs/service.ts";
import { lineOf } from "../verify/service.ts";
import { copyFolder } from "./copy-folder.ts";
import type { RESTORE_OPTIONS } from "./table.ts";

/** The attributes of the job (contract 21.20). Absent attributes are not sent. */
interface Wanted {
  readonly vault?: string | undefined;
  readonly item?: string | undefined;
  readonly snapshot?: number | undefined;
  readonly overwrite?: true | undefined;
  readonly dryRun?: true | undefined;
}

/**
 * `admin restore`: runs a job of the service, which continues when the command is ended. Returns the exit code, `found` if anything is not
 * restored.
 */
export async function restore({ io, options, admin: connect }: Call<typeof RESTORE_OPTIONS>): Promise<number> {
  const { vault: name, item, snapshot: number, overwrite, from, yes, "dry-run": dryRun = false } = options;
  if (name === undefined && (item !== undefined || overwrite))
    throw new CliError("--item and --overwrite need --vault", { exit: "usage" });
  const snapshot = number === undefined ? undefined : numberOf(number);
  if (from !== undefined) await requireFolder("--from", from);
  const client = await connect();
  const vault = name === undefined ? undefined : await adminVaultIdOf(client, name);
  const wanted: Wanted = { vault, item, snapshot, overwrite: overwrite || undefined, dryRun: dryRun || undefined };
  if (from !== undefined) {
    const copy = () => copyFolder({ io, client, folder: from }, { vault, snapshot, yes, dryRun });
    if (!(await explainRefusal(io, wanted, copy))) return EXIT.ok;
  }
  const stays = from === undefined ? "nothing was changed" : "nothing was restored, and copied backups stay in the bucket";
  if (!dryRun) await confirm(io, `Restore ${subjectOf({ vault, item })}?`, yes, stays);
  const { restored, vaults, findings } = await run(io, client, wanted);
  for (const one of restored.skipped ?? []) await tell(io, `Skipped backup ${one.snapshot}: ${printable(one.reason)}`);
  await tell(io, describe(wanted, restored, vaults));
  if (dryRun) await tell(io, "This is a dry run: nothing was changed");
  for (const finding of findings) await tell(io, printable(lineOf(finding)));
  if (restored.kept > 0) await tell(io, `${plural(restored.kept, "vault")} had been restored before`);
  const refusal = refusalOf(restored);
  if (refusal) throw nothingRestored(wanted, refusal);
  if (!dryRun) await tellNext(io, wanted, restored);
  if (!dryRun && restored.leftOut > 0) await tell(io, LEFT_OUT);
  if (!dryRun && findings.length > restored.leftOut) await tell(io, NOT_BROUGHT_BACK);
  return findings.length > 0 ? EXIT.found : EXIT.ok;
}

const subjectOf = ({ vault, item }: Wanted): string =>
  vault === undefined
    ? "all vaults of the backup"
    : `${item === undefined ? "the vault" : `the Item ${printable(item)} of`} ${vault}`;

interface Ran {
  readonly restored: Restored;
  /** Number of vaults of the backup; for one vault another number. */
  readonly vaults: number;
  readonly findings: readonly Finding[];
}

const run = (io: Io, client: Client, wanted: Wanted): Promise<Ran> =>
  explainRefusal(io, wanted, async () => {
    const unit = wanted.vault === undefined ? "vault" : "step";
    const json = { kind: "restore" as const, ...given(wanted) };
    const job = await runJob(io, client, { json, key: await keyOf(client, json), label: "restored", unit, hints: HINTS });
    return { restored: job.result!.restored!, vaults: job.progress.total, findings: await findingsOf(client, job) };
  });

/** Throws a CliError, with a hint for refusals of the service. */
async function explainRefusal<T>(io: Io, wanted: Wanted, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ItemVaultError) || error.kind === "job_exists" || ![404, 409, 422, 507].includes(error.status))
      throw error;
    await tell(io, `${wanted.vault ?? "The backup"}: refused: ${printable(error.message)}`);
    throw nothingRestored(wanted, error);
  }
}

/**
 * Returns an Idempotency-Key that the same command derives again until another restore has ended. After an interruption or a lost answer, the
 * command follows its own job, and no other job.
 */
async function keyOf(client: Client, json: object): Promise<string> {
  let ended = "";
  for await (const job of listJobs(client)) {
    if (job.kind !== "restore" || !hasEnded(job)) continue;
    ended = job.id;
    break;
  }
  return `restore-${hash("sha256", JSON.stringify([ended, json]))}`;
}

/** Returns the attributes with a value: a request with only its kind equals that of a running job. */
const given = (wanted: Wanted): Partial<Wanted> =>
  Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));

type Refused = Pick<ItemVaultError, "status" | "kind">;

/** Returns the refusal that a job amounts to which has ended and restored nothing. */
function refusalOf({ room, vaults, items, kept, leftOut }: Restored): Refused | undefined {
  if (room === false) return { status: 507, kind: "database_full" };
  return leftOut > 0 && vaults + items + kept === 0 ? { status: 422, kind: "backup_damaged" } : undefined;
}

function nothingRestored({ vault, dryRun }: Wanted, { status, kind }: Refused): CliError {
  return new CliError(dryRun ? "Nothing would be restored" : "Nothing was restored", {
    exit: status === 404 ? "notFound" : "conflict",
    hint: kind === "backup_newer" && vault === undefined ? IN_USE : (HINTS[kind] ?? listHint(vault)),
  });
}

const IN_USE = "Restore single vaults with --vault, and --overwrite where they have changed. Or restore into a new service.";

const HINTS: Readonly<Record<string, string>> = {
  backup_damaged: "If the reason names a root key, add that key to ROOT_KEYS. Otherwise try an older snapshot with --snapshot.",
  backup_too_new: "Use the release that wrote the backup, or a later one.",
  backup_newer: "To lose what is newer, add --overwrite.",
  database_full: "Delete what is not needed, or raise DATABASE_LIMIT_MB when the plan of the account allows more.",
};

const listHint = (vault: string | undefined): string =>
  `List what there is: \`item-vault admin backup ${vault === undefined ? "--list" : `--list --vault ${vault}`}\`.`;

const LEFT_OUT = "The vaults that were left out are named above. Try older snapshots of them: --vault and --snapshot.";

const NOT_BROUGHT_BACK =
  "Everything but what is named above was restored. An older snapshot may have it: --vault, --item, --snapshot.";

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new CliError("--snapshot takes the number of a snapshot", { exit: "usage" });
  return Number(text);
}

const EXISTING = {
  none: "",
  deleted: "; it was deleted since",
  older: "; it has not changed since",
  newer: "; it has changed since, and the changes are lost",
};

const describe = ({ vault }: Wanted, { snapshot, takenAt, items, existing = "none" }: Restored, vaults: number): string =>
  vault === undefined
    ? `Backup ${snapshot} of ${takenAt} has ${plural(vaults, "vault")}`
    : `Vault ${vaultNames.get(vault) ?? vault}: snapshot ${snapshot} of ${takenAt} with ${plural(items, "item")}${EXISTING[existing]}`;

async function tellNext(io: Io, { vault, item }: Wanted, { vaults }: Restored): Promise<void> {
  if (item !== undefined) return tell(io, `Restored the item ${item}`);
  await tell(io, `Restored ${plural(vaults, "vault")}`);
  if (vault === undefined) await tell(io, "Tokens are not restored: issue new ones with `item-vault token create`.");
  await tell(io, "Webhooks that the restore brought back are paused: resume them when their receivers are ready.");
  await tell(io, "Check the result with `item-vault admin verify`.");
}
