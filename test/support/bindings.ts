import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { VaultCoordinator } from "../../src/index.ts";
import type { Operation } from "../../src/model/operation.ts";

export { withoutFence } from "./rewrites.ts";
export { seeded } from "./seeded.ts";

/** Wrappers of real bindings, which count calls, delay them or inject faults. */

export interface Hooks {
  /** Runs before each D1 call (one `batch`). When it throws, the D1 call throws the same error and takes no effect. */
  readonly before?: (statements: number) => Promise<void> | void;
  /** Runs after each D1 call. When it throws, the D1 call throws the same error although the batch was committed. */
  readonly after?: (results: D1Result[]) => Promise<void> | void;
  /** Rewrites the SQL of each statement that is prepared. */
  readonly rewrite?: (sql: string) => string;
}

/** Wraps D1. Every D1 call of the service is one `batch`, of the database or of a session. */
export function wrapDatabase(db: D1Database, hooks: Hooks): D1Database {
  const withSession: D1Database["withSession"] = (constraint) => {
    const session = db.withSession(constraint);
    return { ...wrapCalls(session, hooks), getBookmark: () => session.getBookmark() };
  };
  return { ...wrapCalls(db, hooks), withSession } as D1Database;
}

type Calls = Pick<D1DatabaseSession, "prepare" | "batch">;

const wrapCalls = (db: Calls, { before, after, rewrite = (sql) => sql }: Hooks): Calls => ({
  prepare: (sql) => db.prepare(rewrite(sql)),
  async batch<T>(statements: D1PreparedStatement[]) {
    await before?.(statements.length);
    const results = await db.batch<T>(statements);
    await after?.(results);
    return results;
  },
});

/** A D1 that counts its calls and the rows that they read and wrote. */
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

/** A limit that no test reaches: all files of an isolate share the limits of its bindings. */
export const UNLIMITED: RateLimit = { limit: async () => ({ success: true }) };

/** The real R2 with some of its methods replaced. */
export const wrapBucket = (methods: { readonly [K in keyof R2Bucket]?: unknown }, bucket: R2Bucket = env.FILES): R2Bucket =>
  new Proxy(bucket, {
    get(target, name: keyof R2Bucket) {
      const value: unknown = methods[name] ?? target[name];
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

/** A bucket that reports the name and the arguments of each call before the call is made. */
export const watchBucket = (bucket: R2Bucket, onCall: (name: string, values: readonly unknown[]) => void): R2Bucket =>
  new Proxy(bucket, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...values: unknown[]) => {
        onCall(String(name), values);
        return Reflect.apply(method, target, values) as unknown;
      };
    },
  });

/** A bucket that counts its lists, what is read of it and what is put into it. */
export function countingBucket(bucket: R2Bucket) {
  const count = { lists: 0, gets: 0, puts: 0 };
  const counting = watchBucket(bucket, (name) => {
    if (name === "list") count.lists++;
    if (name === "get") count.gets++;
    if (name === "put" || name === "createMultipartUpload") count.puts++;
  });
  return { count, bucket: counting };
}

/** A limiter with one window that does not end: it accepts so many requests of a key. */
export function limiterOf(most: number): RateLimit {
  const counts = new Map<string, number>();
  return {
    async limit({ key }) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= most };
    },
  };
}

/** A D1 that claims to hold so many bytes. */
export const sizedDatabase = (size: () => number, db: D1Database = env.DB): D1Database =>
  wrapDatabase(db, {
    after(results) {
      for (const { meta } of results) meta.size_after = size();
    },
  });

const variables = new Map<string, Partial<Env>>();

/** Sets variables of the coordinator of that name: they also hold for the bindings that a test replaces later. */
export async function setVariables(name: string, values: Partial<Env>): Promise<void> {
  variables.set(name, values);
  await rebindCoordinator(name, {});
}

/** The variables of a service that keeps neither versions nor deleted Items, so that each write releases what it replaces. */
export const KEEP_NOTHING: Partial<Env> = { VERSIONS_KEPT: 0, DELETED_RETENTION_DAYS: 0 };

/**
 * Replaces bindings of the coordinator of that name until it is evicted. In: the bindings, or a function that makes them from
 * the object's state.
 */
export async function rebindCoordinator(
  name: string,
  bindings: Partial<Env> | ((state: DurableObjectState) => Partial<Env>),
): Promise<void> {
  await runInDurableObject(env.COORDINATOR.getByName(name), (coordinator: VaultCoordinator, state) => {
    const others = typeof bindings === "function" ? bindings(state) : bindings;
    Object.defineProperty(coordinator, "env", { value: { ...env, ...variables.get(name), ...others }, configurable: true });
  });
}

/** Evicts the coordinator of that name and then calls `rebindCoordinator`. Its cache is empty afterwards. */
export async function renewCoordinator(name: string, bindings: Partial<Env>): Promise<void> {
  await evictDurableObject(env.COORDINATOR.getByName(name));
  await rebindCoordinator(name, bindings);
}

type Coordinator = ReturnType<Env["COORDINATOR"]["getByName"]>;

/** Returns coordinators of which a caller sees these methods only. `methodsOf` gets the real coordinator and its name. */
export const coordinatorsWhose = (methodsOf: (real: Coordinator, name: string) => object): Pick<Env, "COORDINATOR"> => ({
  COORDINATOR: {
    getByName: (name: string) => methodsOf(env.COORDINATOR.getByName(name), name),
  } as unknown as Env["COORDINATOR"],
});

/** An operator that no call reaches. */
export const LOST_OPERATOR = {
  getByName: () => ({ start: () => Promise.reject(new Error("lost")) }),
} as unknown as Env["OPERATOR"];

/** A namespace that forwards to another one, and the last operation that was sent through it. */
export function recordOperations(namespace: Env["COORDINATOR"]): {
  readonly COORDINATOR: Env["COORDINATOR"];
  readonly sent: () => Operation;
} {
  let last: Operation | undefined;
  const getByName = (name: string) => ({ write: (operation: Operation) => namespace.getByName(name).write((last = operation)) });
  return { COORDINATOR: { getByName } as unknown as Env["COORDINATOR"], sent: () => last! };
}

export const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
