import type { Client, Finding, Answer, BackedUpVaults } from "@item-vault/client";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError, EXIT } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { requireFolder } from "../../frame/paths.ts";
import { plural } from "../../frame/printable.ts";
import { show, tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { tableOf } from "../../output/table.ts";
import { runJob } from "../jobs/run-job.ts";
import { type BackedUp, findingsOf } from "../jobs/service.ts";
import { lineOf } from "../verify/service.ts";
import { copyObject, listLacking, type StoredObject } from "./mirror.ts";
import type { BACKUP_OPTIONS } from "./table.ts";

type BackupCall = Call<typeof BACKUP_OPTIONS>;

/**
 * `admin backup`: runs a job that backs up all vaults and the registry, or one vault. Returns the exit code. Throws a CliError, after the copy, if
 * vaults were left out.
 */
export async function backup({ io, options, admin: connect }: BackupCall): Promise<number> {
  const copiesOnly = options["copy-only"] || options["dry-run"];
  if (copiesOnly && options.to === undefined) throw new CliError("--copy-only and --dry-run need --to", { exit: "usage" });
  if (options.to !== undefined) await requireFolder("--to", options.to, true);
  const client = await connect();
  if (copiesOnly) {
    await mirror(io, client, options.to!, options["dry-run"] ?? false);
    return EXIT.ok;
  }
  if (options.vaults) {
    await showBackedUpVaults(io, client, options.format);
    return EXIT.ok;
  }
  const vault = options.vault === undefined ? undefined : await adminVaultIdOf(client, options.vault);
  if (options.list) {
    await list(io, client, vault, options.format);
    return EXIT.ok;
  }
  const json = { kind: "backup" as const, full: options.full ?? false, ...(vault !== undefined && { vault }) };
  const job = await runJob(io, client, { json, label: "backed up", unit: "vault", hints: HINTS });
  const made = job.result?.backup ?? NOTHING_MADE;
  const findings = await findingsOf(client, job);
  await report(io, made);
  if (vault === undefined) await tell(io, made.snapshot === undefined ? NOTHING_YET : `Backup ${made.snapshot} is complete`);
  await tellFindings(io, findings);
  if (options.to !== undefined) await mirror(io, client, options.to);
  if (made.behind > 0) throw new CliError(`${plural(made.behind, "vault")} of ${vaultsOf(made)} not backed up`, AGAIN);
  return EXIT.ok;
}

const NOTHING_MADE: BackedUp = { made: 0, unchanged: 0, behind: 0, rows: 0, bytes: 0, contents: 0 };

const HINTS = {
  not_restored: "The database is new, but the bucket has backups of another one. Restore them first: `item-vault admin restore`.",
};

const NOTHING_YET = "No backup was made: the service has had neither vaults nor tokens";

const AGAIN = {
  exit: "unavailable",
  hint: "The backup has their newest snapshots before. Run the command again: only what has changed is backed up.",
} as const;

const vaultsOf = ({ made, unchanged, behind }: BackedUp): number => made + unchanged + behind;

async function report(io: Io, backedUp: BackedUp): Promise<void> {
  const { made, unchanged, rows, bytes, contents } = backedUp;
  const counts = `unchanged: ${unchanged} of ${plural(vaultsOf(backedUp), "vault")}`;
  const size = `${plural(rows, "row")} (${plural(bytes, "byte")})`;
  await tell(io, `Backed up ${plural(made, "vault")} with ${size}, and looked at ${plural(contents, "content")}; ${counts}`);
}

/** Prints the findings, with advice. */
async function tellFindings(io: Io, findings: readonly Finding[]): Promise<void> {
  for (const finding of findings) await tell(io, lineOf(finding));
  if (findings.some(({ kind }) => kind === "content_missing")) await tell(io, LOST_CONTENTS);
}

const LOST_CONTENTS =
  'The bucket FILES has lost contents. Those of older backups are taken from there: "item-vault admin verify --repair".';

const text = (value: number | undefined): string => String(value ?? "");

async function list(io: Io, client: Client, vault: string | undefined, format: string | undefined): Promise<void> {
  const { data: snapshots } =
    vault === undefined
      ? await client.call("GET /v1/admin/backups")
      : await client.call("GET /v1/admin/backups/vaults/{vault}", { path: { vault } });
  // The rows of a full backup are in the snapshots of its vaults. The rows of the registry alone would be mistaken for all rows.
  const shown = vault === undefined ? (["vaults"] as const) : (["rows", "bytes"] as const);
  const rows = snapshots.map((each) => [
    String(each.number),
    each.createdAt ?? `(${each.broken})`,
    ...shown.map((name) => text(each[name])),
  ]);
  const heads = ["NUMBER", "CREATED", ...shown.map((name) => name.toUpperCase())];
  const table = (columns: number | undefined) => tableOf(heads, rows, columns);
  await show(io, format, { json: snapshots, table });
}

async function mirror(io: Io, client: Client, folder: string, dryRun = false): Promise<void> {
  const lacking = await listLacking(client, folder);
  const describe = (objects: readonly StoredObject[]) =>
    `${plural(objects.length, "object")} (${plural(sizeOf(objects), "byte")}) to ${folder}`;
  if (dryRun) {
    await tell(io, `Would copy ${describe(lacking)}`);
    return;
  }
  const copied: StoredObject[] = [];
  const progress = startProgress(io, "copied", sizeOf(lacking));
  try {
    for (const object of lacking) {
      if (await copyObject(client, folder, object)) copied.push(object);
      progress.add(object.size);
    }
  } finally {
    progress.end();
  }
  await tell(io, `Copied ${describe(copied)}`);
}

const sizeOf = (objects: readonly StoredObject[]): number => objects.reduce((sum, { size }) => sum + size, 0);

/** `admin backup --vaults`: the vaults that can be restored from the backup bucket (contract 21.15). */

/** Writes the vaults as a list, and unreadable snapshots on stderr. */
async function showBackedUpVaults(io: Io, client: Client, format: string | undefined): Promise<void> {
  const vaults: BackedUpVaults["vaults"] = [];
  for (let after: string | undefined = ""; after !== undefined;) {
    const { data: page }: Answer<"GET /v1/admin/backups/vaults"> = await client.call("GET /v1/admin/backups/vaults", {
      query: { after },
    });
    vaults.push(...page.vaults);
    after = page.next;
  }
  const rows = vaults.map(({ id, name = "", snapshot = "", createdAt = "", items = "" }) => [
    id,
    name,
    String(snapshot),
    createdAt,
    String(items),
  ]);
  const table = (columns: number | undefined) => tableOf(["ID", "NAME", "SNAPSHOT", "CREATED", "ITEMS"], rows, columns);
  await show(io, format, { json: vaults, table });
  for (const { id, snapshot, skipped } of vaults) {
    for (const { snapshot: number, reason } of skipped)
      await tell(io, `${id}: snapshot ${number} cannot be decrypted: ${reason}`);
    if (snapshot === undefined && skipped.length === 0) await tell(io, `${id}: no snapshot is finished`);
  }
}
