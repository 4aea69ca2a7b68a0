import type { Finding } from "@item-vault/client";
import { adminVaultIdOf } from "../../api/find.ts";
import type { Call } from "../../frame/command.ts";
import { CliError, EXIT } from "../../frame/failure.ts";
import { requireFolder } from "../../frame/paths.ts";
import { plural } from "../../frame/printable.ts";
import { confirm } from "../../frame/prompt.ts";
import { show, tell } from "../../output/format.ts";
import { tableOf } from "../../output/table.ts";
import { runJob } from "../jobs/run-job.ts";
import { type Checked, findingsOf } from "../jobs/service.ts";
import { type Found, NOTHING } from "./service.ts";
import type { VERIFY_OPTIONS } from "./table.ts";

type VerifyCall = Call<typeof VERIFY_OPTIONS>;

/** `admin verify`. Returns the exit code: `found` if a fault is left unrepaired. */
export async function verify(call: VerifyCall): Promise<number> {
  const { io, options } = call;
  const { folder, backup } = options;
  const repairs = options.repair === true && options["dry-run"] !== true;
  if (options.repair && (backup || folder !== undefined))
    throw new CliError("Backups are not repaired", { exit: "usage", hint: "Take a new one: `item-vault admin backup`." });
  const acceptsLoss = options["accept-loss"] === true;
  if (acceptsLoss && !options.repair) throw new CliError("--accept-loss needs --repair", { exit: "usage" });
  if (folder !== undefined) await requireFolder("--folder", folder);
  const question = acceptsLoss ? "Repair what can be repaired, and accept the loss of rows?" : "Repair what can be repaired?";
  if (repairs) await confirm(io, question, options.yes);
  const found = folder === undefined ? await verifyService(call, repairs) : await verifyFolder(folder);
  // Older backups that need a removed key are expected after a rotation, and are deleted when they expire.
  const expected = options.vault === undefined ? found.findings.filter(({ kind }) => kind === "key_removed") : [];
  const findings = found.findings.filter((one) => !expected.includes(one));
  await show(io, options.format, { json: found, table: (columns) => tableOf(HEADING, findings.map(rowOf), columns) });
  const left = findings.filter(({ repaired }) => repaired !== true);
  await tell(io, `Checked ${describe(found.checked)}.`);
  if (folder !== undefined) await tell(io, WITHOUT_KEYS);
  for (const key of new Set(expected.map(({ id }) => id))) {
    const snapshots = expected.filter(({ id }) => id === key).length;
    await tell(io, `${plural(snapshots, "older snapshot")} cannot be decrypted without the removed root key ${key}.`);
  }
  await tell(io, sumUp(findings, left));
  const hint = folder === undefined ? left.map(hintOf).find((text) => text !== undefined) : undefined;
  if (hint !== undefined) await tell(io, hint);
  return left.length === 0 ? EXIT.ok : EXIT.found;
}

const DAMAGED_BACKUP = 'A backup that reads everything again replaces a damaged one: run "item-vault admin backup --full".';
const LOST_CONTENTS = 'Contents that FILES has lost are taken from the backups: run "item-vault admin verify --repair".';

const LOST_ITEMS =
  'Items were lost. A backup may have them: run "item-vault admin restore --vault VAULT --item ITEM" for each. ' +
  "When none can be restored, `--repair --accept-loss --vault VAULT` takes them out of the count.";
const LOST_ROWS = "Rows that belong to no vault were lost. `--repair --accept-loss` takes them out of the count.";

/** Returns advice for a finding that a repair by the same command does not remedy. */
function hintOf({ kind, table, repairable, repaired, detail }: Finding): string | undefined {
  if (kind === "part_wrong" || detail.startsWith("the newest backup")) return DAMAGED_BACKUP;
  if (table === "root_key_uses") return detail.includes("are missing") ? LOST_ROWS : undefined;
  if (kind === "item_lost" || (kind === "counter_wrong" && detail.includes("rows are missing"))) return LOST_ITEMS;
  return kind === "content_missing" && repairable && repaired === undefined ? LOST_CONTENTS : undefined;
}

const WITHOUT_KEYS =
  "Not checked, because that needs the root keys: whether manifests are authentic, and whether rows and contents open. " +
  "`item-vault admin verify --backup` checks the bucket.";

async function verifyService({ io, options, admin: connect }: VerifyCall, repair: boolean): Promise<Found> {
  const admin = await connect();
  const vaults = await Promise.all((options.vault ?? []).map((name) => adminVaultIdOf(admin, name)));
  const wanted = {
    kind: "verify" as const,
    quick: options.quick ?? false,
    backup: options.backup ?? false,
    repair,
    ...(repair && options["accept-loss"] && { acceptLoss: true as const }),
  };
  const found: Found = { findings: [], checked: { ...NOTHING } };
  for (const vault of vaults.length > 0 ? vaults : [undefined]) {
    const json = { ...wanted, ...(vault !== undefined && { vault }) };
    const job = await runJob(io, admin, { json, label: "checked", unit: "row" });
    found.findings.push(...(await findingsOf(admin, job)));
    for (const name of ["rows", "items", "contents", "bytes"] as const) found.checked[name] += job.result?.checked?.[name] ?? 0;
  }
  return found;
}

const verifyFolder = async (folder: string): Promise<Found> => (await import("./folder.ts")).checkFolder(folder);

const HEADING = ["KIND", "VAULT", "ITEM", "FILE", "RECORD", "REPAIR", "DETAIL"];

const rowOf = (found: Finding): string[] => {
  const { kind, vault = "", item = "", file = "", version, id = "", table = "", snapshot, detail } = found;
  const versioned = version === undefined ? item : `${item} ${version}`;
  const record = [table, id, snapshot === undefined ? "" : `snapshot ${snapshot}`].filter(Boolean).join(" ");
  return [kind, vault, versioned, file, record, repairOf(found), detail];
};

function repairOf({ repairable, repaired }: Finding): string {
  if (repaired !== undefined && repairable) return repaired ? "done" : "failed";
  return repairable ? "possible" : "";
}

const describe = ({ rows, items, contents, bytes }: Checked): string =>
  `${plural(rows, "row")}, ${plural(items, "item")} and ${plural(contents, "content")} (${(bytes / 1_000_000).toFixed(1)} MB)`;

function sumUp(findings: readonly Finding[], left: readonly Finding[]): string {
  if (findings.length === 0) return "Nothing is wrong.";
  const repaired = findings.length - left.length;
  const done = repaired > 0 ? `${repaired} repaired, ` : "";
  const possible = left.filter(({ repairable }) => repairable).length;
  return `${plural(findings.length, "finding")}: ${done}${left.length} left, of which --repair may repair ${possible}.`;
}
