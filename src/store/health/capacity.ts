import { LIMITS } from "../../model/limits.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import type { Settings } from "../../settings.ts";
import { runBatch } from "../d1/database.ts";
import { type DatabaseLevel, databaseLevel, databaseSize } from "../d1/size.ts";

/** The check of /health on the size of the database. */

const SQL = "SELECT count(*) AS vaults, total(coalesce(quota_bytes, ?1)) AS quotas FROM vaults";

const MEGABYTE = 1_000_000;
const inMegabytes = (bytes: number): string => (bytes / MEGABYTE).toLocaleString("en", { maximumFractionDigits: 1 });

/** The public meaning of each level, without figures. */
const MEANINGS = {
  ok: { status: "ACTIVE", message: "The database has free space" },
  warning: { status: "WARNING", message: "The database is nearly full" },
  archive: { status: "WARNING", message: "The database is nearly full" },
  refuse: { status: "ERROR", message: "The database is full: writes that grow are refused" },
  shrink: {
    status: "ERROR",
    message: "The database is full: only deletions and writes that make an Item smaller are accepted",
  },
} as const satisfies Readonly<Record<DatabaseLevel, object>>;

export interface Capacity {
  readonly status: "ACTIVE" | "WARNING" | "ERROR";
  readonly message: string;
  /** The figures in words, for the admin. */
  readonly detail: string;
}

/** Returns the level in words. Fails with `unavailable`. */
export async function probeCapacity(db: D1Database, settings: Settings): Promise<Result<Capacity>> {
  const read = await runBatch<[{ vaults: number; quotas: number }]>(db, db.prepare(SQL).bind(LIMITS.vaultBytes));
  if (!read.ok) return { ...read, ...fail("unavailable", "The database does not answer") };
  const [{ vaults, quotas } = { vaults: 0, quotas: 0 }] = read.value[0];
  const used = `It uses ${inMegabytes(databaseSize() ?? 0)} of ${inMegabytes(settings.databaseLimit)} MB`;
  const detail = `${used}, and the quotas of ${vaults} vaults add up to ${inMegabytes(quotas)} MB`;
  return ok({ ...MEANINGS[databaseLevel(settings)], detail });
}
