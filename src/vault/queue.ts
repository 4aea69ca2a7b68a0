/**
 * Group commit: one commit at a time; what arrives meanwhile waits, in order, and goes together into the next.
 * An `await` on D1 lets other requests into a Durable Object, so a plain read-modify-write would lose writes; a mutex
 * would make each wait for all the round trips of those before it. Where there were several, the first to come back waits
 * a moment for the others: else it would take a commit for itself, and they the next one. Knows nothing of vaults, D1 or Durable Objects.
 */
export interface Queue<O, A> {
  /** Resolves with the operation's answer. Never rejects. */
  submit(operation: O): Promise<A>;
}

export interface QueueOptions<O, A> {
  /** Carries a group out. Out: an answer an operation, in order. */
  readonly commit: (group: readonly O[]) => Promise<readonly A[]>;
  /** The answer to what arrives when too much is waiting. */
  readonly busy: A;
  /** The answer to a group whose commit threw. */
  readonly failed: (error: unknown) => A;
  /** At most so many operations wait, of so many bytes together; and so many go into one group. */
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly group: number;
}

/** A millisecond: little beside a commit, and enough for the first of many to wait for the others. */
const moment = () => new Promise((resolve) => setTimeout(resolve, 1));

interface Entry<O, A> {
  readonly operation: O;
  readonly resolve: (answer: A) => void;
}

export function createQueue<O extends { readonly size: number }, A>(options: QueueOptions<O, A>): Queue<O, A> {
  const entries: Entry<O, A>[] = [];
  let bytes = 0;
  let running = false;
  /** How many went into the last group. Who wrote together comes back together, a moment after the answers. */
  let lately = 1;

  async function drain(): Promise<void> {
    running = true;
    while (entries.length > 0) {
      if (entries.length < lately) await moment();
      lately = Math.min(entries.length, options.group);
      const group = entries.splice(0, options.group);
      for (const { operation } of group) bytes -= operation.size;
      const answers = await carryOut(group.map((entry) => entry.operation));
      for (const [index, entry] of group.entries()) entry.resolve(answers[index]!);
    }
    running = false;
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
