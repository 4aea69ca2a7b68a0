import { type Client, ItemVaultError } from "@item-vault/client";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError, EXIT } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { printable } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { plural } from "../../frame/plural.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { type Finding, lineOf } from "../verify/service.ts";
import { type Restoration, type RestoreBody, restoreAll, sendRestore } from "./service.ts";
import type { RESTORE_OPTIONS } from "./options.ts";
import { copyFolder, describeSkipped } from "./copy-folder.ts";

/**
 * `admin restore`. It may be killed anywhere and run again: it continues. Out: the exit code, `found` when something is not brought back.
 */
export async function restore({ io, options, admin: connect }: Call<typeof RESTORE_OPTIONS>): Promise<number> {
  const { vault: name, item, snapshot: number, overwrite = false, from, yes, "dry-run": dryRun = false } = options;
  if (name === undefined && (item !== undefined || overwrite))
    throw new CliError("--item and --overwrite need --vault", { exit: "usage" });
  const snapshot = number === undefined ? {} : { snapshot: numberOf(number) };
  const client = await connect();
  const vault = name === undefined ? undefined : await adminVaultIdOf(client, name);
  if (from !== undefined && !(await copyFolder({ io, client, folder: from }, { vault, ...snapshot, yes, dryRun })))
    return EXIT.ok;
  const registry = vault === undefined ? await planOf(client, snapshot, dryRun) : undefined;
  if (registry instanceof ItemVaultError) throw registry;
  const wanted = registry
    ? await tellAll(io, registry)
    : [{ vault, ...(item !== undefined && { item }), ...snapshot, overwrite }];
  const ofNoVault = dryRun ? await tellFindings(io, registry?.findings) : 0;
  const { plans, refused, lost } = await showPlans(io, client, wanted, { whole: vault === undefined, dryRun });
  if (refused.length > 0 && plans.length === 0) throw nothingRestored(refused, dryRun);
  if (dryRun) return refused.length + lost + ofNoVault > 0 ? EXIT.found : EXIT.ok;
  await confirm(
    io,
    vault === undefined
      ? `Restore ${plural(plans.length, "vault")}${refused.length > 0 ? `, and leave out ${refused.length}` : ""}?`
      : `Restore ${item === undefined ? "the vault" : `the Item ${printable(item)} of`} ${vault}?`,
    yes,
  );
  const before = vault === undefined ? await restoreOne(io, client, snapshot) : 0;
  const damaged = before + (await run(io, client, plans));
  if (item === undefined) await tellNext(io, vault === undefined, plans.length);
  else await tell(io, `Restored the Item ${item}`);
  if (refused.length > 0) await tell(io, REFUSED);
  if (damaged > 0) await tell(io, NOT_BROUGHT_BACK);
  return refused.length + damaged > 0 ? EXIT.found : EXIT.ok;
}

/** What a command answers that is refused wholly. */
function nothingRestored(refused: readonly Refused[], dryRun: boolean): CliError {
  const [{ status }] = refused as [Refused];
  const hint = refused.every((one) => one.status === status) ? HINTS[status] : undefined;
  return new CliError(dryRun ? "Nothing would be restored" : "Nothing was restored", {
    exit: hint !== undefined && status === 404 ? "notFound" : "conflict",
    hint: hint ?? "Try an older snapshot with --snapshot.",
  });
}

/** A vault that is not restored, and why. */
type Refused = Pick<ItemVaultError, "status" | "message">;

const NO_ROOM: Refused = { status: 507, message: "the database has no room for its rows" };

const HINTS: Readonly<Record<number, string>> = {
  404: "List what there is: `item-vault admin backup --list`.",
  507: "Delete what is not needed, or raise DATABASE_LIMIT_MB when the plan of the account allows more.",
};

const REFUSED = "The vaults that were refused above were left out. Try older snapshots of them: --vault and --snapshot.";

const NOT_BROUGHT_BACK =
  "What is named above does not open in this snapshot. Everything else was restored. " +
  "An older snapshot may have it: --vault, --item, --snapshot.";

/** Names what does not open. Out: how much it is. */
async function tellFindings(io: Io, findings: readonly Finding[] = []): Promise<number> {
  for (const finding of findings) await tell(io, printable(lineOf(finding)));
  return findings.length;
}

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new CliError("--snapshot takes the number of a snapshot", { exit: "usage" });
  return Number(text);
}

/** The vaults of the newest registry, or of the one with a number. */
async function tellAll(io: Io, registry: Restoration): Promise<RestoreBody[]> {
  for (const { snapshot: number, reason } of registry.skipped ?? []) await tell(io, describeSkipped(number, reason));
  await tell(io, `Backup ${registry.snapshot} of ${registry.takenAt} has ${plural(registry.vaults!.length, "vault")}`);
  return registry.vaults!.map((one) => ({ vault: one.id, snapshot: one.snapshot }));
}

/**
 * Tells what would become of each vault. Out: what is to be restored, the refusals, and with `dryRun` how much does not
 * open. In: whether all vaults are restored: then one that is there was restored before the command was interrupted, and stays as it is.
 */
async function showPlans(
  io: Io,
  client: Client,
  wanted: readonly RestoreBody[],
  { whole, dryRun }: { readonly whole: boolean; readonly dryRun: boolean },
): Promise<{ readonly plans: readonly RestoreBody[]; readonly refused: readonly Refused[]; readonly lost: number }> {
  const plans: RestoreBody[] = [];
  const refused: Refused[] = [];
  let lost = 0;
  for (const plan of wanted) {
    const found = await planOf(client, plan, dryRun);
    const isThere = found instanceof ItemVaultError ? found.kind === "backup_newer" : found.existing === "older";
    if (whole && isThere) {
      await tell(io, `${plan.vault!}: is there`);
      continue;
    }
    const refusal = found instanceof ItemVaultError ? found : found.room === false ? NO_ROOM : undefined;
    if (refusal) refused.push(refusal);
    else plans.push(plan);
    const words = refusal ? `refused: ${printable(refusal.message)}` : describe(found as Restoration);
    await tell(io, `${plan.vault!}: ${words}`);
    if (dryRun && !(found instanceof ItemVaultError)) lost += await tellFindings(io, found.findings);
  }
  return { plans, refused, lost };
}

/** In: whether everything is opened that the restore opens. */
async function planOf(client: Client, plan: RestoreBody, whole: boolean): Promise<Restoration | ItemVaultError> {
  try {
    const first = await sendRestore(client, { ...plan, dryRun: true });
    const findings = [...(first.findings ?? [])];
    for (let cursor = whole ? first.next : undefined; cursor !== undefined;) {
      const slice = await sendRestore(client, { ...plan, dryRun: true, cursor });
      findings.push(...(slice.findings ?? []));
      cursor = slice.next;
    }
    return { ...first, findings };
  } catch (error) {
    if (error instanceof ItemVaultError && [404, 409, 422].includes(error.status)) return error;
    throw error;
  }
}

const EXISTING = { none: "", deleted: ", which was deleted", older: ", which is there", newer: ", which is there and newer" };

const describe = ({ snapshot, takenAt, items = 0, existing = "none" }: Restoration): string =>
  `snapshot ${snapshot} of ${takenAt} with ${plural(items, "Item")}${EXISTING[existing]}`;

/** Out: how much does not open. */
async function run(io: Io, client: Client, plans: readonly RestoreBody[]): Promise<number> {
  let lost = 0;
  const progress = startProgress(
    io,
    "restored",
    plans.length,
    (done) => `${Math.floor(done)} of ${plural(plans.length, "vault")}`,
  );
  try {
    for (const [index, plan] of plans.entries()) {
      const onStep = ({ done, total }: Restoration) => progress.set(index + done / total, plans.length);
      lost += await restoreOne(io, client, plan, onStep);
    }
    return lost;
  } finally {
    progress.end();
  }
}

/**
 * Restores, and names what does not open. Out: how much that is. A dry run afterwards tells it and not the answers of the restore, because
 * one of them may be lost: the request is then sent again, and goes on after what the lost answer named.
 */
async function restoreOne(
  io: Io,
  client: Client,
  plan: RestoreBody,
  onStep: (step: Restoration) => void = () => undefined,
): Promise<number> {
  const { snapshot } = await restoreAll(client, plan, onStep);
  // `overwrite`, because a client may have changed the vault since.
  const again = plan.vault === undefined ? { snapshot } : { ...plan, snapshot, overwrite: true };
  const opened = await planOf(client, again, true);
  if (opened instanceof ItemVaultError) throw opened;
  return tellFindings(io, opened.findings);
}

async function tellNext(io: Io, whole: boolean, vaults: number): Promise<void> {
  await tell(io, `Restored ${plural(vaults, "vault")}`);
  if (whole) await tell(io, "No token was restored: issue new ones with `item-vault token create`.");
  await tell(io, "Webhooks that the service does not know any more are paused: resume them when their receivers are ready.");
  await tell(io, "Check the result with `item-vault admin verify`.");
}
