import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { VaultCoordinator } from "../../src/index.ts";
import type { Operation } from "../../src/model/operation.ts";

/** Real bindings, wrapped: to count the calls that they get, to slow them down, to let them fail. */

export interface Hooks {
  /** Runs before each D1 call (one `batch`); what it throws, D1 throws, and nothing happened. */
  readonly before?: (statements: number) => Promise<void> | void;
  /** Runs after each D1 call; what it throws, D1 throws, although the batch was committed. */
  readonly after?: (results: D1Result[]) => Promise<void> | void;
  /** Rewrites the SQL of each statement that is prepared. */
  readonly rewrite?: (sql: string) => string;
}

/** Wraps D1. Every D1 call of the service is one `batch`. */
export function wrapDatabase(db: D1Database, { before, after, rewrite = (sql) => sql }: Hooks): D1Database {
  const wrapped: Pick<D1Database, "prepare" | "batch"> = {
    prepare: (sql) => db.prepare(rewrite(sql)),
    async batch<T>(statements: D1PreparedStatement[]) {
      await before?.(statements.length);
      const results = await db.batch<T>(statements);
      await after?.(results);
      return results;
    },
  };
  return wrapped as D1Database;
}

/** A D1 that counts: `calls`, and what they read and wrote. */
export function countingDatabase(db: D1Database = env.DB) {
  const count = { calls: 0, rowsRead: 0, rowsWritten: 0 };
  const counting = wrapDatabase(db, {
    after(results) {
      count.calls++;
      for (const { meta } of results) {
        count.rowsRead += meta.rows_read;
        count.rowsWritten += meta.rows_written;
      }
    },
  });
  return { count, db: counting };
}

/** Gives the coordinator of that name other bindings, for as long as it lives in memory. They may be made of its state. */
export async function rebindCoordinator(
  name: string,
  bindings: Partial<Env> | ((state: DurableObjectState) => Partial<Env>),
): Promise<void> {
  await runInDurableObject(env.COORDINATOR.getByName(name), (coordinator: VaultCoordinator, state) => {
    const others = typeof bindings === "function" ? bindings(state) : bindings;
    Object.defineProperty(coordinator, "env", { value: { ...env, ...others }, configurable: true });
  });
}

/** As `rebindCoordinator`, for one that has begun anew: it remembers nothing, and has to read. */
export async function renewCoordinator(name: string, bindings: Partial<Env>): Promise<void> {
  await evictDurableObject(env.COORDINATOR.getByName(name));
  await rebindCoordinator(name, bindings);
}

/** Takes the fence of store/write/fence.ts out of the SQL: its look-up always finds the vault. */
export const withoutFence = (sql: string): string =>
  sql.replace("content_version = ?2 AND attribute_version = ?3 AND updated_at = ?4", "?2 >= 0 AND ?3 >= 0 AND ?4 >= 0");

/** A namespace that leads where the given one does, and the last operation that went through it. */
export function overhear(namespace: Env["COORDINATOR"]): {
  readonly COORDINATOR: Env["COORDINATOR"];
  readonly sent: () => Operation;
} {
  let last: Operation | undefined;
  const getByName = (name: string) => ({ write: (operation: Operation) => namespace.getByName(name).write((last = operation)) });
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"], sent: () => last! };
}

export const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Random numbers that a seed repeats (mulberry32): 0 ≤ n < 1. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
