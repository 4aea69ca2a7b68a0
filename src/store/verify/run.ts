import { catchDefect, logRefusal } from "../../log.ts";
import { addChecked, type Checked, type Finding, NOTHING_CHECKED } from "../../model/finding.ts";
import { ok, type Refusal, type Result } from "../../model/result.ts";
import { type Fault, findingOf } from "../checks/fault.ts";
import { beginsSlice, type Position, type Slice, type Stage, type VerifyPorts } from "./stage.ts";

/**
 * Runs slices of stages from a position, as many as fit into one step of a job, and repairs their findings if the job does.
 *
 * A step may be carried out twice, and the second time no longer finds what the first time repaired. So a step ends before it repairs: it
 * gives the repairable findings of the slice that it has reached, as not repaired, and the next step begins with this slice, repairs those
 * only, and gives them again with the outcome. So a job that ends in between has them too.
 */

/** The plan of a run: its stages, in their order, and what follows the last one. */
export interface Plan {
  readonly stages: readonly (readonly [name: string, stage: Stage])[];
  /** The first position after the stages of a vault; `undefined` at the end. Errors: `unavailable`. */
  readonly following: (vault: string) => Promise<Result<Position | undefined>>;
}

export interface Repairs {
  /** The repairable findings of the first slice, which the step before has given. */
  readonly found: readonly Finding[];
  /** Carries out statements of D1 in one transaction. Errors: see `writeStep` in store/jobs/step-fence.ts. */
  readonly write: (statements: readonly D1PreparedStatement[]) => Promise<Result<undefined>>;
}

export interface Verified {
  readonly findings: readonly Finding[];
  readonly checked: Checked;
  /** Absent when everything is verified. */
  readonly next: Position | undefined;
  /** The repairable findings of the slice at `next`, with which the next step begins. */
  readonly found: readonly Finding[];
}

/** In: the plan that has the stage of a position. Errors: those of the stages; of repairs `unavailable` and `database_restored`. */
export async function runSlices(
  ports: VerifyPorts,
  planOf: (stage: string) => Plan,
  start: Position,
  repairs?: Repairs,
): Promise<Result<Verified>> {
  let checked: Checked = NOTHING_CHECKED;
  let found = repairs?.found ?? [];
  const findings: Finding[] = [];
  let position: Position | undefined = start;
  while (position && beginsSlice(ports, checked.bytes)) {
    const slice = await runSlice(ports, planOf(position.stage), position);
    // The next step begins with the slice that failed: its failure costs no finding of the slices before, and names its vault.
    if (!slice.ok) return position === start ? slice : ok({ findings, checked, next: position, found });
    const { faults, next } = slice.value;
    const fresh = repairs ? repairableOf(faults).filter(isNotIn(found)) : [];
    if (fresh.length > 0) return ok({ findings: [...findings, ...fresh], checked, next: position, found: [...found, ...fresh] });
    const repaired = repairs ? await repairAll(faults, found, repairs) : ok(faults.map((one) => findingOf(one)));
    if (!repaired.ok) return repaired;
    findings.push(...repaired.value);
    found = [];
    checked = addChecked(checked, slice.value.checked);
    position = next;
  }
  return ok({ findings, checked, next: position, found });
}

/** Runs the slice at a position. Out: also the position of the next slice; absent when everything is verified. */
const runSlice = (
  ports: VerifyPorts,
  { stages, following }: Plan,
  position: Position,
): Promise<Result<Slice & { readonly next: Position | undefined }>> =>
  catchDefect("A part of a verification", async () => {
    const { stage, vault } = position;
    const index = stages.findIndex(([name]) => name === stage);
    const slice = await stages[index]![1](ports, position);
    if (!slice.ok) return slice;
    const { after, isLast } = slice.value;
    if (isLast) return ok({ ...slice.value, next: undefined });
    const nextStage = after ? stage : stages[index + 1]?.[0];
    const next = nextStage === undefined ? await following(vault) : ok({ stage: nextStage, vault, after: after ?? [] });
    return next.ok ? ok({ ...slice.value, next: next.value }) : next;
  });

const repairableOf = (faults: readonly Fault[]): Finding[] =>
  faults.filter(({ repair }) => repair !== undefined).map((one) => findingOf(one, false));

/** What a finding is about. Its words may have numbers that writes change. */
const nameOf = ({ detail: _detail, repairable: _repairable, repaired: _repaired, ...named }: Finding): string =>
  JSON.stringify(named);

function isNotIn(findings: readonly Finding[]): (finding: Finding) => boolean {
  const names = new Set(findings.map(nameOf));
  return (finding) => !names.has(nameOf(finding));
}

/** The most statements of one batch of D1, which is one transaction. */
const BATCH_STATEMENTS_MAX = 100;

/**
 * Repairs. In: the faults of a slice, and the findings that were to be repaired. Out: these findings in their words, with the result of each
 * repair: those that are no faults any more were repaired by an earlier try of the step; and the faults without a repair. After a failed
 * repair the next run has the finding again. A call that fails does not end the step: the other vaults are still to be checked.
 * Errors: `unavailable`, `database_restored`.
 */
async function repairAll(faults: readonly Fault[], found: readonly Finding[], { write }: Repairs): Promise<Result<Finding[]>> {
  const statements = faults.flatMap(({ repair }) => (repair?.by === "statement" ? [repair.statement] : []));
  let written = true;
  for (let from = 0; from < statements.length; from += BATCH_STATEMENTS_MAX) {
    const batch = await write(statements.slice(from, from + BATCH_STATEMENTS_MAX));
    if (!batch.ok && endsStep(batch)) return batch;
    written &&= batch.ok;
  }
  const calls = new Map<string, boolean>();
  for (const { repair } of faults)
    if (repair?.by === "call" && !calls.has(repair.key)) {
      const repaired = await catchDefect("A repair", repair.run);
      if (!repaired.ok) logRefusal(repaired);
      calls.set(repair.key, repaired.ok);
    }
  const isLeft = ({ repair }: Fault): boolean => !repair || !(repair.by === "call" ? calls.get(repair.key)! : written);
  const isRepaired = isNotIn(faults.filter(isLeft).map((one) => findingOf(one)));
  return ok([
    ...found.map((one) => Object.assign({}, one, { repaired: isRepaired(one) })),
    ...faults.filter(({ repair }) => !repair).map((one) => findingOf(one)),
  ]);
}

/** Whether the step is tried again, or the job ends, because a write of D1 failed. After any other failure the others are repaired. */
const endsStep = ({ failure: { kind } }: Refusal): boolean => kind === "unavailable" || kind === "database_restored";
