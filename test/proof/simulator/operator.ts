import { Operator } from "../../../src/index.ts";
import type { Operation } from "../../../src/model/operation.ts";
import type { RestoreContents } from "../../../src/store/restore/step.ts";
import type { Coordinators } from "./coordinators.ts";
import { faultyBackups, faultyBucket } from "./faulty-bucket.ts";
import { connectDatabase } from "./faulty-database.ts";
import { serveIn } from "./serving.ts";
import { createStorage, type Storage, storageOf } from "./storage.ts";
import { type Violation, violation } from "./violations.ts";
import { never, type World } from "./world.ts";

/** The operator that ships: one instance after the other, and the alarms that make the steps of its jobs. */
export interface SimulatedOperator {
  /** The operator as a Worker reaches it. */
  readonly binding: Env["OPERATOR"];
  /** Ends the instance; the next ones have this root key as the active one. */
  readonly restart: (activeKey: string) => void;
  readonly storage: Storage;
}

/** Milliseconds of one way within a data center, and of the longest time until an instance ends in a step. */
const WAY = 2;
const STEP = 60;
/** The share of its calls of D1 that may have a fault: a step of a backup makes some dozens, and has to begin again when one fails. */
const FAULTY = 0.3;
/** Milliseconds after which the platform rings again. */
const RETRY = 2_000;

interface Instance {
  readonly operator: Operator;
  readonly hasEnded: () => boolean;
  readonly end: () => void;
  /** Resolves when the instance has ended. */
  readonly ended: Promise<void>;
}

const lost = () => new Error("Durable Object reset because its code was updated.");

/** In: the variables of the Worker, whose first root key is the active one of the operator too until `restart`. */
export function createOperator(world: World, bindings: Env, coordinators: Coordinators): SimulatedOperator {
  const { clock, random, faults, plant } = world;
  const storage = createStorage();
  let activeKey = "k1";
  let current: Instance | undefined;

  const coordinatorOf = (vault: string) => ({
    spaceCommits: () => coordinators.send(vault, (one) => one.spaceCommits()),
    prepareRestore: (contents: RestoreContents) => coordinators.send(vault, (one) => one.prepareRestore(contents)),
    write: (operation: Operation) => coordinators.send(vault, (one) => one.write(operation)),
  });

  function start(): Instance {
    let isEnded = false;
    const hasEnded = () => isEnded;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const end = (): void => {
      isEnded = true;
      resolve();
    };
    const env: Env = {
      ...bindings,
      ROOT_KEYS: JSON.stringify({ ...(JSON.parse(bindings.ROOT_KEYS) as object), active: activeKey }),
      DB: connectDatabase(world, { name: "operator", hasEnded, share: FAULTY }),
      FILES: faultyBucket(world, hasEnded),
      BACKUPS: faultyBackups(world, hasEnded),
      COORDINATOR: { getByName: coordinatorOf } as unknown as Env["COORDINATOR"],
    };
    const ofInstance = storageOf({ ...storage, exec: (sql, ...values) => storage.exec(plant.rewrite(sql), ...values) }, hasEnded);
    const setAlarm = async (time: number): Promise<void> => (hasEnded() ? never() : ringAt(time));
    const operator = new Operator({ storage: { ...ofInstance, setAlarm } } as unknown as DurableObjectState, env);
    return { operator, hasEnded, end, ended };
  }

  const instance = (): Instance => (current = current && !current.hasEnded() ? current : start());

  let turn = Promise.resolve();

  /** Rings the alarm if it is due. No two alarms run at the same time. */
  async function ring(): Promise<void> {
    if (storage.alarm === null || storage.alarm > clock.now()) return;
    storage.alarm = null;
    const { operator, hasEnded, end, ended } = instance();
    if (faults.draw(["operator ended during a step"])) clock.after(STEP * random(), end);
    const alarm = operator.alarm().catch((error: unknown) => (hasEnded() ? undefined : Promise.reject(error)));
    await Promise.race([alarm, ended]);
    // The platform rings again for an instance that has ended before it has set the next alarm.
    if (hasEnded() && storage.alarm === null) ringAt(clock.now() + RETRY);
    if (faults.draw(["operator ended between steps"])) end();
  }

  function ringAt(time: number): void {
    storage.alarm = time;
    clock.after(time - clock.now(), () => (turn = turn.then(ring)));
  }

  /** A call of a method over the network. */
  async function deliver(method: keyof Operator, values: readonly unknown[]): Promise<unknown> {
    const fault = faults.draw(["operator lost before the call", "operator lost after the call"]);
    const { operator, hasEnded } = instance();
    await clock.sleep(WAY * random());
    if (fault === "operator lost before the call" || hasEnded()) throw lost();
    const call = operator[method] as (this: Operator, ...args: unknown[]) => Promise<unknown>;
    const answer = await serveIn(undefined, () => call.apply(operator, [...values])); // it has a clock of its own
    await clock.sleep(WAY * random());
    if (fault === "operator lost after the call" || hasEnded()) throw lost();
    return answer;
  }

  const stub = new Proxy(
    {},
    {
      get:
        (_, name: keyof Operator) =>
        (...values: readonly unknown[]) =>
          deliver(name, values),
    },
  );

  return {
    binding: { getByName: () => stub } as unknown as Env["OPERATOR"],
    restart(active) {
      activeKey = active;
      current?.end();
    },
    storage,
  };
}

/** The rows under another root key than k1, counted one by one. */
const OTHER_ROWS = `SELECT ${["vaults", "tokens", "ended_tokens"]
  .map((table) => `(SELECT count(*) FROM ${table} WHERE root_key_id <> 'k1')`)
  .join(" + ")} AS rows`;

interface StoredJob {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly reason: string | null;
  readonly holds: string | null;
  readonly created_at: number;
  readonly ended_at: number | null;
}

/** Whether of two jobs one excludes the other: they hold the same, or one a part of what the other does. */
const exclude = (a: string | null, b: string | null): boolean =>
  a !== null && b !== null && (a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`));

/** Why a backup or a restore may fail here: each of its faults is one of these. */
const REASONS: ReadonlySet<string | null> = new Set(["unavailable", "uncertain", "database_full", "misconfigured"]);

/** In: the ids of the jobs that were answered 202. */
export function checkJobs({ storage }: SimulatedOperator, started: readonly string[], world: World): Violation[] {
  const jobs = storage.exec("SELECT * FROM jobs ORDER BY created_at, id") as unknown as StoredJob[];
  const ids = new Set(jobs.map(({ id }) => id));
  const lostJobs = started.filter((id) => !ids.has(id));
  const unended = jobs.filter((job) => job.ended_at === null);
  const beside = jobs.filter((job, index) =>
    jobs.slice(index + 1).some((other) => exclude(job.holds, other.holds) && other.created_at < (job.ended_at ?? Infinity)),
  );
  const failed = jobs.filter(
    ({ kind, state, reason }) => /backup|restore/.test(kind) && state === "failed" && !REASONS.has(reason),
  );
  const [{ rows }] = world.database.query<{ rows: number }>(OTHER_ROWS) as [{ rows: number }];
  return [
    ...lostJobs.map((id) => violation("job is lost", id)),
    ...unended.map(({ id, state, reason }) => violation("job has not ended", `${id} ${state} ${reason}`)),
    ...failed.map(({ id, kind, reason }) => violation("job failed without a fault", `${kind} ${id}: ${reason}`)),
    ...beside.map(({ id, holds }) => violation("job ran beside one that it excludes", `${id} ${holds}`)),
    ...(rows > 0 ? [violation("job is done without its work", `${rows} rows are under another root key`)] : []),
  ];
}
