import { type Alarm, createAlarm } from "./alarms.ts";
import { createObjectTables, type RunSql } from "./object-tables.ts";
import { createStatements, type SqlValue } from "./statements.ts";
import type { Turns } from "./turns.ts";
import { createAcceptedSockets } from "./web-sockets.ts";

/**
 * Durable Objects (developers.cloudflare.com/durable-objects): one instance for each name, with its own SQLite and alarm. Their tables are in
 * the file of D1, so that a loss of power leaves no commit without its coordinator's records. Arguments and answers are not copied, because
 * the service does not change them.
 */
export interface Objects {
  readonly namespace: (className: string, create: ObjectClass) => DurableObjectNamespace;
  /** Starts the alarms that the file has. Called once every class has its namespace. */
  readonly start: () => void;
  /** Gives the present bindings to all instances, including those in use. */
  readonly renewBindings: () => void;
  /** Ends the instance of each object that was idle for `idleMs`. */
  readonly evict: (idleMs: number) => void;
  /** Ends every instance. The work that an instance was about to do in an alarm is done after the next start. */
  readonly stop: () => void;
}

/** The bindings of the Worker, by their names in wrangler.toml. */
export type Bindings = Readonly<Record<string, unknown>>;

export type ObjectClass = new (state: DurableObjectState, env: Bindings) => object;

type Report = (what: string, error: unknown) => void;

/** Milliseconds without a call after which an instance leaves memory. */
const IDLE_MS = 60_000;

const SQL = {
  create: `CREATE TABLE IF NOT EXISTS host_objects (
    id INTEGER NOT NULL PRIMARY KEY, class TEXT NOT NULL, name TEXT NOT NULL, alarm INTEGER, UNIQUE (class, name)
  ) STRICT`,
  find: "SELECT id FROM host_objects WHERE class = ?1 AND name = ?2",
  insert: "INSERT INTO host_objects (class, name) VALUES (?1, ?2) RETURNING id",
  alarm: "SELECT alarm FROM host_objects WHERE id = ?1",
  setAlarm: "UPDATE host_objects SET alarm = ?2 WHERE id = ?1",
  due: "SELECT class, name FROM host_objects WHERE alarm IS NOT NULL",
};

/** Opens the objects of the file. `env` returns the bindings of a new instance; `report` gets the errors that no caller gets. */
export function createObjects(turns: Turns, env: () => Bindings, report: Report): Objects {
  turns.db.exec(SQL.create);
  const statementOf = createStatements(turns.db);
  const tablesOf = createObjectTables(turns);
  const classes = new Map<string, { readonly create: ObjectClass; readonly objects: Map<string, LocalObject> }>();

  const idOf = (className: string, name: string): number => {
    const found = statementOf(SQL.find).get(className, name) as { id: number } | undefined;
    return found?.id ?? turns.transaction(() => statementOf(SQL.insert).get(className, name) as { id: number }).id;
  };

  function objectOf(className: string, name: string): LocalObject {
    const { create, objects } = classes.get(className)!;
    const known = objects.get(name);
    if (known) return known;
    const id = idOf(className, name);
    const object = new LocalObject({
      turns,
      runSql: tablesOf(id),
      create: (state) => new create(state, env()),
      loadAlarm: () => (statementOf(SQL.alarm).get(id) as { alarm: number | null }).alarm,
      saveAlarm: (due) => void statementOf(SQL.setAlarm).run(id, due),
      report,
    });
    objects.set(name, object);
    return object;
  }

  const all = () => [...classes.values()].flatMap(({ objects }) => Array.from(objects.values()));
  const evict = (idleMs: number): void => {
    for (const object of all()) object.evict(idleMs);
  };
  const timer = setInterval(evict, IDLE_MS, IDLE_MS).unref();

  return {
    namespace(className, create) {
      classes.set(className, { create, objects: new Map() });
      return { getByName: (name: string) => stubOf(objectOf(className, name)) } as unknown as DurableObjectNamespace;
    },
    start() {
      for (const { class: className, name } of statementOf(SQL.due).all() as { class: string; name: string }[])
        if (classes.has(className)) objectOf(className, name).alarm.start();
    },
    renewBindings() {
      for (const object of all()) object.renewBindings(env());
    },
    evict,
    stop() {
      clearInterval(timer);
      for (const object of all()) object.stop();
    },
  };
}

/** A stub: each of its methods is one of the object. */
function stubOf(object: LocalObject): object {
  const methods: Record<string, unknown> = {};
  return new Proxy(methods, {
    get(_, method: string) {
      if (method === "then") return undefined; // a stub that is awaited is no promise
      if (method === "fetch") return (url: string, init: RequestInit) => object.call(method, [new Request(url, init)]);
      return (methods[method] ??= (...values: unknown[]) => object.call(method, values));
    },
  });
}

type Methods = Readonly<Record<string, (...values: unknown[]) => unknown>>;

interface Instance {
  readonly methods: Methods;
  /** Why the instance has ended. Its storage throws it. */
  error: Error | undefined;
  /** Reject the calls that it has not answered. */
  readonly calls: Set<(error: Error) => void>;
  /** By the clock of `performance`. */
  usedAt: number;
}

interface ObjectParts {
  readonly turns: Turns;
  readonly runSql: RunSql;
  readonly create: (state: DurableObjectState) => object;
  readonly loadAlarm: () => number | null;
  readonly saveAlarm: (due: number | null) => void;
  readonly report: Report;
}

/** One object: its stored state, and its instance, if any. */
class LocalObject {
  readonly alarm: Alarm;
  readonly #parts: ObjectParts;
  readonly #sockets = createAcceptedSockets();
  #instance: Instance | undefined;

  constructor(parts: ObjectParts) {
    const { turns, loadAlarm, saveAlarm, report } = parts;
    this.#parts = parts;
    const failed = (error: Error): void => this.#end(this.#instance, error);
    this.alarm = createAlarm({
      load: loadAlarm,
      save: (due) => turns.write(failed, () => saveAlarm(due)),
      run: () => this.call("alarm", []) as Promise<void>,
      report: (error) => report("An alarm", error),
    });
  }

  /** Calls a method in its own turn. Throws the error of the method, or the error that has ended the instance. */
  async call(method: string, values: readonly unknown[]): Promise<unknown> {
    const { turns } = this.#parts;
    await turns.next();
    const instance = (this.#instance ??= this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    instance.calls.add(reject);
    const run = async () => instance.methods[method]!(...values);
    run().then(resolve, reject);
    try {
      const answer = await promise;
      turns.end();
      if (instance.error) throw instance.error;
      return answer;
    } finally {
      instance.calls.delete(reject);
      instance.usedAt = performance.now();
    }
  }

  /** Ends the instance, unless it was used in the last milliseconds. */
  evict(idleMs: number): void {
    const instance = this.#instance;
    if (!instance || instance.calls.size > 0 || performance.now() - instance.usedAt < idleMs) return;
    this.#end(instance, new Error("The Durable Object was evicted."));
  }

  /** The service reads `this.env` in each call. */
  renewBindings(env: Bindings): void {
    if (this.#instance) Reflect.set(this.#instance.methods, "env", env);
  }

  stop(): void {
    this.alarm.stop();
    this.#end(this.#instance, new Error("The server is stopping."));
  }

  #start(): Instance {
    const instance = { error: undefined, calls: new Set(), usedAt: performance.now() } as unknown as Instance;
    const { create } = this.#parts;
    const state = {
      storage: this.#storageOf(instance),
      acceptWebSocket: this.#sockets.accept,
      getWebSockets: this.#sockets.list,
      abort: (reason = "The Durable Object was aborted.") => {
        const error = new Error(reason);
        this.#end(instance, error);
        throw error;
      },
    } as unknown as DurableObjectState;
    return Object.assign(instance, { methods: create(state) as Methods });
  }

  #end(instance: Instance | undefined, error: Error): void {
    if (!instance) return;
    instance.error ??= error;
    if (this.#instance === instance) this.#instance = undefined;
    for (const reject of instance.calls) reject(error);
  }

  /** The storage as an instance sees it. The alarm is read and set within the turn: no event comes before the code that awaits it. */
  #storageOf(instance: Instance) {
    const { runSql } = this.#parts;
    const failed = (error: Error): void => this.#end(instance, error);
    const check = (): void => {
      if (instance.error) throw instance.error;
    };
    const exec = (sql: string, ...values: SqlValue[]) => {
      check();
      const rows = runSql(sql, values, failed);
      return { toArray: () => rows, one: () => rows[0] };
    };
    return {
      sql: { exec },
      getAlarm: async () => {
        check();
        return this.alarm.get();
      },
      setAlarm: async (time: number | Date) => {
        check();
        this.alarm.set(Number(time));
      },
    };
  }
}
