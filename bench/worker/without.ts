import { VaultCoordinator } from "../../src/index.ts";
import type { BenchEnv } from "./bindings.ts";

/** The service with bindings that do nothing, so that what they cost can be told by subtraction. */

const noRate = (env: BenchEnv): BenchEnv => ({ ...env, TOKEN_RATE: { limit: async () => ({ success: true }) } });
const noQueue = (env: BenchEnv): BenchEnv => ({
  ...noRate(env),
  ACTIVITY: { send: async () => undefined } as unknown as BenchEnv["ACTIVITY"],
});
const noD1 = (env: BenchEnv): BenchEnv => ({
  ...noQueue(env),
  DB: remembering(env.DB),
  COORDINATOR: env.FORGETFUL,
});

export const without: Readonly<Record<string, (env: BenchEnv) => Env>> = { noRate, noQueue, noD1 };

export class ForgetfulCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: remembering(env.DB) });
  }
}

interface Asked {
  readonly sql: string;
  readonly values: readonly unknown[];
}

const SELECT = /^\s*SELECT/;
/** Ids of operations, and times: what is new in every request. */
const PASSING = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const answers = new Map<string, D1Result[]>();

/** A D1 that answers what it answered to the same question before, and writes nothing. */
function remembering(db: D1Database): D1Database {
  const remembered = {
    prepare: (sql: string) => ({ bind: (...values: unknown[]): Asked => ({ sql, values }) }),
    async batch(asked: readonly Asked[]) {
      if (!asked.every(({ sql }) => SELECT.test(sql))) return [];
      const key = asked.map(({ sql, values }) => sql + values.join().replaceAll(PASSING, "")).join();
      const known = answers.get(key) ?? (await db.batch(asked.map(({ sql, values }) => db.prepare(sql).bind(...values))));
      answers.set(key, known);
      return known;
    },
  };
  return remembered as unknown as D1Database;
}
