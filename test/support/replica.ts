import { applyD1Migrations, type D1Migration } from "cloudflare:test";
import { env } from "cloudflare:workers";

/**
 * A D1 with a replica, which wrangler does not run locally: a second database that gets the rows of the first one when a test says so. A
 * bookmark is the number of calls of the primary that have written.
 */

const { REPLICA, MIGRATIONS } = env as Env & { readonly REPLICA: D1Database; readonly MIGRATIONS: D1Migration[] };

export interface ReplicatedDatabase {
  readonly db: D1Database;
  /** The calls that each of the two has answered, of which a test may change the counts. */
  readonly calls: { primary: number; replica: number };
  /** Copies the rows of the primary, and gives the replica its bookmark. */
  readonly replicate: () => Promise<void>;
  beforeReplica: () => Promise<void>;
  /** What happens before each call of the primary. */
  beforePrimary: () => Promise<void>;
  /** Whether the primary gives no answer. */
  readonly setStalled: (stalled: boolean) => void;
}

const bookmarkOf = (writes: number): string => String(writes).padStart(8, "0");

const never = <T>(): Promise<T> => new Promise(() => undefined);

export async function createReplicatedDatabase(): Promise<ReplicatedDatabase> {
  await applyD1Migrations(REPLICA, MIGRATIONS);
  const calls = { primary: 0, replica: 0 };
  let [writes, replicated, stalled] = [0, 0, false];

  async function onPrimary<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    if (stalled) return never();
    await replicatedDatabase.beforePrimary();
    calls.primary++;
    const results = await env.DB.batch<T>(statements);
    if (results.some(({ meta }) => meta.rows_written > 0)) writes++;
    return results;
  }

  /** A replica waits for the state that is asked for. */
  async function onReplica<T>(statements: D1PreparedStatement[], from: string): Promise<D1Result<T>[]> {
    await replicatedDatabase.beforeReplica();
    if (from > bookmarkOf(replicated)) return never();
    calls.replica++;
    const results = await REPLICA.batch<T>(statements);
    for (const { meta } of results) meta.served_by_primary = false;
    return results;
  }

  const withSession = (constraint = "first-unconstrained") => {
    let bookmark: string | null = null;
    return {
      prepare: (sql: string) => env.DB.prepare(sql),
      getBookmark: () => bookmark,
      async batch<T>(statements: D1PreparedStatement[]) {
        const isPrimary = constraint === "first-primary";
        const from = constraint === "first-unconstrained" ? "" : constraint;
        const results = await (isPrimary ? onPrimary<T>(statements) : onReplica<T>(statements, from));
        bookmark = bookmarkOf(isPrimary ? writes : replicated);
        return results;
      },
    };
  };

  const replicatedDatabase: ReplicatedDatabase = {
    beforeReplica: async () => undefined,
    beforePrimary: async () => undefined,
    db: { prepare: (sql: string) => env.DB.prepare(sql), batch: onPrimary, withSession } as unknown as D1Database,
    calls,
    setStalled: (value) => void (stalled = value),
    async replicate() {
      const tables = ["tokens", "vaults", "items", "files"];
      await REPLICA.batch(tables.map((table) => REPLICA.prepare(`DELETE FROM ${table}`)));
      for (const table of tables) {
        const { results } = await env.DB.prepare(`SELECT * FROM ${table}`).all();
        const inserts = results.map((row) => {
          const columns = Object.keys(row);
          const marks = columns.map(() => "?").join(", ");
          return REPLICA.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`).bind(...Object.values(row));
        });
        if (inserts.length > 0) await REPLICA.batch(inserts);
      }
      replicated = writes;
    },
  };
  return replicatedDatabase;
}
