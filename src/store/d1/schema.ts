import { failedBy } from "../../log.ts";
import type { FailureKind } from "../../model/failure.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { TABLES, TABLES_BY_ROOT_KEY } from "../tables/tables.ts";
import { isSchemaError } from "./errors.ts";
import { withDeadline } from "./deadline.ts";

/**
 * The version of the database's schema: the number of the last file of migrations/ that was applied to it. wrangler
 * records the applied files in the table d1_migrations.
 */

/** The oldest schema that this version of the service serves, and the newest that it knows. */
export const SCHEMA = { oldest: 1, newest: 1 };

/** What the migrations create. A test compares it with a database to which they were applied. */
export const OBJECTS: Readonly<Record<"table" | "index" | "trigger", readonly string[]>> = {
  table: Object.keys(TABLES),
  index: (
    "activity_by_sequence deleted_items_by_time exchanges_by_issuer exchanges_by_time exchanges_refused items_by_folded_title items_by_title replays_by_id sessions_by_expiry " +
    "sessions_by_token tokens_by_ancestor_1 tokens_by_ancestor_2 tokens_by_ancestor_3 tokens_by_name tokens_ending"
  ).split(" "),
  trigger: TABLES_BY_ROOT_KEY.flatMap(({ name }) => ["added", "removed", "rewrapped"].map((event) => `${name}_${event}`)),
};

/** An object that the migrations create and the database does not have. */
export interface MissingObject {
  readonly type: string;
  readonly name: string;
}

/** What creates it again, without its rows. */
export const CREATE_AGAIN =
  "`npx wrangler d1 execute DB --remote --file migrations/0001_initial.sql` creates it, without rows (`--local` under `wrangler dev`)";

const SQL = {
  objects: "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'index', 'trigger')",
  recorded: "SELECT max(CAST(substr(name, 1, 4) AS INTEGER)) AS version FROM d1_migrations",
};

/** The schema of a database. */
export interface SchemaState {
  /** 0: wrangler has applied no migration. */
  readonly version: number;
  /** The tables, indexes and triggers that were dropped. */
  readonly missing: readonly MissingObject[];
}

const WITHOUT_MIGRATIONS: SchemaState = { version: 0, missing: [] };

/** One D1 call. Errors: `unavailable`. */
export async function loadSchema(db: D1Database): Promise<Result<SchemaState>> {
  try {
    const [recorded, objects] = await query<[{ version: number | null }, MissingObject]>(db, SQL.recorded, SQL.objects);
    const version = recorded[0]?.version;
    return ok(version ? { version, missing: missingFrom(objects) } : WITHOUT_MIGRATIONS);
  } catch (error) {
    if (isSchemaError(error)) return ok(WITHOUT_MIGRATIONS); // wrangler's table does not exist
    return failedBy("The query for the schema", error, "unavailable");
  }
}

function missingFrom(present: readonly MissingObject[]): MissingObject[] {
  const names = new Set(present.map(({ type, name }) => `${type} ${name}`));
  return Object.entries(OBJECTS)
    .flatMap(([type, all]) => all.map((name) => ({ type, name })))
    .filter(({ type, name }) => !names.has(`${type} ${name}`));
}

/** Not `runBatch` of database.ts, which reports schema errors to this file. Out: the rows of each statement. */
async function query<Rows extends readonly unknown[]>(
  db: D1Database,
  ...statements: string[]
): Promise<{ [Key in keyof Rows]: Rows[Key][] }> {
  const answers = await withDeadline(db.batch(statements.map((sql) => db.prepare(sql))));
  return answers.map(({ results }) => results) as { [Key in keyof Rows]: Rows[Key][] };
}

let served: number | undefined;

/**
 * Whether this version of the service serves the database. The version is read once per isolate, and again after an SQL
 * error that contradicts it. Errors: `schema`, `unavailable`.
 */
export async function checkSchema(db: D1Database): Promise<Result<undefined>> {
  if (served !== undefined) return ok(undefined);
  const schema = await loadSchema(db);
  if (!schema.ok) return schema;
  const { version } = schema.value;
  if (version < SCHEMA.oldest) return fail("schema");
  served = version;
  return ok(undefined);
}

/** Returns the failure for SQL that does not fit the schema. One D1 call. The next request reads the schema version again. */
export async function explainSchemaError(db: D1Database): Promise<FailureKind> {
  forgetSchemaVersion();
  const schema = await loadSchema(db);
  if (!schema.ok) return schema.failure.kind;
  return schema.value.version < SCHEMA.newest ? "schema" : "internal";
}

/** Makes the next request read the schema version again. */
export function forgetSchemaVersion(): void {
  served = undefined;
}
