import type { Failure } from "../model/failure.ts";
import type { Finding } from "../model/finding.ts";
import type { Result } from "../model/result.ts";
import type { BucketBindings } from "../store/backup/load.ts";
import type { Store } from "../store/d1/database.ts";
import type { JobReached } from "../store/jobs/job-rows.ts";
import type { WriteRows } from "../store/jobs/step-fence.ts";

/** The parts of a kind of job. kinds.ts lists the kinds. */

/** The environment of a step. */
export interface JobPorts {
  readonly store: Store;
  /**
   * Runs statements in one D1 call, behind the fence of the job (store/jobs/step-fence.ts). They may take effect again later, until the next
   * step has written. So each statement compares its row, or is idempotent. Fails as `writeStep` does.
   */
  readonly write: WriteRows;
  /**
   * After this number of calls to D1, buckets and coordinators a step starts no further work. It always does some work, which may take a
   * few more calls. The value is JOB_STEP_CALLS at the first try, and half as much at each retry, because an invocation may have been cut
   * off.
   */
  readonly callsMax: number;
  /** The buckets, and the coordinators of vaults. */
  readonly bindings: BucketBindings & Pick<Env, "COORDINATOR">;
  /** The time in Unix milliseconds; `store.now` is that of the beginning of the step. */
  readonly clock: () => number;
}

/** The result of a step. */
export interface Stepped<State> extends JobReached {
  /** The state with which the next step begins, as JSON. A state that is too long (engine.ts) fails the step. */
  readonly state: State;
  readonly findings?: readonly Finding[];
  /** True if the job is done. */
  readonly done: boolean;
}

export interface KindOfJob<Input, State> {
  /**
   * True if a step seals rows. The root keys are then first compared with the database, because no other key decrypts texts sealed under a
   * wrong key.
   */
  readonly seals?: true;
  /** Returns true if steps call `write`. Absent: never. */
  readonly writes?: (state: State) => boolean;
  /** The format of the state. A release that changes the state increments it; a job of a later format fails as `version_skew`. */
  readonly format: number;
  /**
   * Returns the lock of the job: of jobs with the same lock, one runs at a time. It is a path: `vaults` includes `vaults/<id>`. Undefined: no
   * lock.
   */
  readonly holds: (input: Input) => string | undefined;
  /** Returns true if a job only reports what it would do. Absent: never. */
  readonly isDryRun?: (input: Input) => boolean;
  /** The state before the first step. */
  readonly start: (input: Input) => State;
  /**
   * Makes one step, with at most 40 calls of D1 and R2 while JOB_STEP_CALLS is 24: on the free plan an invocation may make 50. A step may run
   * twice from one state, even if the first run took effect, and must then have the same effect. Failures of a status from 500 on are
   * retried; other failures end the job.
   */
  readonly step: (ports: JobPorts, state: State) => Promise<Result<Stepped<State>>>;
  /**
   * For a kind that processes many vaults: returns the next state after a permanent failure, with a finding that names the vault left out.
   * Undefined: the job fails. Absent: the job always fails. It also fails if the failure is one of the deployment (engine.ts).
   */
  readonly skip?: (state: State, failure: Failure) => Stepped<State> | undefined;
  /** Returns findings that explain a failure which ends the job. They are added to the job's findings. */
  readonly explain?: (state: State, failure: Failure) => readonly Finding[];
  /** Returns true if the job may be stopped now. Absent: always. The state must forbid a stop before a step begins uninterruptible work. */
  readonly mayStop?: (state: State) => boolean;
}

/** Returns the lock of a job on one vault, or on all vaults. */
export const holdsVault = (vault: string | undefined): string => (vault === undefined ? "vaults" : `vaults/${vault}`);

/** A kind whose input and state the caller does not know. The caller keeps both as JSON, and gives each kind its own. */
export type AnyKind = KindOfJob<object, unknown>;

/** Checks a kind against the types of its own input and state. */
export const kind = <Input extends object, State>(row: KindOfJob<Input, State>): AnyKind => row as unknown as AnyKind;
