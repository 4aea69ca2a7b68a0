/** The faults of a run and the other rare events, and how likely each is. */

/** The probability of each fault, from 0 to 1, at each call in which it may happen. */
export const FAULT_RATES = {
  // Each D1 call.
  "D1 failed before the batch": 0.03,
  "D1 failed after the batch": 0.03,
  "D1 overloaded": 0.005,
  "D1 executed the batch after the deadline": 0.005,
  "D1 answered after the deadline": 0.003,
  "D1 lost the batch": 0.003,
  // Each D1 call of a coordinator.
  "coordinator evicted during a D1 call": 0.008,
  // Each call of a coordinator.
  "coordinator lost before the call": 0.005,
  "coordinator lost after the call": 0.005,
  "coordinator overloaded": 0.002,
  "coordinator replaced by a new one": 0.01,
  "Worker ended before the call": 0.003,
  "Worker ended after the call": 0.003,
  "operation that throws": 0.002,
  "operation of a newer format": 0.001,
  "operation of a newer kind": 0.001,
  // Each call of the operator, and each step of a job.
  "operator lost before the call": 0.05,
  "operator lost after the call": 0.05,
  "operator ended during a step": 0.05,
  "operator ended between steps": 0.05,
  // Each call of R2.
  "R2 failed before the call": 0.05,
  "R2 failed after the call": 0.05,
  // Each call of the bucket of backups.
  "BACKUPS failed before the call": 0.01,
  "BACKUPS failed after the call": 0.01,
  // Each message of the queue of the log, and each delivery of some.
  "message delivered twice": 0.05,
  "consumer ended": 0.05,
  // Each request.
  "isolate ended": 0.001,
  "root keys rewrapped": 0.003,
  "token revoked": 0.006,
  "vault renamed": 0.003,
  "key renewed": 0.002,
  "backup started": 0.01,
  "value that D1 refuses": 0.003,
  "database nearly full": 0.002,
  "database full": 0.002,
  // Each run.
  "database nearly full during the last flushes": 0.3,
} as const;

export type FaultName = keyof typeof FAULT_RATES;

/** D1's words for calls of unknown outcome (developers.cloudflare.com/d1/observability/debug-d1). */
const LOST = [
  "Network connection lost.",
  "D1 DB storage operation exceeded timeout which caused object to be reset.",
  "Internal error while starting up D1 DB storage caused object to be reset.",
  "D1 DB reset because its code was updated.",
];

/** D1's words for calls that it did not run. */
const OVERLOADED = ["D1 DB is overloaded. Requests queued for too long.", "D1 DB is overloaded. Too many requests queued."];

export interface Faults {
  readonly counts: ReadonlyMap<FaultName, number>;
  /** One of the faults, or none. Always none after `stop`. */
  readonly draw: (possible: readonly FaultName[]) => FaultName | undefined;
  readonly stop: () => void;
  /** Lets faults happen again after `stop`. */
  readonly resume: () => void;
  readonly lostError: () => Error;
  readonly overloadedError: () => Error;
}

/** In: random numbers from 0 to 1. */
export function createFaults(random: () => number): Faults {
  const counts = new Map<FaultName, number>();
  let stopped = false;
  const errorOf = (words: readonly string[]) => new Error(`D1_ERROR: ${words[Math.floor(random() * words.length)]}`);
  return {
    counts,
    draw(possible) {
      if (stopped) return undefined;
      let left = random();
      const fault = possible.find((name) => (left -= FAULT_RATES[name]) < 0);
      if (fault) counts.set(fault, (counts.get(fault) ?? 0) + 1);
      return fault;
    },
    stop: () => void (stopped = true),
    resume: () => void (stopped = false),
    lostError: () => errorOf(LOST),
    overloadedError: () => errorOf(OVERLOADED),
  };
}
