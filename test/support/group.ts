import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { VaultCoordinator } from "../../src/index.ts";
import { type Hooks, rebindCoordinator, sleep, wrapDatabase } from "./bindings.ts";

/**
 * Operations that share one group commit. How many milliseconds a request takes to reach its coordinator varies: here the first
 * D1 call of the coordinator waits until all operations are in its queue.
 */

/** How many operations a coordinator has put into its queue. */
const queued = new WeakMap<VaultCoordinator, number>();

const { write } = VaultCoordinator.prototype; // oxlint-disable-line typescript/unbound-method -- called with `call`
// On the prototype, because RPC does not reach an own property of the object.
VaultCoordinator.prototype.write = function countedWrite(operation) {
  const answer = write.call(this, operation);
  queued.set(this, (queued.get(this) ?? 0) + 1);
  return answer;
};

const queuedIn = (name: string): Promise<number> =>
  runInDurableObject(env.COORDINATOR.getByName(name), (coordinator: VaultCoordinator) => queued.get(coordinator) ?? 0);

export interface Held {
  /** Resolves when a D1 call of the coordinator waits: its operations are no longer in the queue. */
  readonly waiting: () => Promise<void>;
  /** Resolves when so many operations have reached the coordinator since `holdCommits`. */
  readonly arrived: (count: number) => Promise<void>;
  /** Lets the D1 calls go on. */
  readonly release: () => void;
}

/** Makes the D1 calls of a coordinator wait until `release`. In: more hooks of its D1, and more bindings. */
export async function holdCommits(name: string, hooks: Hooks = {}, bindings: Partial<Env> = {}): Promise<Held> {
  const d1 = { held: true, calls: 0 };
  const before = async (statements: number) => {
    d1.calls++;
    while (d1.held) await sleep(1);
    await hooks.before?.(statements);
  };
  await rebindCoordinator(name, { ...bindings, DB: wrapDatabase(bindings.DB ?? env.DB, { ...hooks, before }) });
  const earlier = await queuedIn(name);
  return {
    waiting: async () => {
      while (d1.calls === 0) await sleep(1);
    },
    arrived: async (count) => {
      while ((await queuedIn(name)) < earlier + count) await sleep(1);
    },
    release: () => void (d1.held = false),
  };
}

/**
 * Sends requests so that all but the first form one group, in their order. In: a first request, which has the coordinator wait
 * for D1, and the others; each sends one operation. Out: the answers.
 */
export async function inOneGroup<T>(
  name: string,
  first: () => Promise<T>,
  others: readonly (() => Promise<T>)[],
  ...held: [hooks?: Hooks, bindings?: Partial<Env>]
): Promise<{ readonly first: T; readonly others: readonly T[] }> {
  const { waiting, arrived, release } = await holdCommits(name, ...held);
  const answer = first();
  await waiting();
  const answers: Promise<T>[] = [];
  for (const send of others) {
    answers.push(send());
    await arrived(1 + answers.length);
  }
  release();
  return { first: await answer, others: await Promise.all(answers) };
}
