import { logFailure } from "../../log.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { isSchemaError } from "./errors.ts";
import { withDeadline } from "./deadline.ts";

/**
 * The version of the database's schema: the number of the last file of migrations/ that was applied to it. wrangler
 * records the applied files in the table d1_migrations.
 */

/** The oldest schema that this version of the service serves, and the newest that it knows. */
export const SCHEMA = { oldest: 5, newest: 5 };

/** Release 0.1.0 created its tables, which are those of migration 1, without wrangler's record. */
const UNRECORDED = 1;

/** What the migrations create. A test compares it with a database to which they were applied. */
export const OBJECTS: Readonly<Record<"table" | "index" | "trigger", readonly string[]>> = {
  table: (
    "activity archived_days counters deleted_items deleted_vaults deployment ended_tokens file_versions files item_versions items logs " +
    "past_writes replays restores root_key_uses root_keys sessions tokens vaults webhooks"
  ).split(" "),
  index: (
    "activity_by_sequence deleted_items_by_time items_by_folded_title items_by_title replays_by_id sessions_by_expiry " +
    "sessions_by_token tokens_of_people"
  ).split(" "),
  trigger: ["ended_tokens", "tokens", "vaults"].flatMap((table) =>
    ["added", "removed", "rewrapped"].map((event) => `${table}_${event}`),
  ),
};

/** An object that the migrations create and the database does not have. */
export interface MissingObject {
  readonly type: string;
  readonly name: string;
}

/** What creates it again, without its rows. */
export const CREATE_AGAIN = "`npx wrangler d1 execute DB --remote --file schema.sql` creates it, without rows";

const SQL = {
  objects: "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'index', 'trigger')",
  recorded: "SELECT max(CAST(substr(name, 1, 4) AS INTEGER)) AS version FROM d1_migrations",
  tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('d1_migrations', 'vaults')",
};

/** The schema of a database. */
export interface SchemaState {
  /** 0 is a database without tables. */
  readonly version: number;
  /** The tables, indexes and triggers that were dropped. */
  readonly missing: readonly MissingObject[];
}

/** One D1 call, and one more for a database without wrangler's record. Errors: `unavailable`. */
export async function loadSchema(db: D1Database): Promise<Result<SchemaState>> {
  try {
    return ok((await recordedSchema(db)) ?? { version: await unrecordedVersion(db), missing: [] });
  } catch (error) {
    logFailure("The query for the schema", error);
    return fail("unavailable");
  }
}

/** Out: `undefined` without wrangler's record. */
async function recordedSchema(db: D1Database): Promise<SchemaState | undefined> {
  try {
    const [recorded, objects] = await query<[{ version: number | null }, MissingObject]>(db, SQL.recorded, SQL.objects);
    const version = recorded[0]?.version;
    return version ? { version, missing: missingFrom(objects) } : undefined;
  } catch (error) {
    if (isSchemaError(error)) return undefined;
    throw error;
  }
}

function missingFrom(present: readonly MissingObject[]): MissingObject[] {
  const names = new Set(present.map(({ type, name }) => `${type} ${name}`));
  return Object.entries(OBJECTS)
    .flatMap(([type, all]) => all.map((name) => ({ type, name })))
    .filter(({ type, name }) => !names.has(`${type} ${name}`));
}

async function unrecordedVersion(db: D1Database): Promise<number> {
  const [tables] = await query<[{ name: string }]>(db, SQL.tables);
  return tables.some(({ name }) => name === "vaults") ? UNRECORDED : 0;
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

/** Makes the next request read the schema version again. */
export function forgetSchemaVersion(): void {
  served = undefined;
}
