import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { type Database, refused, type Request, type Routes, type State } from "./account.ts";
import { splitLikeD1 } from "./split.ts";

/** D1: databases, queries, and Time Travel. */

const FOLDER = mkdtempSync(join(tmpdir(), "item-vault-d1-"));

/** Adds a bookmark of now. Out: it. */
export async function bookmarkDatabase(database: Database): Promise<string> {
  const bookmark = `00000000-${String(database.bookmarks.length).padStart(8, "0")}-00005000-${randomUUID().replaceAll("-", "")}`;
  const file = join(FOLDER, bookmark);
  await backup(database.sqlite, file);
  database.bookmarks.push({ bookmark, time: Date.now(), file });
  return bookmark;
}

const infoOf = ({ id, name }: Database) => ({ uuid: id, name, version: "production", num_tables: 0, file_size: 0 });
const json = ({ bytes }: Request) => JSON.parse(bytes.toString("utf8")) as Record<string, string>;

/** One row of results for each statement, as D1 has it. */
function query(database: Database, sql: string) {
  try {
    // wrangler sends all statements of a migration as one text, and one that reads alone.
    const reads = /^\s*(SELECT|PRAGMA)\b/i.test(sql);
    const results = reads
      ? database.sqlite.prepare(sql).all()
      : (database.sqlite.exec(`BEGIN;${splitLikeD1(sql).join("\n;")}\n;COMMIT`) ?? []);
    return {
      result: [{ results, success: true, meta: { duration: 0.1, changes: 0, rows_read: 0, rows_written: 0, size_after: 0 } }],
    };
  } catch (error) {
    if (database.sqlite.isTransaction) database.sqlite.exec("ROLLBACK");
    return refused(400, 7500, `${(error as Error).message}: SQLITE_ERROR`);
  }
}

const missing = () => refused(404, 7404, "The database was not found");

export function databaseRoutes({ databases }: Pick<State, "databases">): Routes {
  /** wrangler names a database by its id or by its name. */
  const find = (named: string | undefined) => [...databases.values()].find(({ id, name }) => id === named || name === named);
  return {
    "GET /d1/database": ({ query: search }) => {
      const name = search.get("name") ?? "";
      return { result: [...databases.values()].filter((database) => database.name.includes(name)).map(infoOf) };
    },
    "POST /d1/database": (request) => {
      const { name } = json(request);
      if (find(name)) return refused(400, 7502, `A database with that name already exists`);
      const database = { id: randomUUID(), name: name!, sqlite: new DatabaseSync(":memory:"), bookmarks: [] };
      databases.set(database.id, database);
      return { result: infoOf(database) };
    },
    "GET /d1/database/:name": ({ params: [named] }) => {
      const database = find(named);
      return database ? { result: infoOf(database) } : missing();
    },
    "POST /d1/database/:name/query": (request) => {
      const database = find(request.params[0]);
      return database ? query(database, json(request)["sql"]!) : missing();
    },
    "GET /d1/database/:name/time_travel/bookmark": async ({ params: [named], query: search }) => {
      const database = find(named);
      if (!database) return missing();
      const time = search.has("timestamp") ? Date.parse(search.get("timestamp")!) : Date.now();
      const known = database.bookmarks.findLast((bookmark) => bookmark.time <= time);
      return { result: { bookmark: search.has("timestamp") && known ? known.bookmark : await bookmarkDatabase(database) } };
    },
    "POST /d1/database/:name/time_travel/restore": async ({ params: [named], query: search }) => {
      const database = find(named);
      if (!database) return missing();
      const time = Date.parse(search.get("timestamp") ?? "");
      const wanted = database.bookmarks.findLast(({ bookmark, time: at }) => bookmark === search.get("bookmark") || at <= time);
      if (!wanted) return refused(400, 7400, "There is no such bookmark");
      const previous_bookmark = await bookmarkDatabase(database);
      database.sqlite = new DatabaseSync(wanted.file);
      return { result: { bookmark: wanted.bookmark, previous_bookmark, message: "restored" } };
    },
  };
}
