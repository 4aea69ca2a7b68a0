import { type Statement, createStatements, d1Error, tooBig } from "./statements.ts";
import type { Turns } from "./turns.ts";

/** The D1 binding (developers.cloudflare.com/d1/worker-api): each batch is one transaction of the SQLite file. */

/** Characters of a value that D1 refuses (developers.cloudflare.com/d1/platform/limits). */
const VALUE_CHARACTERS_MAX = 2_000_000;

/** Every state is the latest one: there are no replicas. */
const BOOKMARK = "00000000-00000000-00000000-00000000000000000000000000000000";

const isRead = (sql: string): boolean => /^\s*SELECT\b/i.test(sql);

/** Gives the binding. Throws D1's errors. */
export function createD1(turns: Turns): D1Database {
  const { db } = turns;
  const statementOf = createStatements(db);
  const pages = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size");
  let size = (pages.get() as { bytes: number }).bytes;

  function runStatement({ sql, values }: Statement): D1Result {
    if (values.some((value) => typeof value === "string" && value.length > VALUE_CHARACTERS_MAX)) throw tooBig();
    const results = statementOf(sql).all(...(values as string[]));
    const meta = {
      duration: 0,
      size_after: size,
      rows_read: 0,
      rows_written: 0,
      last_row_id: 0,
      changed_db: false,
      changes: 0,
      served_by_primary: true,
    };
    return { success: true, results, meta };
  }

  function runBatch(statements: readonly Statement[]): D1Result[] {
    turns.end();
    if (statements.every(({ sql }) => isRead(sql))) return statements.map(runStatement);
    const results = turns.transaction(() => statements.map(runStatement));
    ({ bytes: size } = pages.get() as { bytes: number });
    return results;
  }

  async function batch(statements: readonly Statement[]): Promise<D1Result[]> {
    try {
      const results = runBatch(statements);
      await turns.next();
      return results;
    } catch (error) {
      await turns.next();
      throw d1Error(error);
    }
  }

  const prepare = (sql: string) => preparedOf(sql, []);
  const preparedOf = (sql: string, values: readonly unknown[]) => ({
    sql,
    values,
    bind: (...bound: unknown[]) => preparedOf(sql, bound.map(checkedValue)),
    all: async () => (await batch([{ sql, values }]))[0],
    run: async () => (await batch([{ sql, values }]))[0],
    first: async () => (await batch([{ sql, values }]))[0]!.results[0] ?? null,
  });
  const withSession = () => ({ prepare, batch, getBookmark: () => BOOKMARK });
  return { prepare, batch, withSession } as unknown as D1Database;
}

/** D1 refuses `undefined`, and stores booleans as numbers. */
function checkedValue(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "number" || value === null) return value;
  if (typeof value === "boolean") return Number(value);
  throw new Error(`D1_TYPE_ERROR: Type '${typeof value}' not supported for value '${typeof value}'`);
}
