import { VaultCoordinator } from "../../src/index.ts";
import { around, aroundStubs } from "./around.ts";
import type { BenchEnv } from "./bindings.ts";

/** The service with other bindings, chosen by the header X-Bench: counted, or far away. The timed requests have neither. */

/** What was called since /bench/tally was asked last. Worker and Durable Objects share an isolate here, so both count in it. */
export const tally = { d1: 0, rowsRead: 0, rowsWritten: 0, hops: 0, r2: 0, queue: 0 };

const QUESTIONS = ["write", "expect"];
const BUCKET = ["get", "put", "head", "delete", "list", "createMultipartUpload"];

const countDatabase = (db: D1Database) =>
  around(db, ["batch"], async (call) => {
    tally.d1++;
    const results = (await call()) as D1Result[];
    for (const { meta } of results) {
      tally.rowsRead += meta.rows_read;
      tally.rowsWritten += meta.rows_written;
    }
    return results;
  });

const counter = (name: "hops" | "r2" | "queue") => (call: () => Promise<unknown>) => {
  tally[name]++;
  return call();
};

/** So many milliseconds are D1 and a Durable Object away, in the simulated edge. */
const D1_AWAY = 30;
const HOP_AWAY = 15;

const delay = (milliseconds: number) => async (call: () => Promise<unknown>) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return call();
};

const distantDatabase = (db: D1Database) => around(db, ["batch"], delay(D1_AWAY));

export class CountedCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: countDatabase(env.DB), FILES: around(env.FILES, BUCKET, counter("r2")) });
  }
}

export class DistantCoordinator extends VaultCoordinator {
  constructor(ctx: DurableObjectState, env: BenchEnv) {
    super(ctx, { ...env, DB: distantDatabase(env.DB) });
  }
}

export const variants: Readonly<Record<string, (env: BenchEnv) => Env>> = {
  counted: (env) => ({
    ...env,
    DB: countDatabase(env.DB),
    FILES: around(env.FILES, BUCKET, counter("r2")),
    ACTIVITY: around(env.ACTIVITY, ["send"], counter("queue")),
    COORDINATOR: aroundStubs(env.COUNTED, QUESTIONS, counter("hops")),
  }),
  distant: (env) => ({
    ...env,
    DB: distantDatabase(env.DB),
    COORDINATOR: aroundStubs(env.DISTANT, QUESTIONS, delay(HOP_AWAY)),
  }),
};
