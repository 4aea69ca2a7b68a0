import { FILE_COLUMNS } from "./files.ts";

/**
 * The Files of version n of an Item: the rows of `files` with since <= n, and the rows of `file_versions` with since <= n <
 * until. At any version a File has at most one row.
 */

/** A column of `file_versions`, the table being called `f`. */
const COLUMNS = FILE_COLUMNS.replaceAll(/\w+/g, "f.$&");

/** Returns the condition of a File's row with the first end after the version. Only that row can belong to the version. */
const ended = (version: string, file: string) => `
  f.vault_id = ?1 AND f.item_id = ?2 AND f.id = ${file} AND f.since <= ${version} AND f.until = (
    SELECT min(until) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2 AND id = ${file} AND until > ${version})`;

/**
 * Returns SQL of the rows of a version's Files. `version` is an expression for its number; ?1 and ?2 are the ids of vault and
 * Item. Ids of ended rows are visited one by one, because a File may have as many rows as the Item has versions.
 */
export const filesOfVersion = (version: string): string => `
  WITH RECURSIVE ended (id) AS (
    SELECT min(id) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2
    UNION ALL
    SELECT (SELECT min(id) FROM file_versions WHERE vault_id = ?1 AND item_id = ?2 AND id > ended.id)
    FROM ended WHERE ended.id IS NOT NULL)
  SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 AND since <= ${version}
  UNION ALL
  SELECT ${COLUMNS} FROM ended CROSS JOIN file_versions AS f ON ${ended(version, "ended.id")}
  ORDER BY id`;

/** Returns SQL of the row of one File of a version, as `filesOfVersion` does. ?4 is the id of the File. */
export const fileOfVersion = (version: string): string => `
  SELECT ${FILE_COLUMNS} FROM files WHERE vault_id = ?1 AND item_id = ?2 AND id = ?4 AND since <= ${version}
  UNION ALL
  SELECT ${COLUMNS} FROM file_versions AS f WHERE ${ended(version, "?4")}`;
