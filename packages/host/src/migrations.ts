import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { laterRelease } from "./operator-error.ts";
import type { Turns } from "./turns.ts";

/** The table in which wrangler records the applied migrations (`wrangler d1 migrations apply`). The service reads it. */
const RECORD = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

/**
 * Applies the missing migrations of a folder, each as one transaction, or only returns their names. Throws for a database with a migration that the
 * folder does not have.
 */
export function applyMigrations({ db, transaction }: Turns, folder: string, onlyNames: boolean): string[] {
  if (!onlyNames) db.exec(RECORD);
  const applied = new Set((db.prepare("SELECT name FROM d1_migrations").all() as { name: string }[]).map(({ name }) => name));
  const files = readdirSync(folder).toSorted();
  if ([...applied].some((name) => !files.includes(name))) throw laterRelease();
  const missing = files.filter((file) => !applied.has(file));
  if (onlyNames) return missing;
  for (const name of missing)
    transaction(() => {
      db.exec(readFileSync(join(folder, name), "utf8"));
      db.prepare("INSERT INTO d1_migrations (name) VALUES (?1)").run(name);
    });
  return [];
}
