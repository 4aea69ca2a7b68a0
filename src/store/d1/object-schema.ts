/**
 * The schemas of the SQLite in each Durable Object. The version of a schema is the number of its applied migrations. As with D1, a released
 * migration is never edited, and a release only expands the schema (docs/design/tables.md).
 */

/**
 * The tables of the operator, which runs jobs (store/jobs/job-rows.ts). `data_format` is that of the release that wrote `data`.
 * Data too long for a row continues in `job_data`. `steps` counts the kept steps. Times are Unix milliseconds.
 */
export const OPERATOR_MIGRATIONS: readonly string[] = [
  `CREATE TABLE jobs (
    id TEXT NOT NULL PRIMARY KEY, request TEXT NOT NULL, kind TEXT NOT NULL, holds TEXT,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'stopped')), writes INTEGER NOT NULL,
    data TEXT NOT NULL, data_format INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL,
    done INTEGER NOT NULL, total INTEGER NOT NULL, result TEXT, created_at INTEGER NOT NULL, ended_at INTEGER, reason TEXT,
    steps INTEGER NOT NULL DEFAULT 0, dry_run INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE job_data (job TEXT NOT NULL, number INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (job, number)) STRICT;
  CREATE TABLE job_findings (
    job TEXT NOT NULL, number INTEGER NOT NULL, finding TEXT NOT NULL, PRIMARY KEY (job, number), UNIQUE (job, finding)
  ) STRICT, WITHOUT ROWID`,
];

/** The tables of a vault's coordinator. */
export const COORDINATOR_MIGRATIONS: readonly string[] = [
  // `watched` has the pending contents: see contents/pending.ts. `webhooks` has the progress of deliveries and the newest attempts: see
  // events/webhook-progress.ts.
  `CREATE TABLE watched (
    key TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, due INTEGER NOT NULL, missing_since INTEGER, next_sweep INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE webhooks (id TEXT NOT NULL PRIMARY KEY, progress TEXT NOT NULL, attempts TEXT) STRICT, WITHOUT ROWID`,
];

/**
 * Applies the missing migrations. A version that a newer release has written stays. The statements take effect together,
 * because a Durable Object commits the writes between two awaits atomically.
 */
export function migrateObject(sql: SqlStorage, migrations: readonly string[]): void {
  sql.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
  const applied = sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0]?.version ?? 0;
  if (applied >= migrations.length) return;
  for (const migration of migrations.slice(applied)) sql.exec(migration);
  sql.exec("DELETE FROM schema_version");
  sql.exec("INSERT INTO schema_version (version) VALUES (?1)", migrations.length);
}
