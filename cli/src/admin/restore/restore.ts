import { type Client, ItemVaultError } from "@item-vault/client";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { printable } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { plural } from "../../frame/plural.ts";
import { tell } from "../../output/format.ts";
import { startProgress } from "../../output/progress.ts";
import { type Restoration, type RestoreBody, restoreAll, sendRestore } from "./service.ts";
import type { RESTORE_OPTIONS } from "./table.ts";
import { copyFolder } from "./copy-folder.ts";

/** `admin restore`. It may be killed anywhere and run again: it continues. */
export async function restore({ io, options, admin: connect }: Call<typeof RESTORE_OPTIONS>): Promise<void> {
  const { vault: name, item, snapshot: number, overwrite = false, from, yes, "dry-run": dryRun = false } = options;
  if (name === undefined && (number !== undefined || item !== undefined || overwrite))
    throw new CliError("--item, --snapshot and --overwrite need --vault", { exit: "usage" });
  const snapshot = number === undefined ? {} : { snapshot: numberOf(number) };
  const client = await connect();
  const vault = name === undefined ? undefined : await adminVaultIdOf(client, name);
  if (from !== undefined && !(await copyFolder({ io, client, folder: from }, { vault, ...snapshot, yes, dryRun }))) return;
  const wanted =
    vault === undefined ? await planAll(io, client) : [{ vault, ...(item !== undefined && { item }), ...snapshot, overwrite }];
  const { plans, refused } = await showPlans(io, client, wanted, vault === undefined);
  if (dryRun) return;
  if (refused > 0) throw new CliError("Nothing was restored", { exit: "conflict", hint: "Restore single vaults with --vault." });
  await confirm(
    io,
    vault === undefined
      ? `Restore ${plural(plans.length, "vault")}?`
      : `Restore ${item === undefined ? "the vault" : `the Item ${printable(item)} of`} ${vault}?`,
    yes,
  );
  if (vault === undefined) await restoreAll(client, {}, () => undefined);
  await run(io, client, plans);
  if (item !== undefined) return tell(io, `Restored the Item ${item}`);
  await tellNext(io, vault === undefined, plans.length);
}

function numberOf(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new CliError("--snapshot takes the number of a snapshot", { exit: "usage" });
  return Number(text);
}

/** The vaults of the newest registry. */
async function planAll(io: Io, client: Client): Promise<RestoreBody[]> {
  const registry = await sendRestore(client, { dryRun: true });
  await tell(io, `Backup ${registry.snapshot} of ${registry.takenAt} has ${plural(registry.vaults!.length, "vault")}`);
  return registry.vaults!.map(({ id, snapshot }) => ({ vault: id, snapshot }));
}

/**
 * Tells what would become of each vault. Out: what is to be restored, and how many vaults are refused. In: whether all vaults are
 * restored: then one that is there was restored before the command was interrupted, and stays as it is.
 */
async function showPlans(
  io: Io,
  client: Client,
  wanted: readonly RestoreBody[],
  whole: boolean,
): Promise<{ readonly plans: readonly RestoreBody[]; readonly refused: number }> {
  const plans: RestoreBody[] = [];
  let refused = 0;
  for (const plan of wanted) {
    const found = await planOf(client, plan);
    const isThere = found instanceof ItemVaultError ? found.kind === "backup_newer" : found.existing === "older";
    if (whole && isThere) await tell(io, `${plan.vault!}: is there`);
    else if (found instanceof ItemVaultError) {
      refused++;
      await tell(io, `${plan.vault!}: refused: ${printable(found.message)}`);
    } else {
      plans.push(plan);
      await tell(io, `${plan.vault!}: ${describe(found)}`);
    }
  }
  return { plans, refused };
}

async function planOf(client: Client, plan: RestoreBody): Promise<Restoration | ItemVaultError> {
  try {
    return await sendRestore(client, { ...plan, dryRun: true });
  } catch (error) {
    if (error instanceof ItemVaultError && [404, 409, 422].includes(error.status)) return error;
    throw error;
  }
}

const EXISTING = { none: "", deleted: ", which was deleted", older: ", which is there", newer: ", which is there and newer" };

const describe = ({ snapshot, takenAt, items = 0, existing = "none" }: Restoration): string =>
  `snapshot ${snapshot} of ${takenAt} with ${plural(items, "Item")}${EXISTING[existing]}`;

async function run(io: Io, client: Client, plans: readonly RestoreBody[]): Promise<void> {
  const progress = startProgress(
    io,
    "restored",
    plans.length,
    (done) => `${Math.floor(done)} of ${plural(plans.length, "vault")}`,
  );
  try {
    for (const [index, plan] of plans.entries()) {
      const onStep = ({ done, total }: Restoration) => progress.set(index + done / total, plans.length);
      await restoreAll(client, plan, onStep);
    }
  } finally {
    progress.end();
  }
}

async function tellNext(io: Io, whole: boolean, vaults: number): Promise<void> {
  await tell(io, `Restored ${plural(vaults, "vault")}`);
  if (whole) await tell(io, "No token was restored: issue new ones with `item-vault token create`.");
  await tell(io, "Webhooks that the service does not know any more are paused: resume them when their receivers are ready.");
  await tell(io, "Check the result with `item-vault admin verify`.");
}
