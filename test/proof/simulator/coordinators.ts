import { VaultCoordinator } from "../../../src/index.ts";
import type { ContentAddress } from "../../../src/model/file.ts";
import type { Answer, Operation } from "../../../src/model/operation.ts";
import type { Result } from "../../../src/model/result.ts";
import type { RestoreContents } from "../../../src/store/restore/step.ts";
import type { FaultName } from "./faults.ts";
import { faultyBucket } from "./faulty-bucket.ts";
import { connectDatabase } from "./faulty-database.ts";
import { serveIn, startServing, trueClock } from "./serving.ts";
import { createStorage, type Storage, storageOf } from "./storage.ts";
import type { World } from "./world.ts";

/** The instances of the coordinators: those that ship, one after the other for each vault, and for a while two at a time. */

export interface Instance {
  readonly name: string;
  readonly write: (operation: Operation) => Promise<Result<Answer>>;
  readonly spaceCommits: () => Promise<void>;
  readonly prepareRestore: (contents: RestoreContents) => Promise<Result<undefined>>;
  readonly expect: (address: ContentAddress) => Promise<void>;
  readonly hasEnded: () => boolean;
  readonly evict: () => void;
  /** The ids of the operations in the order in which they arrived. */
  readonly arrived: string[];
}

export interface Coordinators {
  /** The instance that a new stub reaches: the newest one, or for a while the one before it. */
  readonly instanceFor: (vault: string) => Instance;
  /** Sends a message to a coordinator. In: ends the Worker that sends it; absent: the sender has no faults of its own. */
  readonly send: <T>(vault: string, message: (instance: Instance) => Promise<T>, end?: () => Promise<never>) => Promise<T>;
  /** Every instance that there was. */
  readonly instances: readonly Instance[];
  /** Runs the alarm of each vault that is due. Out: whether there was one. */
  readonly runAlarms: () => Promise<boolean>;
  readonly storages: ReadonlyMap<string, Storage>;
}

/** Milliseconds for which an old instance may still work beside a new one. */
const OVERLAP = 30_000;

/** Milliseconds of one way within a data center. */
const WAY = 2;

const CALL_FAULTS = [
  "coordinator lost before the call",
  "coordinator lost after the call",
  "coordinator overloaded",
  "coordinator replaced by a new one",
  "Worker ended before the call",
  "Worker ended after the call",
] as const satisfies readonly FaultName[];

const connectionLost = () => new Error("Network connection lost.");

/** In: the variables of the Worker. */
export function createCoordinators(world: World, bindings: Env): Coordinators {
  const { clock, random, faults } = world;
  const storages = new Map<string, Storage>();
  const current = new Map<string, Instance[]>();
  const instances: Instance[] = [];

  function start(vault: string): Instance {
    const storage = storages.get(vault) ?? createStorage();
    storages.set(vault, storage);
    const name = `coordinator ${instances.length}`;
    let ended = false;
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined); // an instance without callers may end too
    const evict = (): void => {
      ended = true;
      lost.reject(new Error("Durable Object reset because its code was updated."));
    };
    const hasEnded = () => ended;
    const env: Env = {
      ...bindings,
      DB: connectDatabase(world, { name, hasEnded, evict }),
      FILES: faultyBucket(world, hasEnded),
    };
    const coordinator = new VaultCoordinator(
      { storage: storageOf(storage, hasEnded), getWebSockets: () => [] } as unknown as DurableObjectState,
      env,
    );
    const arrived: string[] = [];
    const serving = startServing(world.startClock?.() ?? trueClock());
    const serve = <T>(call: () => Promise<T>): Promise<T> => Promise.race([serveIn(serving, call), lost.promise]);
    const instance: Instance = {
      name,
      write(operation) {
        arrived.push(operation.id);
        return serve(() => coordinator.write(operation));
      },
      spaceCommits: () => serve(() => coordinator.spaceCommits()),
      prepareRestore: (contents) => serve(() => coordinator.prepareRestore(contents)),
      expect: (address) => serve(() => coordinator.expect(address)),
      hasEnded,
      evict,
      arrived,
    };
    alarms.set(instance, () => serveIn(serving, () => coordinator.alarm()));
    instances.push(instance);
    return instance;
  }

  const alarms = new Map<Instance, () => Promise<void>>();
  const alive = (vault: string): Instance[] => (current.get(vault) ?? []).filter((one) => !one.hasEnded());

  function instanceFor(vault: string): Instance {
    const found = alive(vault);
    const known = found.length > 0 ? found : [start(vault)];
    current.set(vault, known);
    // The newest comes first.
    return known.length > 1 && random() < 0.4 ? known[1]! : known[0]!;
  }

  /** Starts a new instance beside the current one, which ends some time later. */
  function replace(vault: string): void {
    const [old, ...others] = alive(vault);
    for (const other of others) other.evict();
    current.set(vault, [start(vault), ...(old ? [old] : [])]);
    if (old) clock.after(OVERLAP * random() * random() * random(), old.evict);
  }

  return {
    instanceFor,
    instances,
    storages,
    async send(vault, message, end) {
      const fault = faults.draw(CALL_FAULTS);
      const instance = instanceFor(vault);
      if (fault === "coordinator replaced by a new one") replace(vault);
      await clock.sleep(WAY * random());
      if (fault === "coordinator lost before the call" || instance.hasEnded()) throw connectionLost();
      if (fault === "coordinator overloaded")
        throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
      if (fault === "Worker ended before the call" && end) return end();
      const answer = message(instance);
      const isLost = fault === "coordinator lost after the call" || fault === "Worker ended after the call";
      if (isLost) answer.catch(() => undefined); // the coordinator goes on without its caller
      if (isLost) await clock.sleep(5 * WAY * random());
      if (fault === "coordinator lost after the call") throw connectionLost();
      if (fault === "Worker ended after the call" && end) return end();
      const result = await answer;
      await clock.sleep(WAY * random());
      if (instance.hasEnded()) throw connectionLost();
      return result;
    },
    async runAlarms() {
      let found = false;
      for (const [vault, storage] of storages) {
        if (storage.alarm === null || storage.alarm > clock.now()) continue;
        storage.alarm = null;
        found = true;
        await alarms.get(instanceFor(vault))!();
      }
      return found;
    },
  };
}
