import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** The schema of D1 as one text: each object as SQLite has it after all migrations, below the comment that a migration has above it. */

const HEADER = `-- The schema of D1 after all migrations. \`npm run types\` generates this file from migrations/: change the schema there.
`;

/** An object that a migration creates, and the comment lines above it. */
const CREATED = /((?:^--.*\n)*)^CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (?:IF NOT EXISTS )?(\w+)/gm;

/** Returns the text of schema.sql. Throws if a migration does not run. */
export function schemaText(): string {
  const database = new DatabaseSync(":memory:");
  const comments = new Map<string, string>();
  for (const name of readdirSync("migrations").toSorted()) {
    const migration = readFileSync(`migrations/${name}`, "utf8");
    database.exec(migration);
    for (const [, comment, object] of migration.matchAll(CREATED)) comments.set(object!, comment!);
  }
  // Indexes that SQLite makes by itself have no SQL.
  const objects = database.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").all();
  const texts = (objects as { name: string; sql: string }[]).map(({ name, sql }) => `${comments.get(name) ?? ""}${sql};\n`);
  return [HEADER, ...texts].join("\n");
}
