import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createStatements, d1Error, type Statement, tooBig } from "../../../packages/host/src/statements.ts";
import { NO_ROWS, type RowLog, recordRows } from "./row-log.ts";

/** D1 as an SQLite in this process: the schema of migrations/, and batches that are transactions. */

/** A write that took effect, as the activity log has it. */
export interface Effect {
  /** When, on the clock of the history. */
  readonly tick: number;
  /** `log`: an entry of a write. `revoked`: a token is no longer in the allow-list. */
  readonly kind: "log" | "revoked";
  readonly vault: string;
  /** The operation's, or the token's. */
  readonly id: string;
  readonly action: "CREATE" | "UPDATE" | "DELETE";
  readonly actor: string;
  readonly item: string | null;
  readonly version: number | null;
  /** The number of the write in its vault. */
  readonly sequence: number | null;
  readonly event: string | null;
}

export type { Statement };

/** The rows of all tables, and how many transactions had written them. */
export interface Copy {
  readonly tables: readonly (readonly [name: string, rows: readonly object[]])[];
  readonly writes: number;
}

/**
 * What becomes of bookmarks when a database is restored: the restore is one more transaction, so that the bookmarks from before stay earlier
 * ones, as D1 documents; or they go back too, so that those from before are in the future.
 */
export type Bookmarks = "go on" | "go back";

/** The statements of a transaction that has written something, or a restore. */
export type Change =
  | { readonly statements: readonly Statement[]; readonly restored?: undefined }
  | { readonly restored: Copy; readonly bookmarks: Bookmarks };

/** `little`: D1 reports that the database is nearly full. `none`: it has no further page, as when the account is full. */
export type Room = "enough" | "little" | "none";

export interface Database {
  /** Runs the statements as one transaction. Out: D1's results. Throws D1's errors. */
  readonly batch: (statements: readonly Statement[]) => D1Result[];
  readonly query: <Row>(sql: string, ...values: (string | number)[]) => Row[];
  /** The effects in the order in which the transactions were committed. */
  readonly effects: () => Effect[];
  /** What the transactions have changed of the rows of vaults. */
  readonly rows: RowLog;
  /** How many transactions have written something. */
  readonly writes: () => number;
  /** Calls a function after each change. */
  readonly follow: (listener: (change: Change) => void) => void;
  readonly setRoom: (room: Room) => void;
  readonly copy: () => Copy;
  /** Restores the database to a copy of this or another one, as Time Travel of D1 does. */
  readonly restore: (copy: Copy, bookmarks?: Bookmarks) => void;
  readonly close: () => void;
}

/** Characters of a value that D1 refuses: here fewer than the 2 MB of Cloudflare, so that a request reaches them. */
const LARGEST_VALUE = 64 * 1024;

/** The size of the database that D1 reports, in bytes: that of a small one, or more than any DATABASE_LIMIT_MB. */
const REPORTED: Readonly<Record<Room, number>> = { enough: 1_000_000, little: 1e15, none: 1_000_000 };

/** SQLite's own limit of the number of pages. */
const PAGES = 4_294_967_294;

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");

/** The record that wrangler keeps of the applied migrations. */
const RECORD = "CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE, applied_at TEXT)";

/**
 * Temporary triggers record the order of effects, whatever statements have them. They are part of each transaction. The admin's
 * log, whose entries have a resource, tells of tokens.
 */
const TRIGGERS = `
  CREATE TEMP TABLE effects (tick INTEGER, kind TEXT, vault TEXT, id TEXT, action TEXT, actor TEXT, item TEXT, version INTEGER,
    sequence INTEGER, event TEXT);
  CREATE TEMP TRIGGER logged AFTER INSERT ON main.activity WHEN new.result = 'SUCCESS' AND new.action <> 'READ' AND new.resource IS NULL
  BEGIN
    INSERT INTO effects
    VALUES (tick(), 'log', new.vault_id, new.id, new.action, new.actor, new.item_id, new.version, new.sequence,
      new.event);
  END;
  CREATE TEMP TRIGGER revoked AFTER DELETE ON main.tokens BEGIN
    INSERT INTO effects VALUES (tick(), 'revoked', '', old.id, 'DELETE', '', NULL, NULL, NULL, NULL);
  END;`;

/**
 * In: the id of the deployment, which the migration draws at random; a function that gives the next tick of the history's clock, absent for a database
 * that records neither effects nor rows.
 */
export function createDatabase(deployment: string, tick?: () => number): Database {
  const db = new DatabaseSync(":memory:");
  const files = readdirSync(MIGRATIONS).toSorted();
  for (const name of files) db.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  db.exec(RECORD);
  for (const name of files) db.prepare("INSERT INTO d1_migrations (name) VALUES (?1)").run(name);
  db.prepare("UPDATE deployment SET id = ?1").run(deployment);
  if (tick) db.function("tick", tick);
  if (tick) db.exec(TRIGGERS);
  const rows = tick ? recordRows(db) : NO_ROWS;

  const statementOf = createStatements(db);
  let room: Room = "enough";
  let writes = 0;
  let changed = 0;
  const listeners: ((change: Change) => void)[] = [];
  const [begin, commit, rollback] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map(statementOf);

  function runStatement({ sql, values }: Statement): D1Result {
    if (values.some((value) => typeof value === "string" && value.length > LARGEST_VALUE)) {
      throw tooBig();
    }
    const results = statementOf(sql).all(...(values as string[]));
    const meta = {
      duration: 0,
      size_after: REPORTED[room],
      rows_read: 0,
      rows_written: 0,
      last_row_id: 0,
      changed_db: true,
      changes: 0,
    };
    return { success: true, results, meta };
  }

  const namesOf = (type: "table" | "trigger"): string[] =>
    (db.prepare("SELECT name FROM main.sqlite_master WHERE type = ?").all(type) as { name: string }[]).map(({ name }) => name);

  /** Counts what the last transaction has changed. Out: whether it has changed something. */
  function countChanges(): boolean {
    const before = changed;
    ({ changed } = statementOf("SELECT total_changes() AS changed").get() as { changed: number });
    return changed !== before;
  }

  /** The triggers of the schema, which count rows, are left out. Those that record what happens are not: a restore is recorded too. */
  function restoreTables(tables: Copy["tables"]): void {
    const triggers = db.prepare("SELECT sql FROM main.sqlite_master WHERE type = 'trigger'").all() as { sql: string }[];
    begin!.run();
    for (const name of namesOf("trigger")) db.exec(`DROP TRIGGER main.${name}`);
    for (const [name, kept] of tables) {
      db.exec(`DELETE FROM main.${name}`);
      for (const row of kept) {
        const columns = Object.keys(row);
        const marks = columns.map(() => "?").join(", ");
        db.prepare(`INSERT INTO main.${name} (${columns.join(", ")}) VALUES (${marks})`).run(...(Object.values(row) as string[]));
      }
    }
    for (const { sql } of triggers) db.exec(sql);
    commit!.run();
    rows.endTransaction(true, true);
  }

  return {
    batch(statements) {
      begin!.run();
      try {
        const results = statements.map(runStatement);
        commit!.run();
        rows.endTransaction(true);
        if (countChanges()) {
          writes++;
          for (const listener of listeners) listener({ statements });
        }
        return results;
      } catch (error) {
        if (db.isTransaction) rollback!.run(); // SQLite rolls a full database back itself
        rows.endTransaction(false);
        throw d1Error(error);
      }
    },
    query: <Row>(sql: string, ...values: (string | number)[]) => statementOf(sql).all(...values) as Row[],
    rows,
    writes: () => writes,
    follow: (listener) => void listeners.push(listener),
    effects: () => db.prepare("SELECT * FROM effects ORDER BY rowid").all() as unknown as Effect[],
    setRoom(next) {
      room = next;
      const { page_count: pages } = db.prepare("PRAGMA page_count").get() as { page_count: number };
      db.exec(`PRAGMA max_page_count = ${next === "none" ? pages : PAGES}`);
    },
    copy: () => ({
      tables: namesOf("table").map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()] as const),
      writes,
    }),
    restore(copy, bookmarks = "go on") {
      restoreTables(copy.tables);
      countChanges();
      writes = bookmarks === "go on" ? writes + 1 : copy.writes;
      for (const listener of listeners) listener({ restored: copy, bookmarks });
    },
    close: () => db.close(),
  };
}
