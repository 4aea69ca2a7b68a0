/** Changes of the SQL that remove a mechanism, for tests that plant bugs. */

/** Removes the fence of store/commit/fence.ts from the SQL: its condition on the vault's versions always holds. */
export const withoutFence = (sql: string): string =>
  sql.replace("content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4", "?2 >= 0 AND ?3 >= 0 AND ?4 >= 0");

/** Lets no statement find an idempotency record (store/commit/rows.ts, store/commit/fence.ts). */
export const withoutRecords = (sql: string): string => sql.replace("FROM replays WHERE", "FROM replays WHERE 0 AND");

/** Lets an operation that is in the log take effect again (store/commit/rows.ts, store/commit/fence.ts). */
export const withoutLog = (sql: string): string =>
  sql.replace("INSERT INTO activity", "INSERT OR REPLACE INTO activity").replace(/(sealed FROM activity\s+WHERE)/, "$1 0 AND");

/** The version before a write is not kept (store/commit/version-rows.ts). */
export const withoutKeeping = (sql: string): string =>
  sql.replace(/(INSERT OR REPLACE INTO item_versions[^]*FROM items\s+WHERE)/, "$1 0 AND");

/** No version is trimmed or destroyed. */
export const withoutTrim = (sql: string): string =>
  sql.replace(/(DELETE FROM item_versions WHERE vault_id = \?1\s+AND) \(item_id/, "$1 0 AND (item_id");

/** The versions of a deleted Item that is destroyed stay. */
export const withoutDestruction = (sql: string): string =>
  sql.replace("DELETE FROM item_versions WHERE vault_id = ?1 AND item_id IN", "$& (SELECT 0) AND item_id IN");

/** The row of a File belongs to one version too many (store/commit/file-rows.ts). */
export const withLateEnds = (sql: string): string =>
  sql.replace("SELECT vault_id, item_id, id, ?4,", "SELECT vault_id, item_id, id, ?4 + 1,");

/** A restored Item stays among the deleted ones. */
export const withoutReturn = (sql: string): string =>
  sql.replace("DELETE FROM deleted_items WHERE vault_id = ?1 AND", "$& 0 AND");

/** A write gets the number of the one before it (store/commit/fence.ts). */
export const withEarlyNumbers = (sql: string): string => sql.replace("value ->> 'sequence'", "(value ->> 'sequence') - 1");

/** Events of the first write of an Item are left out (store/events/events.ts). */
export const withoutFirstEvents = (sql: string): string =>
  sql.replace("FROM activity WHERE vault_id = starts.value ->> 0 AND", "$& version IS NOT 1 AND");

/** The fence does not look for the Items whose ids clients have chosen (store/commit/fence.ts). */
export const withoutChosenIds = (sql: string): string =>
  sql.replaceAll(/AND NOT EXISTS \(SELECT 1 FROM (items|item_versions) WHERE/g, "$& 0 AND");

/** The earlier keys of a vault go although texts are under them (store/rotation/earlier-keys.ts). */
export const withEarlyRemoval = (sql: string): string =>
  sql.replace(/(UPDATE vaults SET keys = replace[^]*) AND NOT \([^]*/, "$1");

/** A rewrap leaves the tokens that are under the second root key there (store/rotation/rewrap.ts). */
export const withoutReturnOfTokens = (sql: string): string =>
  sql.replace(/(UPDATE tokens SET root_key_id[^]*WHERE) /, "$1 tokens.root_key_id <> 'k2' AND ");

/** The end of a token leaves those below it (store/tokens/ended-tokens.ts). */
export const withoutDescendants = (sql: string): string =>
  sql.replaceAll(/\(id = \?1 OR ancestor_1 = .*\s+OR ancestor_1 IN .*\)\)\)/g, "(id = ?1)");

/** A backup does not read again what writes have changed while it read (store/backup/read-rows.ts). */
export const withoutChanges = (sql: string): string =>
  sql.replace(/(AS changed_from FROM activity\s+WHERE) (vault_id)/g, "$1 0 AND $2");

/** A restore writes no versions of Items (store/restore/rows.ts). */
export const withoutRestoredVersions = (sql: string): string =>
  sql.replace(/(INSERT OR REPLACE INTO item_versions [^]*json_each\(\?2\) WHERE) true/, "$1 0");

/** A restore adds no entry to the log of its vault (store/restore/finish.ts). */
export const withoutRestoredEntry = (sql: string): string =>
  sql.replace(/(INSERT INTO activity [^]*json_each\(\?2\)\s+WHERE) (EXISTS \(SELECT 1 FROM restores)/, "$1 0 AND $2");

/** No job excludes another one (store/jobs/job-rows.ts). */
export const withoutHolders = (sql: string): string => sql.replace("SELECT id FROM jobs WHERE", "$& 0 AND");

/** A job does not look whether D1 has its last write (store/jobs/step-fence.ts). */
export const withoutStepFence = (sql: string): string =>
  sql
    .replace("BETWEEN ?3 + ?4 AND ?3 + 1", ">= 0 * (?3 + ?4)")
    .replace(/(FROM job_writes WHERE id = \?1 AND created_at = \?2\), 0\)) AS writes/, "$1 + 1000000 AS writes");
