/** The alarms of Durable Objects: one time for each object, which the SQLite file has and a timer waits for. */

/** Milliseconds of the longest timer of Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Retries of an alarm that throws, and milliseconds before the first one, as on Cloudflare (developers.cloudflare.com/durable-objects/api/alarms). */
const RETRIES_MAX = 6;
const RETRY_MS = 2_000;

export interface AlarmPorts {
  /** The alarm that the file has: Unix milliseconds. */
  readonly load: () => number | null;
  readonly save: (due: number | null) => void;
  /** Runs the handler of the object. Throws the handler's error. */
  readonly run: () => Promise<void>;
  readonly report: (error: unknown) => void;
}

export interface Alarm {
  /** Returns the time, or `null` if there is none. While the handler runs, only a newly set alarm counts. */
  readonly get: () => number | null;
  readonly set: (due: number | null) => void;
  /** Starts the timer of an alarm that the file had at the start of the process. */
  readonly start: () => void;
  /** Starts no more handlers. The file keeps an alarm while its handler is running. */
  readonly stop: () => void;
}

/**
 * The alarm of one object. The file keeps an alarm until its handler has ended, so a process that dies runs it again. The handler never
 * runs twice at the same time.
 */
export function createAlarm({ load, save, run, report }: AlarmPorts): Alarm {
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  /** True if the handler has set another alarm, or removed it. */
  let isReplaced = false;
  let retries = 0;
  let isStopped = false;

  function wait(milliseconds: number): void {
    clearTimeout(timer);
    timer = setTimeout(ring, Math.min(Math.max(milliseconds, 0), TIMER_MS_MAX));
    timer.unref();
  }

  function waitFor(due: number | null): void {
    clearTimeout(timer);
    if (due !== null && !isRunning) wait(due - Date.now());
  }

  async function ring(): Promise<void> {
    const due = load();
    if (due === null || isRunning || isStopped) return;
    // A timer ends early when its time was longer than Node allows, or the clock went back.
    if (due > Date.now() + 1_000) return waitFor(due);
    isRunning = true;
    isReplaced = false;
    try {
      await run();
      retries = 0;
      if (!isReplaced) save(null);
    } catch (error) {
      if (isStopped) return;
      report(error);
      // Also if another alarm was set, because the transaction that set it may have failed.
      if (++retries > RETRIES_MAX) {
        retries = 0;
        save(null);
      }
    }
    isRunning = false;
    const next = load();
    const pause = retries > 0 ? RETRY_MS * 2 ** (retries - 1) : 0;
    if (next !== null) wait(Math.max(next - Date.now(), pause));
  }

  return {
    get: () => (isRunning && !isReplaced ? null : load()),
    set(due) {
      isReplaced = true;
      if (!isRunning) retries = 0;
      save(due);
      waitFor(due);
    },
    start: () => waitFor(load()),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
