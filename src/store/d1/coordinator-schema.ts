/**
 * The schema of a coordinator's own storage. Its version is the number of entries of MIGRATIONS that were applied.
 * As with D1, a release only expands: an older release still works with the storage of a newer one.
 */
const MIGRATIONS: readonly string[] = [
  // Pending contents: see contents/pending.ts. Release 0.1.0 has created this table without a version.
  `CREATE TABLE IF NOT EXISTS watched (
    key TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, due INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  // The sweeps of a record. Both are NULL in the records of release 0.1.0.
  `ALTER TABLE watched ADD COLUMN missing_since INTEGER;
   ALTER TABLE watched ADD COLUMN next_sweep INTEGER`,
  // How far the deliveries of the webhooks are: see webhook-progress.ts.
  `CREATE TABLE webhooks (
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
