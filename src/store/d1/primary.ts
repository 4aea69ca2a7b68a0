/** Calls of the primary database, with the state that each of them has read or made. */

export interface PrimaryAnswer<T = unknown> {
  readonly results: D1Result<T>[];
  /** The bookmark of the state that the call has read or made; absent when D1 gave none. */
  readonly bookmark: string | undefined;
}

/**
 * Makes one D1 call to the primary. Each call has its own session, because only the first query of a session is certain to reach the primary
 * (developers.cloudflare.com/d1/best-practices/read-replication).
 */
export async function callPrimary<T = unknown>(db: D1Database, statements: D1PreparedStatement[]): Promise<PrimaryAnswer<T>> {
  const session = db.withSession("first-primary");
  const results = await session.batch<T>(statements);
  return { results, bookmark: session.getBookmark() ?? undefined };
}

/** Returns a database whose calls go to the primary, and a function that returns the bookmark of the last call. */
export function bookmarkedDatabase(db: D1Database): { readonly db: D1Database; readonly bookmark: () => string | undefined } {
  let last: string | undefined;
  const bookmarked: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(sql),
    async batch<T>(statements: D1PreparedStatement[]) {
      const { results, bookmark } = await callPrimary<T>(db, statements);
      last = bookmark;
      return results;
    },
  };
  return { db: bookmarked as D1Database, bookmark: () => last };
}
