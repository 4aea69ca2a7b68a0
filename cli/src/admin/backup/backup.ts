import type { Client } from "@item-vault/client";
import { request } from "../../api/answers.ts";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError, EXIT, failureOf } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { printable } from "../../frame/printable.ts";
import { plural } from "../../frame/plural.ts";
import { show, tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { tableOf } from "../../output/table.ts";
import { lineOf } from "../verify/service.ts";
import { copyObject, listLacking } from "./mirror.ts";
import { showBackedUpVaults } from "./vaults.ts";
import { BACKUPS, backUpRegistry, backUpVault, type VaultStep } from "./service.ts";
import type { BACKUP_OPTIONS } from "./options.ts";

/** `admin backup`. It may be killed anywhere and run again: it continues. Out: the exit code, `found` when rows did not open. */
export async function backup({ io, options, admin: connect }: Call<typeof BACKUP_OPTIONS>): Promise<number> {
  const client = await connect();
  if (options.vaults) {
    await showBackedUpVaults(io, client, options.format);
    return EXIT.ok;
  }
  const vault = options.vault === undefined ? undefined : await adminVaultIdOf(client, options.vault);
  if (options.list) {
    await list(io, client, vault, options.format);
    return EXIT.ok;
  }
  const steps = await backUpVaults(io, client, vault, { full: options.full, dryRun: options["dry-run"] });
  await report(io, steps, options["dry-run"]);
  let lost = 0;
  if (vault === undefined && !options["dry-run"]) {
    const { number, vaults, findings } = await backUpRegistry(client);
    await tell(io, `Backup ${number} has ${plural(vaults, "vault")}`);
    for (const finding of findings) await tell(io, printable(lineOf(finding)));
    if (findings.length > 0) await tell(io, OF_NO_VAULT);
    lost = findings.length;
  }
  if (options.to !== undefined) await mirror(io, client, options.to, options["dry-run"]);
  return lost > 0 || steps.some((step) => step.findings.length > 0) ? EXIT.found : EXIT.ok;
}

const AGAIN = { exit: "unavailable", hint: "Run the command again: the others are backed up." } as const;

interface Snapshot {
  readonly number: number;
  readonly createdAt?: string;
  readonly vaults?: number;
  readonly rows?: number;
  readonly bytes?: number;
  readonly broken?: string;
}

const text = (value: number | undefined): string => String(value ?? "");

async function list(io: Io, client: Client, vault: string | undefined, format: string | undefined): Promise<void> {
  const path = vault === undefined ? BACKUPS : `${BACKUPS}/vaults/${vault}`;
  const snapshots = await request<Snapshot[]>(client, "GET", path);
  const rows = snapshots.map(({ number, createdAt, broken, vaults, rows: count, bytes }) => [
    String(number),
    createdAt ?? `(${broken})`,
    text(vaults),
    text(count),
    text(bytes),
  ]);
  const table = (columns: number | undefined) => tableOf(["NUMBER", "CREATED", "VAULTS", "ROWS", "BYTES"], rows, columns);
  await show(io, format, { json: snapshots, table });
}

/**
 * Backs up one vault or all, one after another. Out: the last answer for each that still exists. A vault that fails does not keep the others
 * waiting: at the end the command fails and names it.
 */
async function backUpVaults(
  io: Io,
  client: Client,
  vault: string | undefined,
  options: { readonly full?: boolean | undefined; readonly dryRun?: boolean | undefined },
): Promise<VaultStep[]> {
  const vaults = vault === undefined ? await request<{ id: string }[]>(client, "GET", "/v1/admin/vaults") : [{ id: vault }];
  const progress = startProgress(io, "backed up", vaults.length, (done, total) => `${done} of ${plural(total!, "vault")}`);
  try {
    const steps: VaultStep[] = [];
    const failed: string[] = [];
    for (const [index, { id }] of vaults.entries()) {
      progress.set(index, vaults.length);
      try {
        const step = await backUpVault(client, id, options, () => progress.set(index, vaults.length));
        if (step) steps.push(step);
      } catch (error) {
        const failure = failureOf(error);
        if (!failure || failure.exit === "denied" || vaults.length === 1) throw error;
        failed.push(`${id}: ${failure.message}`);
      }
    }
    if (failed.length > 0)
      throw new CliError(`Of ${plural(vaults.length, "vault")} these were not backed up:\n${failed.join("\n")}`, AGAIN);
    return steps;
  } finally {
    progress.end();
  }
}

async function report(io: Io, steps: readonly VaultStep[], dryRun = false): Promise<void> {
  const sum = (name: "rows" | "bytes" | "contents" | "missing") => steps.reduce((total, step) => total + step[name], 0);
  const unchanged = steps.filter(({ state }) => state === "unchanged").length;
  const counts = `unchanged: ${unchanged} of ${plural(steps.length, "vault")}`;
  if (dryRun) {
    await tell(
      io,
      `Would read about ${plural(sum("rows"), "Item or change", "Items or changes")}, and look at ${plural(sum("contents"), "File")}; ${counts}`,
    );
    return;
  }
  await tell(
    io,
    `Read ${plural(sum("rows"), "row")} (${plural(sum("bytes"), "byte")}) and looked at ${plural(sum("contents"), "content")}; ${counts}`,
  );
  const findings = steps.flatMap(({ findings: found }) => found);
  for (const finding of findings) await tell(io, printable(lineOf(finding)));
  if (findings.length > 0) await tell(io, DID_NOT_OPEN);
  if (sum("missing") > 0)
    await tell(io, `Missing in the bucket FILES: ${plural(sum("missing"), "content")} of Files. Run "item-vault admin verify"`);
}

const OF_NO_VAULT =
  "What is named above belongs to no vault, and the backup has it as it is. A token that does not open is refused: revoke it, and issue another.";

const DID_NOT_OPEN =
  "The rows named above did not open when the backup read them. Restore them from an older snapshot: " +
  '"item-vault admin restore --vault VAULT --item ID --snapshot N". When they open again, "item-vault admin backup --full" reads them again.';

async function mirror(io: Io, client: Client, folder: string, dryRun = false): Promise<void> {
  const lacking = await listLacking(client, folder);
  const bytes = lacking.reduce((sum, { size }) => sum + size, 0);
  const objects = `${plural(lacking.length, "object")} (${plural(bytes, "byte")}) to ${folder}`;
  if (dryRun) {
    await tell(io, `Would copy ${objects}`);
    return;
  }
  const progress = startProgress(io, "copied", bytes);
  try {
    for (const object of lacking) {
      await copyObject(client, folder, object);
      progress.add(object.size);
    }
  } finally {
    progress.end();
  }
  await tell(io, `Copied ${objects}`);
}
