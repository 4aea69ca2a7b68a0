import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Settings } from "../../settings.ts";
import { runBatch } from "../d1/database.ts";
import { type DatabaseLevel, databaseLevel, databaseSize, reachesLevel } from "../d1/size.ts";

/** The check of /health on the size of the database. */

const SQL = "SELECT count(*) AS vaults, total(coalesce(quota_bytes, ?1)) AS quotas FROM vaults";

const MEGABYTE = 1_000_000;
const inMegabytes = (bytes: number): string => (bytes / MEGABYTE).toLocaleString("en", { maximumFractionDigits: 1 });

/** The effect of a level, for the operator; absent when nothing has to be done. */
const EFFECTS: Readonly<Record<DatabaseLevel, string | undefined>> = {
  ok: undefined,
  warning: "it is nearly full",
  archive: "it is nearly full",
  refuse: "writes that grow are refused",
  shrink: "only deletions and writes that make an Item smaller are accepted",
};

export interface Capacity {
  readonly status: "ACTIVE" | "WARNING";
  readonly message: string;
}

/** Out: the figures in words. Errors: `database_full`, with the same words; `unavailable`. */
export async function probeCapacity(db: D1Database, settings: Settings): Promise<Result<Capacity>> {
  const read = await runBatch<[{ vaults: number; quotas: number }]>(db, db.prepare(SQL).bind(LIMITS.vaultBytes));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const [{ vaults, quotas } = { vaults: 0, quotas: 0 }] = read.value[0];
  const level = databaseLevel(settings);
  const used = `The database takes ${inMegabytes(databaseSize() ?? 0)} of ${inMegabytes(settings.databaseLimit)} MB`;
  const effect = EFFECTS[level] === undefined ? "" : `: ${EFFECTS[level]}`;
  const message = `${used}${effect}. The quotas of ${vaults} vaults add up to ${inMegabytes(quotas)} MB`;
  if (reachesLevel(settings, "refuse")) return fail("database_full", message);
  return ok({ status: level === "ok" ? "ACTIVE" : "WARNING", message });
}
