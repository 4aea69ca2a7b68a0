import { allRows, createStatements, d1Error, type SqlValue, type Statement, tooBig } from "./statements.ts";
import type { Turns } from "./turns.ts";

/** The D1 binding (developers.cloudflare.com/d1/worker-api): each batch is one transaction of the SQLite file. */

/** Characters of a value that D1 refuses (developers.cloudflare.com/d1/platform/limits). */
const VALUE_CHARACTERS_MAX = 2_000_000;

/** Every state is the latest one: there are no replicas. */
const BOOKMARK = "00000000-00000000-00000000-00000000000000000000000000000000";

/** Without free pages, as D1 reports it: deleted rows make a database smaller at once. */
const SIZE =
  "SELECT (page_count - freelist_count) * page_size AS bytes FROM pragma_page_count, pragma_freelist_count, pragma_page_size";

/** Figures of D1 that the service does not read, and that it is the primary. */
const META = {
  duration: 0,
  rows_read: 0,
  rows_written: 0,
  last_row_id: 0,
  changed_db: false,
  changes: 0,
  served_by_primary: true,
};

const isRead = (sql: string): boolean => /^\s*SELECT\b/i.test(sql);

/** Gives the binding. Throws D1's errors. */
export function createD1(turns: Turns): D1Database {
  const { db } = turns;
  const statementOf = createStatements(db);
  const pages = db.prepare(SIZE);
  let size = (pages.get() as { bytes: number }).bytes;

  const runStatement = ({ sql, values }: Statement): Record<string, unknown>[] => {
    if (values.some((value) => typeof value === "string" && value.length > VALUE_CHARACTERS_MAX)) throw tooBig();
    return allRows(statementOf(sql), values as SqlValue[]);
  };

  function runBatch(statements: readonly Statement[]): D1Result[] {
    turns.end();
    const reads = statements.every(({ sql }) => isRead(sql));
    const run = () => statements.map(runStatement);
    const rows = reads ? run() : turns.transaction(run);
    if (!reads) ({ bytes: size } = pages.get() as { bytes: number });
    const meta = { ...META, size_after: size };
    return rows.map((results) => ({ success: true, results, meta }));
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
