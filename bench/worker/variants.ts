import { VaultCoordinator } from "../../src/index.ts";
import type { BenchEnv } from "./bindings.ts";
import { intercept, interceptStubs } from "./intercept.ts";

/**
 * The service with intercepted bindings: calls are counted, or delayed to simulate network latency. The header
 * X-Bench-Variant selects a variant. Requests whose throughput is compared with a baseline select none.
 */

/**
 * The calls since /bench/counters was last requested. Locally the Worker and its Durable Objects run in one isolate, so
 * both count here.
 */
export const counters = { d1: 0, rowsRead: 0, rowsWritten: 0, objectCalls: 0, objectMs: 0, r2: 0 };

const COORDINATOR_METHODS = ["write", "expect", "fetch"];
const R2_METHODS = ["get", "put", "head", "delete", "list", "createMultipartUpload"];

async function countBatch(call: () => Promise<unknown>): Promise<D1Result[]> {
  counters.d1++;
  const results = (await call()) as D1Result[];
  for (const { meta } of results) {
    counters.rowsRead += meta.rows_read;
    counters.rowsWritten += meta.rows_written;
  }
  return results;
}

/** Every call of D1 is one `batch`, of the database or of a session. */
function interceptBatches(db: D1Database, interceptor: Parameters<typeof intercept>[2]): D1Database {
  const withSession: D1Database["withSession"] = (constraint) => intercept(db.withSession(constraint), ["batch"], interceptor);
  return new Proxy(intercept(db, ["batch"], interceptor), {
    get: (target, name) => (name === "withSession" ? withSession : Reflect.get(target, name)),
  });
}

const countD1 = (db: D1Database) => interceptBatches(db, countBatch);

function countR2Call(call: () => Promise<unknown>): Promise<unknown> {
  counters.r2++;
  return call();
}

const countR2 = ({ FILES, BACKUPS }: Env) => ({
  FILES: intercept(FILES, R2_METHODS, countR2Call),
  BACKUPS: intercept(BACKUPS, R2_METHODS, countR2Call),
});

async function countObjectCall(call: () => Promise<unknown>): Promise<unknown> {
  counters.objectCalls++;
  const start = Date.now();
  const answer = await call();
  counters.objectMs += Date.now() - start;
  return answer;
}

/** The simulated latency of a D1 call and of a call of a Durable Object, in milliseconds. bench/latency.ts has the same. */
const D1_LATENCY = 30;
const OBJECT_LATENCY = 15;

const delay = (milliseconds: number) => async (call: () => Promise<unknown>) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return call();
};

const delayD1 = (db: D1Database) => interceptBatches(db, delay(D1_LATENCY));

/** Its D1 calls also have the simulated latency, because the duration of its calls is measured. */
export class CountedCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: countD1(delayD1(env.DB)), ...countR2(env) });
  }
}

export class DelayedCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: delayD1(env.DB) });
  }
}

/** A coordinator that keeps no versions. */
export class UnversionedCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, VERSIONS_KEPT: 0 });
  }
}

export const intercepted: Readonly<Record<string, (env: BenchEnv) => Env>> = {
  counted: (env) => ({
    ...env,
    DB: countD1(env.DB),
    ...countR2(env),
    COORDINATOR: interceptStubs(env.COUNTED_COORDINATOR, COORDINATOR_METHODS, countObjectCall),
  }),
  delayed: (env) => ({
    ...env,
    DB: delayD1(env.DB),
    COORDINATOR: interceptStubs(env.DELAYED_COORDINATOR, COORDINATOR_METHODS, delay(OBJECT_LATENCY)),
  }),
  unversioned: (env) => ({
    ...env,
    VERSIONS_KEPT: 0,
    COORDINATOR: env.UNVERSIONED_COORDINATOR,
  }),
};
