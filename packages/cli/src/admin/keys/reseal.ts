import type { AdminVault, BrokenVault, Client, DataKey } from "@item-vault/client";
import { isId, onlyOne } from "../../api/find.ts";
import { CliError } from "../../frame/failure.ts";
import type { Io } from "../../frame/io.ts";
import { plural } from "../../frame/printable.ts";
import { show, tell } from "../../output/format.ts";
import { tableOf } from "../../output/table.ts";
import { runJob } from "../jobs/run-job.ts";
import type { Resealed } from "../jobs/service.ts";
import type { KeysCall } from "./table.ts";

/** A vault that can be resealed. A broken vault has no name, and a damaged vault may lack its keys (contract 13.18). */
type KeyedVault = AdminVault & { readonly dataKey: DataKey };

const isKeyed = (vault: AdminVault | BrokenVault): vault is KeyedVault => "name" in vault && vault.dataKey !== undefined;

const HEADINGS = ["ID", "NAME", "ITEMS", "RECORDS", "UNREADABLE"];

/**
 * `admin keys reseal`: gives vaults new keys, with one job after another, and continues interrupted work. A vault that is being resealed is
 * only finished, so the command can be run again. It is resealed again if its next keys were made before `--before` too. Vaults with newer
 * keys are left out.
 */
export async function run({ io, options, admin: connect }: KeysCall, names: readonly string[]): Promise<number | void> {
  if ((names.length === 0) !== (options.all === true))
    throw new CliError("admin keys reseal: name the vaults, or give --all", { exit: "usage" });
  const admin = await connect();
  const { data: listed } = await admin.call("GET /v1/admin/vaults");
  const before = timeOf(options.before);
  const chosen = names.length === 0 ? listed : names.map((name) => vaultOf(listed, name));
  const due = chosen.filter(
    ({ dataKey, reseal }) => reseal !== undefined || dataKey === undefined || Date.parse(dataKey.createdAt) < before,
  );
  const opening = due.filter(isKeyed);
  for (const { id } of due.filter((vault) => !isKeyed(vault)))
    await tell(io, `The vault ${id} cannot be decrypted and is left out`);
  if (options["dry-run"]) {
    const rows = opening.map(({ id, name, items }) => [id, name, String(items), "", ""]);
    await show(io, options.format, { json: opening, table: (columns) => tableOf(HEADINGS, rows, columns) });
    return tell(io, `Would give ${plural(opening.length, "vault")} new keys. Nothing was changed`);
  }
  const done: (KeyedVault & { readonly resealed: Resealed })[] = [];
  for (const vault of opening) done.push({ ...vault, resealed: await resealVault(io, admin, vault, before) });
  const rows = done.map(({ id, name, resealed: { items, rows: records, unreadable } }) =>
    [id, name, items, records, unreadable].map(String),
  );
  await show(io, options.format, {
    json: done.map(({ id, name, resealed }) => ({ id, name, ...resealed })),
    table: (columns) => tableOf(HEADINGS, rows, columns),
  });
  const unreadable = done.reduce((sum, { resealed }) => sum + resealed.unreadable, 0);
  if (unreadable > 0) await tell(io, `Opened under neither key, and left as they are: ${plural(unreadable, "record")}`);
  return unreadable > 0 || opening.length < due.length ? 1 : undefined;
}

const vaultOf = (vaults: readonly (AdminVault | BrokenVault)[], name: string): AdminVault | BrokenVault =>
  onlyOne(
    vaults.filter((vault) => (isId(name) ? vault.id === name.toLowerCase() : "name" in vault && vault.name === name)),
    "vault",
    name,
  );

/** Without a time every vault is due. */
function timeOf(before: string | undefined): number {
  const time = before === undefined ? Infinity : Date.parse(before);
  if (Number.isNaN(time)) throw new CliError("--before: is not a time such as 2026-11-22T09:30:00Z", { exit: "usage" });
  return time;
}

async function resealVault(io: Io, admin: Client, vault: KeyedVault, before: number): Promise<Resealed> {
  const { id, name, dataKey, reseal } = vault;
  // The service first finishes a running reseal, then replaces the keys with this id if the vault has them.
  const isFinished = reseal !== undefined && !(before < Infinity && Date.parse(dataKey.createdAt) < before);
  const json = { kind: "reseal" as const, vault: id, dataKey: isFinished ? reseal.replaces : dataKey.id };
  const job = await runJob(io, admin, { json, label: name, unit: "Item" });
  return job.result?.resealed ?? { items: 0, rows: 0, unreadable: 0 };
}
