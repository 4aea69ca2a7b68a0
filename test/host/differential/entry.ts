import service, { Operator, Secrets, VaultCoordinator as Coordinator } from "../../../src/index.ts";
import { flushBatch, takeBatch } from "../../../src/store/activity/flush.ts";
import { type Fault, FAULT_HEADER, HOURLY_PATH, isOfObject, LATE_LOG, QUEUE_PATH, UNLOGGED } from "./faults.ts";

/**
 * The Worker of the differential test: the service with faults that a request asks for. Nothing in it depends on time or on chance: the log is
 * written before the answer, no rate limit refuses, and ids count up, so that both servers list in the same order.
 */

export { Operator, Secrets };

let drawn = 0;
const randomUUID = crypto.randomUUID.bind(crypto);
Object.defineProperty(crypto, "randomUUID", {
  value: () => (++drawn).toString(16).padStart(8, "0") + randomUUID().slice(8),
});

type Calls = Pick<D1DatabaseSession, "prepare" | "batch">;
/** Runs a batch, with one more statement at its end if there is one. */
type Batch = (more?: string) => Promise<D1Result[]>;

/** D1 with a hook around each batch. `sqls`: the texts of its statements. */
function hookedDatabase(db: D1Database, hook: (run: Batch, sqls: readonly string[]) => Promise<D1Result[]>): D1Database {
  const texts = new WeakMap<object, string>();
  const noted = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
    texts.set(statement, sql);
    const bind = statement.bind.bind(statement);
    return Object.assign(statement, { bind: (...values: unknown[]) => noted(bind(...values), sql) });
  };
  const hooked = (calls: Calls) => ({
    prepare: (sql: string) => noted(calls.prepare(sql), sql),
    batch: (statements: D1PreparedStatement[]) =>
      hook(
        (more) => calls.batch(more === undefined ? statements : [...statements, calls.prepare(more)]),
        statements.map((statement) => texts.get(statement) ?? ""),
      ),
  });
  const withSession: D1Database["withSession"] = (constraint) => {
    const session = db.withSession(constraint);
    return { ...hooked(session), getBookmark: () => session.getBookmark() } as D1DatabaseSession;
  };
  return { ...hooked(db), withSession } as unknown as D1Database;
}

const isWrite = (sqls: readonly string[]): boolean => sqls.some((sql) => !/^\s*SELECT\b/i.test(sql));

const lost = (): never => {
  throw new Error("D1_ERROR: Network connection lost");
};

/** SQLite refuses it when the batch has reached it. */
const REFUSED_STATEMENT = "SELECT json('no JSON')";

const ROW_WRITES = /\b(?:INSERT|UPDATE|DELETE)\b[^;]*?\b(?:items|vaults|tokens|sessions|issuers|rules)\b/i;

/** D1 whose next write of rows has the fault. `abort` ends the Durable Object. */
function faultyDatabase(db: D1Database, take: () => Fault | undefined, abort: () => Promise<never>): D1Database {
  return hookedDatabase(db, async (run, sqls) => {
    const fault = isWrite(sqls) && sqls.some((sql) => ROW_WRITES.test(sql)) ? take() : undefined;
    if (fault === "before") lost();
    if (fault === "full") throw new Error("D1_ERROR: database or disk is full: SQLITE_FULL");
    if (fault === "abort-before") return abort();
    const results = await run(fault === "within" ? REFUSED_STATEMENT : undefined);
    if (fault === "after") lost();
    return fault === "abort-after" ? abort() : results;
  });
}

/** Returns what gives the fault once. */
const once = (fault: Fault | undefined) => () => {
  const taken = fault;
  fault = undefined;
  return taken;
};

export class VaultCoordinator extends Coordinator {
  readonly #armed: { fault: Fault | undefined };

  constructor(ctx: DurableObjectState, env: Env) {
    const armed = { fault: undefined as Fault | undefined };
    const take = () => {
      const { fault } = armed;
      armed.fault = undefined;
      return fault;
    };
    // The code that awaits the batch never goes on, as in an object that has left memory.
    const abort = async () => {
      try {
        ctx.abort("the differential test");
      } catch {
        // The host throws in place of ending the code.
      }
      return new Promise<never>(() => undefined);
    };
    super(ctx, { ...env, DB: faultyDatabase(env.DB, take, abort) });
    this.#armed = armed;
  }

  /** Gives the next write of rows the fault, or none, or ends the object at once. */
  async arm(fault: Fault | undefined): Promise<void> {
    if (fault === "evict") this.ctx.abort("the differential test");
    this.#armed.fault = fault;
  }
}

const UNLIMITED: RateLimit = { limit: async () => ({ success: true }) };
const LIMITERS = { TOKEN_RATE: UNLIMITED, FAILURE_RATE: UNLIMITED, DENIAL_RATE: UNLIMITED, SESSION_RATE: UNLIMITED };

/** Messages that the queue has not delivered. */
let waiting = 0;

/** The service remembers settings and states by the object of its bindings, and a batch of entries by that of the queue. */
const known = new WeakMap<Env, Env>();

function bindingsOf(env: Env): Env {
  const { ACTIVITY } = env;
  const send: Queue["send"] = async (...message) => {
    waiting++;
    return ACTIVITY.send(...message);
  };
  const bindings = known.get(env) ?? { ...env, ...LIMITERS, ACTIVITY: { send } as Queue };
  known.set(env, bindings);
  return bindings;
}

const failingBucket = (): R2Bucket =>
  new Proxy({} as R2Bucket, {
    get: () => () => Promise.reject(new Error("the bucket does not answer")),
  });

type Methods = Readonly<Record<string, (...values: unknown[]) => unknown>>;

/** The bindings of a request with a fault. */
function faultyBindings(env: Env, fault: Fault): Env {
  if (fault === "reads") return { ...env, DB: hookedDatabase(env.DB, async () => lost()) };
  if (fault === "bucket") return { ...env, FILES: failingBucket() };
  if (!isOfObject(fault)) return env;
  const takeForObject = once(fault);
  const { COORDINATOR } = env;
  const call = async (name: string, method: string, values: readonly unknown[]) => {
    // Each time a new stub: an object that has ended takes its stubs with it.
    const stub = () => COORDINATOR.getByName(name) as unknown as VaultCoordinator & Methods;
    const arm = (armed: Fault | undefined) =>
      stub()
        .arm(armed)
        .catch(() => undefined);
    const first = takeForObject();
    if (first) await arm(first);
    try {
      return await stub()[method]!(...values);
    } finally {
      if (first) await arm(undefined);
    }
  };
  const getByName = (name: string) =>
    new Proxy(
      {},
      {
        get:
          (_, method: string) =>
          (...values: unknown[]) =>
            call(name, method, values),
      },
    );
  // The Worker has writes of its own: those of tokens, sessions and people.
  const DB = fault === "evict" || fault.startsWith("abort") ? env.DB : faultyDatabase(env.DB, once(fault), lost);
  return { ...env, DB, COORDINATOR: { getByName } as unknown as Env["COORDINATOR"] };
}

export default {
  async fetch(request, given, context) {
    const env = bindingsOf(given);
    const { pathname } = new URL(request.url);
    if (pathname === HOURLY_PATH) {
      await service.scheduled({ scheduledTime: Date.now() } as ScheduledController, env);
      return new Response(null, { status: 204 });
    }
    if (pathname === QUEUE_PATH) return new Response(String(waiting));
    const fault = request.headers.get(FAULT_HEADER) as Fault | null;
    // A report is reused for seconds by the object of the bindings.
    const fresh = pathname.endsWith("/health") ? { ...env } : env;
    const response = await service.fetch(request, fault ? faultyBindings(fresh, fault) : fresh, context);
    if (fault === UNLOGGED) takeBatch(env.ACTIVITY);
    await flushBatch(fault === LATE_LOG ? { ...env, DB: hookedDatabase(env.DB, async () => lost()) } : env);
    return response;
  },
  async queue(batch, env) {
    await service.queue(batch, bindingsOf(env));
    waiting -= batch.messages.length;
  },
  scheduled: async () => undefined,
} satisfies ExportedHandler<Env, never>;
