import { failedBy } from "../../log.ts";
import type { FailureKind } from "../../model/failure.ts";
import { fail, ok, type Result } from "../../model/result.ts";
import { TABLES, TABLES_BY_ROOT_KEY } from "../tables/tables.ts";
import { isSchemaError, withDeadline } from "./errors.ts";

/**
 * The version of the database's schema: the number of the last applied file of migrations/. wrangler records the applied files in
 * the table d1_migrations.
 */

/** The oldest schema that this version of the service serves, and the newest that it knows. */
export const SCHEMA = { oldest: 1, newest: 1 };

/** SQL: the triggers that count the rows of a table under each root key, by the end of their names. A test compares them with the migrations. */
const countingTriggers = (table: string): Readonly<Record<string, string>> => {
  const add = `
    INSERT INTO root_key_uses (id, ${table}) VALUES (new.root_key_id, 1)
    ON CONFLICT (id) DO UPDATE SET ${table} = min(max(${table}, 0), 9007199254740990) + 1;`;
  const remove = `UPDATE root_key_uses SET ${table} = min(max(${table}, 1), 9007199254740991) - 1 WHERE id = old.root_key_id;`;
  return {
    added: `INSERT ON ${table} BEGIN ${add} END`,
    removed: `DELETE ON ${table} BEGIN ${remove} END`,
    rewrapped: `UPDATE OF root_key_id ON ${table} BEGIN ${remove} ${add} END`,
  };
};

const spaced = (sql: string): string => sql.replaceAll(/\s+/g, " ");

/** By the name of a trigger its text, with single spaces. */
const TRIGGERS: ReadonlyMap<string, string> = new Map(
  TABLES_BY_ROOT_KEY.flatMap(({ name }) =>
    Object.entries(countingTriggers(name)).map(([end, sql]) => [
      `${name}_${end}`,
      spaced(`CREATE TRIGGER ${name}_${end} AFTER ${sql}`),
    ]),
  ),
);

/** The objects that the migrations create. A test compares them with a migrated database. */
export const OBJECTS: Readonly<Record<"table" | "index" | "trigger", readonly string[]>> = {
  table: Object.keys(TABLES),
  index: (
    "activity_by_sequence deleted_items_by_time exchanges_by_issuer exchanges_by_time exchanges_refused items_by_folded_title items_by_title replays_by_id sessions_by_expiry " +
    "sessions_by_token tokens_by_ancestor_1 tokens_by_ancestor_2 tokens_by_ancestor_3 tokens_by_name tokens_ending"
  ).split(" "),
  trigger: [...TRIGGERS.keys()],
};

/** An object that the migrations create and the database does not have. */
export interface MissingObject {
  readonly type: string;
  readonly name: string;
}

interface SchemaObject extends MissingObject {
  readonly sql: string | null;
}

/** The command that creates a lost table again, without its rows. */
export const CREATE_AGAIN =
  "`npx wrangler d1 execute DB --remote --file migrations/0001_initial.sql` creates it, without rows (`--local` under `wrangler dev`)";

const SQL = {
  objects:
    "SELECT type, name, iif(type = 'trigger', sql, NULL) AS sql FROM sqlite_master WHERE type IN ('table', 'index', 'trigger')",
  recorded: "SELECT max(CAST(substr(name, 1, 4) AS INTEGER)) AS version FROM d1_migrations",
};

export interface SchemaState {
  /** 0: wrangler has applied no migration. */
  readonly version: number;
  /** The tables, indexes and triggers that were dropped. */
  readonly missing: readonly MissingObject[];
  /** The names of the triggers that no migration creates, or creates with another text. */
  readonly foreign: readonly string[];
}

const WITHOUT_MIGRATIONS: SchemaState = { version: 0, missing: [], foreign: [] };

/** Loads the state of the schema in one D1 call. Fails with `unavailable`. */
export async function loadSchema(db: D1Database): Promise<Result<SchemaState>> {
  try {
    const [recorded, objects] = await query<[{ version: number | null }, SchemaObject]>(db, SQL.recorded, SQL.objects);
    const version = recorded[0]?.version;
    return ok(version ? { version, missing: missingFrom(objects), foreign: foreignAmong(objects) } : WITHOUT_MIGRATIONS);
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

const foreignAmong = (objects: readonly SchemaObject[]): string[] =>
  objects.filter(({ type, name, sql }) => type === "trigger" && TRIGGERS.get(name) !== spaced(sql ?? "")).map(({ name }) => name);

/** Runs statements and returns the rows of each. It is not `runBatch` of database.ts, which reports schema errors to this file. */
async function query<Rows extends readonly unknown[]>(
  db: D1Database,
  ...statements: string[]
): Promise<{ [Key in keyof Rows]: Rows[Key][] }> {
  const answers = await withDeadline(db.batch(statements.map((sql) => db.prepare(sql))));
  return answers.map(({ results }) => results) as { [Key in keyof Rows]: Rows[Key][] };
}

let served: number | undefined;

/**
 * Checks that this version of the service supports the database. The version is read once per isolate, and again after an SQL
 * error that contradicts it. Fails with `schema` or `unavailable`.
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
