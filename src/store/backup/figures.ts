import { ok, type Result } from "../../model/result.ts";
import { runBatch, type Store } from "../database.ts";
import type { RunningRegistry } from "./registry-state.ts";

/** What the last backup of everything was: rows of the table `counters`, for /health and /metrics. */

export interface BackupFigures {
  /** When its registry was written: Unix milliseconds; absent without a backup. */
  readonly at: number | undefined;
  /** Its vaults, and the bytes of the parts of their snapshots. */
  readonly vaults: number;
  readonly bytes: number;
  /** Vaults that had changed and had no snapshot of the run. */
  readonly behind: number;
  /** When the oldest vault was created; absent without vaults. Only where there is no backup. */
  readonly oldestVault?: number | undefined;
}

const NAMES = { at: "backup_at", vaults: "backup_vaults", bytes: "backup_bytes", behind: "backup_behind" } as const;

const SQL = {
  record: `
    INSERT INTO counters (name, value) SELECT key, value FROM json_each(?1) WHERE true
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  load: `SELECT name, value FROM counters WHERE name IN (${Object.values(NAMES)
    .map((name) => `'${name}'`)
    .join(", ")})`,
  oldest: `SELECT min(created_at) AS at FROM vaults WHERE NOT EXISTS (SELECT 1 FROM counters WHERE name = '${NAMES.at}')`,
};

/** Records a backup whose registry was just written. Errors: `unavailable`, `database_full`. */
export async function recordBackup(
  { db, now }: Store,
  { snapshots, bytes, behind }: Pick<RunningRegistry, "snapshots" | "bytes" | "behind">,
): Promise<Result<undefined>> {
  const values = { [NAMES.at]: now, [NAMES.vaults]: snapshots.length, [NAMES.bytes]: bytes, [NAMES.behind]: behind };
  const written = await runBatch(db, db.prepare(SQL.record).bind(JSON.stringify(values)));
  return written.ok ? ok(undefined) : written;
}

/** Loads the figures in one D1 call. Errors: `unavailable`. */
export async function loadBackupFigures(db: D1Database): Promise<Result<BackupFigures>> {
  const read = await runBatch<[{ name: string; value: number }, { at: number | null }]>(
    db,
    db.prepare(SQL.load),
    db.prepare(SQL.oldest),
  );
  if (!read.ok) return read;
  const values = new Map(read.value[0].map(({ name, value }) => [name, value]));
  const [vaults, bytes, behind] = [NAMES.vaults, NAMES.bytes, NAMES.behind].map((name) => values.get(name) ?? 0);
  const oldestVault = read.value[1][0]?.at ?? undefined;
  return ok({ at: values.get(NAMES.at), vaults: vaults!, bytes: bytes!, behind: behind!, oldestVault });
}
