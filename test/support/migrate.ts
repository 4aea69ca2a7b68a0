import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";

const RECORDS = `CREATE TABLE d1_migrations
  (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;
const RECORD = "INSERT INTO d1_migrations (name) VALUES (?)";

const { DB, MIGRATIONS } = env as Env & { readonly MIGRATIONS: D1Migration[] };

/** The tables with rows that a test may have written. Triggers write to `root_key_uses` when others are emptied, so it comes last. */
const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
  AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name <> 'd1_migrations' ORDER BY name = 'root_key_uses'`;
/** As the migration that creates the table. */
const DEPLOYMENT = "INSERT INTO deployment (id) SELECT lower(hex(randomblob(16)))";

/** Creates the tables. One batch, because `applyD1Migrations` waits for five D1 calls. It remains for a D1 with some of the tables. */
async function createTables(): Promise<void> {
  const statements = MIGRATIONS.flatMap(({ name, queries }) =>
    queries.map((query) => DB.prepare(query)).concat(DB.prepare(RECORD).bind(name)),
  );
  await DB.batch([DB.prepare(RECORDS), ...statements]).catch(() => applyD1Migrations(DB, MIGRATIONS));
}

/** Whether D1 accepts values that CHECK refuses, as only a damage of its file makes them. Each file of tests begins without. */
export const ignoreChecks = async (ignore: boolean): Promise<void> =>
  void (await DB.prepare(`PRAGMA ignore_check_constraints = ${ignore ? "ON" : "OFF"}`).run());

/** Makes D1 as the migrations leave an empty one: it has the tables, and no rows but the id of the deployment. */
export async function emptyDatabase(): Promise<void> {
  await ignoreChecks(false);
  const { results } = await DB.prepare(TABLES).all<{ name: string }>();
  if (results.length === 0) return createTables();
  await DB.batch([...results.map(({ name }) => DB.prepare(`DELETE FROM ${name}`)), DB.prepare(DEPLOYMENT)]);
}
