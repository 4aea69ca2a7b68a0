import { PART_MAX } from "../../../src/store/backup/cut.ts";
import { SOURCES } from "../../../src/store/backup/read-rows.ts";

/**
 * Makes the slices and parts of backups small, so that those of a small vault have several: then writes change the vault while it is read,
 * and what they have changed is merged into parts that were written before.
 */

const ROWS = 60;
const CHARACTERS = 24 * 1024;

/** The bounds are in the SQL too, which the module has made when it was loaded. */
const LIMIT = "LIMIT 2000";

export function useSmallSlices(): void {
  PART_MAX.characters = CHARACTERS;
  const sources = [...SOURCES.items, ...SOURCES.changes, ...SOURCES.log];
  for (const source of sources.filter(({ sql }) => sql.includes(LIMIT))) {
    const bounds = { ...source.bounds, rows: ROWS };
    Object.assign(source, { bounds, sql: source.sql.replaceAll(LIMIT, `LIMIT ${ROWS}`) });
  }
}
