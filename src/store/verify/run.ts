import { catchDefect, logRefusal } from "../../log.ts";
import { addChecked, type Checked, type Finding, NOTHING_CHECKED } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import type { Bucket } from "../buckets/bucket.ts";
import { type Fault, findingOf } from "../checks/fault.ts";
import type { Store } from "../d1/database.ts";
import type { WriteRows } from "../jobs/step-fence.ts";

/** Runs slices of stages from a position, as many as fit into one step of a job, and repairs their findings if the job does. */

/** The requests to the coordinator of a vault. */
export interface Coordinators {
  /** Returns which of the keys are recorded as begun uploads or released contents. */
  pending(vault: string, keys: readonly string[]): Promise<Result<readonly string[]>>;
  /** Counts the rows of the vault again, between two commits. */
  recount(vault: string): Promise<Result<unknown>>;
}

export interface VerifyPorts {
  readonly store: Store;
  readonly files: Bucket;
  readonly backups: Bucket;
  readonly coordinators: Coordinators;
  /** True if contents are only checked for existence, and not read. */
  readonly quick: boolean;
  /** The vault whose counts a repair lowers to the number of rows. Empty: the counts of the registry. Undefined: none. */
  readonly acceptsLossOf: string | undefined;
  /** Carries out statements of D1 in one transaction; absent: the job does not repair. */
  readonly write: WriteRows | undefined;
  /** The number of calls of D1 and R2 that the step has made. */
  readonly calls: () => number;
  /** After about this many calls the step begins nothing further (jobs/kind.ts). */
  readonly callsMax: number;
}

/** The position at which a slice begins: plain data, which the job keeps between its steps. */
export interface Position {
  readonly stage: string;
  /** Empty for stages that belong to no vault. */
  readonly vault: string;
  /** The parts of the key at which the slice begins; empty at the beginning. */
  readonly after: readonly (string | number)[];
}

export interface Slice {
  readonly faults: readonly Fault[];
  readonly checked: Partial<Checked>;
  /** The position at which the next slice of the stage begins; absent when the stage is done. */
  readonly after?: Position["after"] | undefined;
  /** True if nothing else can be checked. */
  readonly isLast?: boolean;
}

/** A stage checks one kind of stored data in slices. Fails with `unavailable` or `misconfigured`. */
export type Stage = (ports: VerifyPorts, position: Position) => Promise<Result<Slice>>;

export const DONE: Slice = { faults: [], checked: {} };

/** The stages of a run, in their order. */
export interface Plan {
  readonly stagesOf: (vault: string) => Readonly<Record<string, Stage>>;
  /** Returns the first position after the stages of a vault, or undefined at the end. Fails with `unavailable`. */
  readonly following: (vault: string) => Promise<Result<Position | undefined>>;
}

/** The approximate maximum bytes of contents that a step reads, so that it ends in time: 32 MiB with 24 calls. */
export const stepBytesMax = ({ callsMax }: Pick<VerifyPorts, "callsMax">): number => Math.ceil((callsMax * 4 * 1024 * 1024) / 3);

/**
 * Returns true if a step that has read so many bytes begins another slice. A slice makes at most 20 calls. If it reads contents, it checks
 * after each of them whether the step has made enough (`isSpent`). So a step makes at most 16 calls more than `callsMax` (jobs/kind.ts).
 */
const beginsSlice = (ports: VerifyPorts, bytes: number): boolean =>
  ports.calls() < Math.max(1, ports.callsMax - 4) && bytes < stepBytesMax(ports);

/** Returns true if a slice that has read a content ends: the next content takes at most 8 calls, and its repair 2. */
export const isSpent = ({ calls, callsMax, write }: VerifyPorts): boolean => calls() >= (write ? callsMax - 8 : callsMax + 6);

export interface Verified {
  readonly findings: readonly Finding[];
  readonly checked: Checked;
  /** Absent when everything is verified. */
  readonly next: Position | undefined;
}

/** Runs slices. Fails as the stages, and as `writeStep` of store/jobs/step-fence.ts. */
export async function runSlices(ports: VerifyPorts, plan: Plan, start: Position): Promise<Result<Verified>> {
  let checked: Checked = NOTHING_CHECKED;
  const findings: Finding[] = [];
  let position: Position | undefined = start;
  while (position && beginsSlice(ports, checked.bytes)) {
    const slice = await runSlice(ports, plan, position);
    // The next step begins with the failed slice: its failure loses no finding of the slices before, and names its vault.
    if (!slice.ok) return position === start ? slice : ok({ findings, checked, next: position });
    const { faults, next } = slice.value;
    const found = ports.write ? await repair(faults, ports.write) : ok(faults.map((one) => findingOf(one)));
    if (!found.ok) return found;
    findings.push(...found.value);
    checked = addChecked(checked, slice.value.checked);
    position = next;
  }
  return ok({ findings, checked, next: position });
}

const runSlice = (
  ports: VerifyPorts,
  { stagesOf, following }: Plan,
  position: Position,
): Promise<Result<Slice & { readonly next: Position | undefined }>> =>
  catchDefect("A part of a verification", async () => {
    const { stage, vault } = position;
    const stages = stagesOf(vault);
    const slice = await stages[stage]!(ports, position);
    if (!slice.ok) return slice;
    const { after, isLast } = slice.value;
    if (isLast) return ok({ ...slice.value, next: undefined });
    const names = Object.keys(stages);
    const nextStage = after ? stage : names[names.indexOf(stage) + 1];
    const next = nextStage === undefined ? await following(vault) : ok({ stage: nextStage, vault, after: after ?? [] });
    return next.ok ? ok({ ...slice.value, next: next.value }) : next;
  });

/** One batch of D1 is one transaction. */
const BATCH_STATEMENTS_MAX = 100;

/**
 * Repairs the faults of a slice. Returns them as findings, each with the result of its repair. If a repair fails, the next run has the
 * finding again, and the other findings of the slice are repaired. Fails with `unavailable` or `database_restored` if D1 does.
 */
async function repair(faults: readonly Fault[], write: WriteRows): Promise<Result<Finding[]>> {
  const statements = faults.flatMap((one) => (one.repair?.by === "statement" ? [one.repair.statement] : []));
  let isWritten = true;
  for (let from = 0; from < statements.length; from += BATCH_STATEMENTS_MAX) {
    const batch = await write(statements.slice(from, from + BATCH_STATEMENTS_MAX));
    if (!batch.ok && ["unavailable", "database_restored"].includes(batch.failure.kind)) return batch;
    isWritten &&= batch.ok;
  }
  const calls = new Map<string, boolean>();
  for (const { repair: one } of faults)
    if (one?.by === "call" && !calls.has(one.key)) {
      const repaired = await catchDefect("A repair", one.run);
      if (!repaired.ok) logRefusal(repaired);
      calls.set(one.key, repaired.ok);
    }
  return ok(
    faults.map((one) => findingOf(one, one.repair && (one.repair.by === "call" ? calls.get(one.repair.key)! : isWritten))),
  );
}
