import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";

/** The table in which wrangler records the migrations. */
const RECORDS = `CREATE TABLE d1_migrations
  (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`;
const RECORD = "INSERT INTO d1_migrations (name) VALUES (?)";

const { DB, MIGRATIONS } = env as Env & { readonly MIGRATIONS: D1Migration[] };
const statements = MIGRATIONS.flatMap(({ name, queries }) =>
  queries.map((query) => DB.prepare(query)).concat(DB.prepare(RECORD).bind(name)),
);
/** Creates the tables of an empty D1. */
export async function migrate(): Promise<void> {
  // One batch, because `applyD1Migrations` waits for five D1 calls. It remains for a D1 that `reset` has not emptied.
  await DB.batch([DB.prepare(RECORDS), ...statements]).catch(() => applyD1Migrations(DB, MIGRATIONS));
}
