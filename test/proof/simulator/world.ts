import { createHash } from "node:crypto";
import { seeded } from "../../support/seeded.ts";
import { type Clock, createClock } from "./clock.ts";
import { createDatabase, type Database, type Statement } from "./database.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createObjects, type Objects } from "./objects.ts";
import type { Plant } from "./plants.ts";
import type { LocalClock } from "./serving.ts";

/** The replicas of D1 (replicas.ts), and the stalls of its primary. */
export interface Replicas {
  /** Reads from one of the replicas, when it has reached a bookmark. Out: the results, and the state in which they were read. */
  readonly read: (from: string, statements: readonly Statement[]) => Promise<{ results: D1Result[]; bookmark: string }>;
  /** Milliseconds for which the primary still gives no answer; 0 when it does. */
  readonly stall: () => number;
  /** Lets the primary give no answer for so many milliseconds. */
  readonly stallFor: (milliseconds: number) => void;
  readonly close: () => void;
}

/** What the parts of a run share: time, randomness, D1, R2, the faults, and the record of what happened. */
export interface World {
  readonly seed: number;
  readonly random: () => number;
  /** One of the entries. */
  readonly pick: <T>(from: readonly T[]) => T;
  readonly clock: Clock;
  readonly database: Database;
  /** The bucket FILES, and the bucket BACKUPS. */
  readonly objects: Objects;
  readonly backups: Objects;
  readonly faults: Faults;
  readonly plant: Plant;
  /** The next tick of the history's clock, which orders requests, effects and answers. */
  readonly tick: () => number;
  /** When a tick was, in Unix milliseconds. */
  readonly timeOf: (tick: number) => number;
  /** The id of the deployment. */
  readonly deployment: string;
  /** The replicas of D1; absent: every session is of the primary. */
  replicas?: Replicas;
  /** Starts the clock of an isolate or a coordinator; absent: all have the true time. */
  startClock?: () => LocalClock;
  /** Adds a line to what happened. */
  readonly trace: (line: string) => void;
  /** A hash of everything that happened: equal for two runs of one seed. */
  readonly hash: () => string;
}

const DAY = 24 * 60 * 60 * 1000;
/** Milliseconds: a day of the log ends in the middle of a long run. */
const BEFORE_MIDNIGHT = 3_000;
/** The clock of every seed stays far before the year 9999. */
const STARTS = 1_000_000;
/** The runs of an isolate begin at different times, because the service keeps what it knows of tokens for a minute. */
const startOf = (seed: number): number => Date.UTC(2027, 0, 1) + (seed % STARTS) * DAY - BEFORE_MIDNIGHT;

export function createWorld(seed: number, plant: Plant): World {
  const random = seeded(seed);
  const hash = createHash("sha256");
  let lines: string[] = [];
  const trace = (line: string): void => {
    if (lines.push(line) < 1_000) return;
    hash.update(lines.join("\n"));
    lines = [];
  };
  const clock = createClock(startOf(seed), random, (time) => trace(String(time)));
  const times = [0];
  const tick = (): number => times.push(clock.now()) - 1;
  const deployment = createHash("sha256").update(String(seed)).digest("hex").slice(0, 32);
  return {
    seed,
    random,
    pick: (from) => from[Math.floor(random() * from.length)]!,
    clock,
    database: createDatabase(deployment, tick),
    objects: createObjects(),
    backups: createObjects(),
    faults: createFaults(random),
    plant,
    tick,
    timeOf: (one) => times[one]!,
    deployment,
    trace,
    hash: () => hash.copy().update(lines.join("\n")).digest("hex"),
  };
}

/** A step that never ends: the code that awaits it goes no further. */
export const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
