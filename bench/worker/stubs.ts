import { VaultCoordinator } from "../../src/index.ts";
import type { BenchEnv } from "./bindings.ts";

/**
 * The service with stubs in the place of bindings. Each variant replaces one binding more than the one before it, so the
 * difference between two variants is the cost of one binding.
 */

const stubRateLimiter = (env: BenchEnv): BenchEnv => ({ ...env, TOKEN_RATE: { limit: async () => ({ success: true }) } });
const stubQueue = (env: BenchEnv): BenchEnv => ({
  ...stubRateLimiter(env),
  ACTIVITY: { send: async () => undefined } as unknown as BenchEnv["ACTIVITY"],
});
const stubD1 = (env: BenchEnv): BenchEnv => ({
  ...stubQueue(env),
  DB: createD1Stub(env.DB),
  COORDINATOR: env.STUBBED_COORDINATOR,
});

export const stubbed: Readonly<Record<string, (env: BenchEnv) => Env>> = { stubRateLimiter, stubQueue, stubD1 };

export class StubbedD1Coordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: createD1Stub(env.DB) });
  }
}

interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const SELECT = /^\s*(SELECT|WITH)\b/;
/** UUIDv7: ids of operations, and times in the form of an id. They differ in each request, so the cache key omits them. */
const OPERATION_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const cachedResults = new Map<string, D1Result[]>();

/** A stub of D1. It reads each batch of SELECTs once from the database and then from memory. It discards writes. */
function createD1Stub(db: D1Database): D1Database {
  const stub = {
    prepare: (sql: string) => ({ bind: (...values: unknown[]): Statement => ({ sql, values }) }),
    async batch(statements: readonly Statement[]) {
      if (!statements.every(({ sql }) => SELECT.test(sql))) return [];
      const key = statements.map(({ sql, values }) => sql + values.join().replaceAll(OPERATION_ID, "")).join();
      const results =
        cachedResults.get(key) ?? (await db.batch(statements.map(({ sql, values }) => db.prepare(sql).bind(...values))));
      cachedResults.set(key, results);
      return results;
    },
  };
  const withSession = () => ({ ...stub, getBookmark: () => "stub" });
  return { ...stub, withSession } as unknown as D1Database;
}
