import type { DatabaseState } from "../../model/operation.ts";

/** Calls of the primary database, with the state that each of them has read or made. */

/** What one call has answered, and the state in which it was. */
export interface StatedAnswer<T = unknown> {
  readonly results: D1Result<T>[];
  /** Absent: D1 gave no bookmark. */
  readonly state: DatabaseState | undefined;
}

/**
 * One D1 call to the primary. A session of its own for each call: only the first query of a session is certain to reach the primary
 * (developers.cloudflare.com/d1/best-practices/read-replication).
 */
export async function callPrimary<T = unknown>(
  db: D1Database,
  statements: D1PreparedStatement[],
  clock: () => number,
): Promise<StatedAnswer<T>> {
  const session = db.withSession("first-primary");
  const at = clock();
  const results = await session.batch<T>(statements);
  const bookmark = session.getBookmark();
  return { results, state: bookmark ? { bookmark, at } : undefined };
}

/** A database whose calls go to the primary, and that tells the state of the last call. */
export function statedDatabase(
  db: D1Database,
  clock: () => number,
): { readonly db: D1Database; readonly state: () => DatabaseState | undefined } {
  let last: DatabaseState | undefined;
  const stated: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const { results, state } = await callPrimary<T>(db, statements, clock);
      last = state;
      return results;
    },
  };
  return { db: stated as D1Database, state: () => last };
}
