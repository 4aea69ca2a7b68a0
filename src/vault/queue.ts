/**
 * A queue with group commit: one commit at a time. Operations that arrive during a commit wait, in order, and form the next group. An `await`
 * on D1 lets other requests into a Durable Object, so a plain read-modify-write would lose writes. A mutex would make each write wait for the
 * round trips of all writes before it. The queue does not depend on vaults or D1.
 */
export interface Queue<O, A> {
  /** Resolves with the operation's answer. Never rejects. */
  submit(operation: O): Promise<A>;
}

export interface QueueOptions<O, A> {
  /** Commits a group. Returns one answer per operation, in order. */
  readonly commit: (group: readonly O[]) => Promise<readonly A[]>;
  /** The answer when the queue is full. */
  readonly busy: A;
  /** Returns the answer to every operation of a group whose commit threw. */
  readonly failed: (error: unknown) => A;
  /** Limits: waiting operations, the bytes of their bodies together, and operations of a group. */
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly group: number;
  /** Limit of the bytes of a group's bodies; absent: none. A larger operation forms a group of its own. */
  readonly groupBytes?: number;
  /** Returns true if the next group has to wait, as long as the queue is less than half full. Absent: never. */
  readonly isSpaced?: () => boolean;
}

/** Short compared with a commit, and long enough for the next writes of concurrent writers to arrive. */
const ONE_MS = 1;

/** Wait of the next group if groups are spaced, and the interval of the checks whether the queue is half full. */
const SPACE_MS = { whole: 250, step: 25 };

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

interface Entry<O, A> {
  readonly operation: O;
  readonly resolve: (answer: A) => void;
}

export function createQueue<O extends { readonly size: number }, A>(options: QueueOptions<O, A>): Queue<O, A> {
  const entries: Entry<O, A>[] = [];
  let bytes = 0;
  let running = false;
  /** The size of the previous group: an estimate of the number of concurrent writers. */
  let expected = 1;

  async function drain(): Promise<void> {
    running = true;
    while (entries.length > 0) {
      // Without the wait, the first of several writers would get a separate commit, and the other writers the next one.
      if (entries.length < expected) await sleep(ONE_MS);
      if (options.isSpaced?.()) await waitForSpace();
      const group = takeGroup();
      expected = group.length;
      const answers = await carryOut(group.map((entry) => entry.operation));
      for (const [index, entry] of group.entries()) entry.resolve(answers[index]!);
    }
    running = false;
  }

  const isHalfFull = (): boolean => entries.length * 2 >= options.waiting || bytes * 2 >= options.waitingBytes;

  async function waitForSpace(): Promise<void> {
    for (let waited = 0; waited < SPACE_MS.whole && !isHalfFull(); waited += SPACE_MS.step) await sleep(SPACE_MS.step);
  }

  /** Takes the first operations that fit into a group together, at least one. */
  function takeGroup(): Entry<O, A>[] {
    const { group, groupBytes = Infinity } = options;
    let [count, size] = [0, 0];
    for (const { operation } of entries.slice(0, group)) {
      if (count > 0 && size + operation.size > groupBytes) break;
      count++;
      size += operation.size;
    }
    bytes -= size;
    return entries.splice(0, count);
  }

  async function carryOut(group: readonly O[]): Promise<readonly A[]> {
    try {
      return await options.commit(group);
    } catch (error) {
      const answer = options.failed(error);
      return group.map(() => answer);
    }
  }

  return {
    async submit(operation) {
      if (entries.length >= options.waiting || bytes + operation.size > options.waitingBytes) return options.busy;
      bytes += operation.size;
      const answer = new Promise<A>((resolve) => entries.push({ operation, resolve }));
      if (!running) void drain();
      return answer;
    },
  };
}

/** Runs a task when all earlier ones have ended. */
export type Turns = <T>(task: () => Promise<T>) => Promise<T>;

/** Runs tasks one after the other, in the order in which they came. A task that throws does not stop the next one. */
export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const next = last.then(task, task);
    last = next.catch(() => undefined);
    return next;
  };
}
