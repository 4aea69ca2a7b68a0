import { logFailure } from "../log.ts";
import { fail, ok, type Result } from "../model/result.ts";
import { withDeadline } from "./deadline.ts";

/**
 * The version of the database's schema: the number of the last file of migrations/ that was applied to it. wrangler
 * records the applied files in the table d1_migrations.
 */

/** The oldest schema that this version of the service serves, and the newest that it knows. */
export const SCHEMA = { oldest: 1, newest: 1 };

/** Release 0.1.0 created its tables, which are those of migration 1, without wrangler's record. */
const UNRECORDED = 1;

const SQL = {
  recorded: "SELECT max(CAST(substr(name, 1, 4) AS INTEGER)) AS version FROM d1_migrations",
  tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('d1_migrations', 'vaults')",
};

/** Out: the version; 0 is a database without tables. Errors: `unavailable`. */
export async function loadSchemaVersion(db: D1Database): Promise<Result<number>> {
  try {
    const { version } = await first<{ version: number | null }>(db, SQL.recorded);
    if (version) return ok(version);
  } catch (error) {
    if (!isSchemaError(error)) {
      logFailure("The query for the schema version", error);
      return fail("unavailable");
    }
  }
  return loadUnrecorded(db);
}

async function loadUnrecorded(db: D1Database): Promise<Result<number>> {
  try {
    const [{ results }] = (await withDeadline(db.batch<{ name: string }>([db.prepare(SQL.tables)]))) as [
      D1Result<{ name: string }>,
    ];
    return ok(results.some(({ name }) => name === "vaults") ? UNRECORDED : 0);
  } catch (error) {
    logFailure("The query for the tables", error);
    return fail("unavailable");
  }
}

async function first<Row>(db: D1Database, sql: string): Promise<Row> {
  const [answer] = await withDeadline(db.batch<Row>([db.prepare(sql)]));
  return answer!.results[0]!;
}

/** Whether an error of D1 says that the SQL does not fit the schema. */
export const isSchemaError = (error: unknown): boolean => /no such (table|column)|has no column/.test(String(error));

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
