import type { Failure } from "../model/failure.ts";
import type { Finding } from "../model/finding.ts";
import type { Result } from "../model/result.ts";
import type { BucketBindings } from "../store/backup/ports.ts";
import type { Store } from "../store/d1/database.ts";
import type { JobReached } from "../store/jobs/job-rows.ts";
import type { WriteRows } from "../store/jobs/step-fence.ts";

/** What a kind of job is made of. kinds.ts lists the kinds. */

/** What a step works with. */
export interface JobPorts {
  readonly store: Store;
  /**
   * Carries out statements in one D1 call, behind the fence of the job (store/jobs/step-fence.ts). They may take effect again later, until the
   * next step has written: each compares the row that it writes, or gives it the value that it has after the first time. Errors: those of
   * `writeStep`.
   */
  readonly write: WriteRows;
  /**
   * After so many calls of D1, buckets and coordinators a step begins nothing further, but does something at least: what it has begun may take some
   * more. JOB_STEP_CALLS at the first try, and half as many at each further one, because an invocation may have been cut off.
   */
  readonly callsMax: number;
  /** The buckets, and the coordinators of vaults. */
  readonly bindings: BucketBindings & Pick<Env, "COORDINATOR">;
}

/** What a step has reached. */
export interface Stepped<State> extends JobReached {
  /** Where the next step begins: JSON. One that is too long (engine.ts) is a failure of the step. */
  readonly state: State;
  readonly findings?: readonly Finding[];
  /** Whether the job is done. */
  readonly done: boolean;
}

export interface KindOfJob<Input, State> {
  /** Whether a step seals rows. Then the root keys are compared with the database before it: what a wrong key seals, no other one opens. */
  readonly seals?: true;
  /** Whether steps call `write`; absent: never. */
  readonly writes?: (state: State) => boolean;
  /** The format of the state. A release that changes the state increments it; a job of a later format fails as `version_skew`. */
  readonly format: number;
  /**
   * What the job keeps others from: of the jobs that hold the same, one runs at a time. A path: `vaults` has the part `vaults/<id>`, which
   * nobody else may hold either. `undefined`: nothing.
   */
  readonly holds: (input: Input) => string | undefined;
  /** Whether a job only tells what it would do; absent: never. */
  readonly isDryRun?: (input: Input) => boolean;
  /** The state before the first step. */
  readonly start: (input: Input) => State;
  /**
   * Carries out one step, with at most 40 calls of D1 and R2 while JOB_STEP_CALLS is 24: on the free plan an invocation may make 50. A step may be carried out twice from
   * one state, also when the first time took effect, and then has the same effect. Errors of a status from 500 on are tried again; the others
   * end the job.
   */
  readonly step: (ports: JobPorts, state: State) => Promise<Result<Stepped<State>>>;
  /**
   * For a kind that does the same for many vaults: what the job goes on with when the step has failed for good, with a finding that names
   * the vault that is left out. `undefined`: the job fails. Absent: it always does, and so it does when the failure is one of the deployment
   * (engine.ts).
   */
  readonly skip?: (state: State, failure: Failure) => Stepped<State> | undefined;
  /** What is wrong, where a failure that ends the job says it in words: these findings are added to those of the job. */
  readonly explain?: (state: State, failure: Failure) => readonly Finding[];
  /** Whether the job may be stopped now; absent: always. A step must not begin what may not be stopped before its state says so. */
  readonly mayStop?: (state: State) => boolean;
  /** Whether the job may be paused. */
  readonly mayPause?: true;
}

/** What a job holds that works on a vault, or on all of them. */
export const holdsVault = (vault: string | undefined): string => (vault === undefined ? "vaults" : `vaults/${vault}`);

/** A kind whose input and state the caller does not know: it keeps both as JSON, and gives each kind its own ones. */
export type AnyKind = KindOfJob<object, unknown>;

/** Checks a kind against the types of its own input and state. */
export const kind = <Input extends object, State>(row: KindOfJob<Input, State>): AnyKind => row as unknown as AnyKind;
