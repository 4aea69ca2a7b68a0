import { PART_MAX } from "../../../src/store/backup/cut.ts";
import { SOURCES } from "../../../src/store/backup/read-rows.ts";

/**
 * Makes the slices and parts of backups small, so that those of a small vault have several: then writes change the vault while it is read,
 * and what they have changed is merged into parts that were written before.
 */

/** The most rows of a slice of all rows, and of one of what has changed, which has all changes of a short time. */
const ROWS = { all: 60, changes: 24 };
const CHARACTERS = 24 * 1024;

/** The bounds are in the SQL too, which the module has made when it was loaded. */
const LIMIT = /LIMIT 2000\b/;

export function useSmallSlices(): void {
  PART_MAX.characters = CHARACTERS;
  for (const [name, sources] of Object.entries(SOURCES))
    for (const source of sources) {
      if (!LIMIT.test(source.sql)) continue; // small already, or the numbers of versions, which a changed Item has many of
      const rows = name === "changes" ? ROWS.changes : ROWS.all;
      Object.assign(source, { bounds: { ...source.bounds, rows }, sql: source.sql.replace(LIMIT, `LIMIT ${rows}`) });
    }
}
