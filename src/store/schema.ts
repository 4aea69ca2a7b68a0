import { logFailure } from "../log.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { isSchemaError } from "./d1-errors.ts";
import { withDeadline } from "./deadline.ts";

/**
 * The version of the database's schema: the number of the last file of migrations/ that was applied to it. wrangler
 * records the applied files in the table d1_migrations.
 */

/** The oldest schema that this version of the service serves, and the newest that it knows. */
export const SCHEMA = { oldest: 5, newest: 5 };

/** Release 0.1.0 created its tables, which are those of migration 1, without wrangler's record. */
const UNRECORDED = 1;

const SQL = {
  recorded: "SELECT max(CAST(substr(name, 1, 4) AS INTEGER)) AS version FROM d1_migrations",
  tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('d1_migrations', 'vaults')",
};

/** Out: the version; 0 is a database without tables. Errors: `unavailable`. */
export async function loadSchemaVersion(db: D1Database): Promise<Result<number>> {
  try {
    return ok((await recordedVersion(db)) || (await unrecordedVersion(db)));
  } catch (error) {
    logFailure("The query for the schema version", error);
    return fail("unavailable");
  }
}

/** Out: 0 without wrangler's record. */
async function recordedVersion(db: D1Database): Promise<number> {
  try {
    const [row] = await query<{ version: number | null }>(db, SQL.recorded);
    return row?.version ?? 0;
  } catch (error) {
    if (isSchemaError(error)) return 0;
    throw error;
  }
}

async function unrecordedVersion(db: D1Database): Promise<number> {
  const tables = await query<{ name: string }>(db, SQL.tables);
  return tables.some(({ name }) => name === "vaults") ? UNRECORDED : 0;
}

/** Not `runBatch` of database.ts, which reports schema errors to this file. */
async function query<Row>(db: D1Database, sql: string): Promise<Row[]> {
  const [answer] = await withDeadline(db.batch<Row>([db.prepare(sql)]));
  return answer!.results;
}

let served: number | undefined;

/**
 * Whether this version of the service serves the database. The version is read once per isolate, and again after an SQL
 * error that contradicts it. Errors: `schema`, `unavailable`.
 */
export async function checkSchema(db: D1Database): Promise<Result<undefined>> {
  if (served !== undefined) return ok(undefined);
  const version = await loadSchemaVersion(db);
  if (!version.ok) return version;
  if (version.value < SCHEMA.oldest) return fail("schema");
  served = version.value;
  return ok(undefined);
}

/** Makes the next request read the schema version again. */
export function forgetSchemaVersion(): void {
  served = undefined;
}
