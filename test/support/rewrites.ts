/** Changes of the SQL that remove a mechanism, for tests that plant bugs. */

/** Removes the fence of store/write/fence.ts from the SQL: its condition on the vault's versions always holds. */
export const withoutFence = (sql: string): string =>
  sql.replace("content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4", "?2 >= 0 AND ?3 >= 0 AND ?4 >= 0");

/** Lets no statement find an idempotency record (store/write/rows.ts, store/write/fence.ts). */
export const withoutRecords = (sql: string): string => sql.replace("FROM replays WHERE", "FROM replays WHERE 0 AND");

/** Lets an operation that is in the log take effect again (store/write/rows.ts, store/write/fence.ts). */
export const withoutLog = (sql: string): string =>
  sql.replace("INSERT INTO activity", "INSERT OR REPLACE INTO activity").replace(/(sealed FROM activity\s+WHERE)/, "$1 0 AND");
