import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../d1/database.ts";
import { DEPLOYMENT_ID } from "../d1/deployment.ts";
import { into } from "../tables/statements.ts";

/** The figures of the last nightly backup, for /health and /metrics: rows of the table `counters`. */

export interface BackupFigures {
  /** Time of writing its registry, in Unix milliseconds; absent without a backup. */
  readonly at: number | undefined;
  /** Its vaults, and the bytes of the parts of their backups. */
  readonly vaults: number;
  readonly bytes: number;
  /** Vaults that had changed and had no backup of the run. */
  readonly behind: number;
  /** The number of its registry. */
  readonly number: number | undefined;
  /** Creation time of the oldest vault; absent without vaults, and if there is a backup. */
  readonly oldestVault?: number | undefined;
  /** True if the database has the id of its deployment. */
  readonly hasDeployment?: boolean;
}

const SQL = {
  record: `
    INSERT ${into("counters")} SELECT 'backup_' || key, value FROM json_each(?1) WHERE true
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  load: "SELECT substr(name, 8) AS name, value FROM counters WHERE name BETWEEN 'backup_' AND 'backup_~'",
  oldest: `
    SELECT min(created_at) AS at, ${DEPLOYMENT_ID} IS NOT NULL AS named FROM vaults
    WHERE NOT EXISTS (SELECT 1 FROM counters WHERE name = 'backup_at')`,
};

type Recorded = Pick<BackupFigures, "vaults" | "bytes" | "behind"> & { readonly number: number };

/** Records a backup whose registry was just written. A full database does not fail the backup. Fails with `unavailable`. */
export async function recordBackup({ db, now }: Store, { vaults, bytes, behind, number }: Recorded): Promise<Result<undefined>> {
  const values = JSON.stringify({ at: now, vaults, bytes, behind, number });
  const written = await runBatch(db, db.prepare(SQL.record).bind(values));
  return written.ok || written.failure.kind === "database_full" ? ok(undefined) : written;
}

export interface FigureRow {
  readonly name: string;
  readonly value: number;
}

/** Returns the statement that reads the figures, without `oldestVault` and `hasDeployment`. */
export const figuresStatement = (db: D1Database): D1PreparedStatement => db.prepare(SQL.load);

export function figuresOf(rows: readonly FigureRow[]): BackupFigures {
  const figures = Object.fromEntries(rows.map(({ name, value }) => [name, value])) as Partial<
    Record<keyof BackupFigures, number>
  >;
  const { at, vaults = 0, bytes = 0, behind = 0, number } = figures;
  return { at, vaults, bytes, behind, number };
}

/** Loads the figures in one D1 call. Fails with `unavailable`. */
export async function loadBackupFigures(db: D1Database): Promise<Result<BackupFigures>> {
  const read = await runBatch<[FigureRow, { at: number | null; named: number }]>(
    db,
    figuresStatement(db),
    db.prepare(SQL.oldest),
  );
  if (!read.ok) return read;
  const [rows, [oldest]] = read.value;
  return ok({ ...figuresOf(rows), oldestVault: oldest?.at ?? undefined, hasDeployment: oldest?.named === 1 });
}
