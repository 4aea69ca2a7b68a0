import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Reads and migrates the schema of a stored D1 database. No Worker may be running on it. */

interface Named {
  readonly name: string;
}

/** The columns and indexes of every table, by its name. wrangler's own tables are left out. */
export type Schema = Readonly<Record<string, { readonly columns: readonly unknown[]; readonly indexes: readonly unknown[] }>>;

/** The schema of the one database in `state`. */
export const storedSchema = (state: string): Schema => readSchema(openStored(state));

/** The rows of every table of the one database in `state`, by its name. */
export function storedRows(state: string): Readonly<Record<string, readonly unknown[]>> {
  const tables = Object.keys(storedSchema(state));
  const database = openStored(state);
  const rows = tables.map((name) => [name, database.prepare(`SELECT * FROM ${name}`).all()] as const);
  database.close();
  return Object.fromEntries(rows);
}

function openStored(state: string, options = { readOnly: true }): DatabaseSync {
  const folder = join(state, "v3", "d1", "miniflare-D1DatabaseObject");
  const file = readdirSync(folder).find((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite");
  return new DatabaseSync(join(folder, file ?? "missing"), options);
}

/** Applies the migrations that the one database in `state` lacks, and records them as wrangler does. */
export function migrateStored(state: string): void {
  const database = openStored(state, { readOnly: false });
  const applied = new Set(
    database
      .prepare("SELECT name FROM d1_migrations")
      .all()
      .map(({ name }) => name),
  );
  for (const name of readdirSync("migrations").toSorted()) {
    if (applied.has(name)) continue;
    database.exec(readFileSync(join("migrations", name), "utf8"));
    database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").run(name);
  }
  database.close();
}

/** Removes from the one database in `state` the record of all migrations, as if they had not been applied. */
export function forgetMigrations(state: string): void {
  const database = openStored(state, { readOnly: false });
  database.exec("DELETE FROM d1_migrations");
  database.close();
}

/** The schema that all migrations create in an empty database. */
export function migratedSchema(): Schema {
  const database = new DatabaseSync(":memory:");
  for (const name of readdirSync("migrations").toSorted()) database.exec(readFileSync(join("migrations", name), "utf8"));
  return readSchema(database);
}

function readSchema(database: DatabaseSync): Schema {
  const named = (pragma: string) => database.prepare(`PRAGMA ${pragma}`).all() as unknown as readonly Named[];
  const schema = named("table_list")
    .filter(({ name }) => !/^(sqlite_|_cf_|d1_migrations$)/.test(name))
    .map(({ name }) => [name, { columns: named(`table_xinfo(${name})`), indexes: named(`index_list(${name})`) }] as const);
  database.close();
  return Object.fromEntries(schema);
}
