import { allRows, createStatements, type SqlValue } from "./statements.ts";
import type { Turns } from "./turns.ts";

/** The SQLite of each Durable Object: tables of one file. Their names begin with the number of the object. */

/** Runs SQL of one object. Returns the rows of a single statement. Calls `failed` if the transaction of a write fails. */
export type RunSql = (sql: string, values: readonly SqlValue[], failed: (error: Error) => void) => unknown[];

const TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'object_[0-9]*_*'";
const CREATED_TABLE = /\bCREATE TABLE (?:IF NOT EXISTS )?(\w+)/g;

/** Matches the names of tables as words, and texts in quotes as a whole, in which no name is meant. */
const namesIn = (tables: ReadonlySet<string>): RegExp =>
  new RegExp(`'(?:[^']|'')*'|\\b(${[...tables].join("|") || "(?!)"})\\b`, "g");

/** Returns a function that opens the SQLite of the object with a number. */
export function createObjectTables(turns: Turns): (id: number) => RunSql {
  const statementOf = createStatements(turns.db);
  // Read once: looking up the tables of each object would read the whole schema each time.
  const stored = Map.groupBy(turns.db.prepare(TABLES).all() as { name: string }[], ({ name }) => /^object_\d+_/.exec(name)![0]);

  return (id) => {
    const prefix = `object_${id}_`;
    const tables = new Set(stored.get(prefix)?.map(({ name }) => name.slice(prefix.length)));
    stored.delete(prefix);
    let names = namesIn(tables);
    const renamed = new Map<string, string>();

    /** Gives the tables in a text their names in the file. The texts of the service are constants, so they are remembered. */
    function rename(sql: string): string {
      const known = renamed.get(sql);
      if (known !== undefined) return known;
      const created = Array.from(sql.matchAll(CREATED_TABLE), ([, table]) => table!);
      for (const table of created) tables.add(table);
      if (created.length > 0) names = namesIn(tables);
      const text = sql.replace(names, (match, table: string | undefined) => (table === undefined ? match : prefix + table));
      if (created.length === 0) renamed.set(sql, text);
      return text;
    }

    return (sql, values, failed) => {
      const text = rename(sql);
      const run = () => (text.includes(";") ? runAll(text) : allRows(statementOf(text), values));
      return /^\s*SELECT\b/i.test(text) ? run() : turns.write(failed, run);
    };
  };

  /** Runs several statements, which return nothing. */
  function runAll(sql: string): never[] {
    turns.db.exec(sql);
    return [];
  }
}
