/**
 * The schema of a coordinator's own storage. Its version is the number of entries of MIGRATIONS that were applied. As with D1, the first
 * entry is edited in place until release 1.0; from then on a release only expands (docs/decisions, 0010).
 */
const MIGRATIONS: readonly string[] = [
  // `watched` has the pending contents: see contents/pending.ts. `webhooks` tells how far deliveries are: see events/webhook-progress.ts.
  `CREATE TABLE watched (
    key TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, due INTEGER NOT NULL, missing_since INTEGER, next_sweep INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY, vault TEXT NOT NULL, state TEXT NOT NULL, sequence INTEGER NOT NULL, at INTEGER NOT NULL,
    due INTEGER NOT NULL, created_at INTEGER NOT NULL, revision INTEGER NOT NULL, failures INTEGER NOT NULL,
    failing_since INTEGER, last_delivery INTEGER, last_error TEXT, deletion_notice TEXT, deletion_notice_at INTEGER
  ) STRICT, WITHOUT ROWID`,
];

/**
 * Applies the missing migrations. A version that a newer release has written stays. The statements take effect together,
 * because a Durable Object commits the writes between two awaits atomically.
 */
export function migrateCoordinator(sql: SqlStorage): void {
  sql.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT");
  const applied = sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0]?.version ?? 0;
  if (applied >= MIGRATIONS.length) return;
  for (const migration of MIGRATIONS.slice(applied)) sql.exec(migration);
  sql.exec("DELETE FROM schema_version");
  sql.exec("INSERT INTO schema_version (version) VALUES (?1)", MIGRATIONS.length);
}
