/** Virtual time: what is to happen, in the order of its time. Between two events all promises that can go on do so. */
export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Lets a function run after some milliseconds, at random before or after others of the same time. */
  readonly after: (milliseconds: number, run: () => void) => Timer;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Lets things happen, one after the other, until `done`. Throws when nothing is left that could happen. */
  readonly run: (done: () => boolean) => Promise<void>;
}

export interface Timer {
  readonly time: number;
  readonly order: number;
  /** Absent when the timer was cancelled. */
  run: (() => void) | undefined;
}

/** In: Unix milliseconds at the start; random numbers from 0 to 1; `onEvent` gets the time of each event. */
export function createClock(start: number, random: () => number, onEvent: (time: number) => void): Clock {
  const heap: Timer[] = [];
  let now = start;

  const isBefore = (a: Timer, b: Timer): boolean => (a.time === b.time ? a.order < b.order : a.time < b.time);

  function push(timer: Timer): void {
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(timer, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  function pop(): Timer | undefined {
    const [first] = heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }

  const after = (milliseconds: number, run: () => void): Timer => {
    const timer = { time: now + Math.max(0, milliseconds), order: random(), run };
    push(timer);
    return timer;
  };

  /** The next timer that was not cancelled. */
  function next(): Timer & { run: () => void } {
    for (;;) {
      const timer = pop();
      if (!timer) throw new Error("nothing is left that could happen, and the run is not over");
      if (timer.run) return timer as Timer & { run: () => void };
    }
  }

  return {
    now: () => Math.floor(now),
    after,
    sleep: (milliseconds) => new Promise((resolve) => void after(milliseconds, resolve)),
    async run(done) {
      for (await promisesSettled(); !done(); await promisesSettled()) {
        const timer = next();
        now = timer.time;
        onEvent(now);
        timer.run();
      }
    },
  };
}

const { setImmediate: nextTurn } = globalThis;

/** Resolves in the next turn of Node's event loop: after all promise jobs, because nothing here waits for I/O or threads. */
const promisesSettled = (): Promise<void> => new Promise((resolve) => void nextTurn(resolve));
