import { addChecked, type Checked, type Finding, NOTHING_CHECKED } from "../../model/finding.ts";
import { ok, type Result } from "../../model/result.ts";
import { runBatch } from "../d1/database.ts";
import { type Fault, findingOf } from "../checks/fault.ts";
import { type Position, REQUEST_MAX, type Stage, type VerifyPorts } from "./stage.ts";

/** Runs slices of stages from a position, as many as fit into one request, and repairs their findings if the request says so. */

/** The plan of a run: its stages, in their order, and what follows the last one. */
export interface Plan {
  readonly stages: readonly (readonly [name: string, stage: Stage])[];
  /** The first position after the stages of a vault; `undefined` at the end. Errors: `unavailable`. */
  readonly following: (vault: string) => Promise<Result<Position | undefined>>;
}

export interface Verified {
  readonly findings: readonly Finding[];
  readonly checked: Checked;
  /** Absent when everything is verified. */
  readonly next: Position | undefined;
}

/** In: the plan that has the stage of a position. Errors: those of the stages. */
export async function runSlices(
  ports: VerifyPorts,
  planOf: (stage: string) => Plan,
  start: Position,
  repair: boolean,
): Promise<Result<Verified>> {
  let [checked, calls]: [Checked, number] = [NOTHING_CHECKED, 0];
  const findings: Finding[] = [];
  let position: Position | undefined = start;
  while (position && calls < REQUEST_MAX.calls && checked.bytes < REQUEST_MAX.bytes) {
    const plan = planOf(position.stage);
    const index = plan.stages.findIndex(([name]) => name === position!.stage);
    const slice = await plan.stages[index]![1](ports, position);
    if (!slice.ok) return slice;
    checked = addChecked(checked, slice.value.checked);
    calls += slice.value.calls;
    findings.push(...(repair ? await repairAll(ports, slice.value.faults) : slice.value.faults.map((one) => findingOf(one))));
    const next = await follow(plan, index, position, slice.value.after);
    if (!next.ok) return next;
    position = next.value;
  }
  return ok({ findings, checked, next: position });
}

async function follow(
  { stages, following }: Plan,
  index: number,
  { stage, vault }: Position,
  after: Position["after"] | undefined,
): Promise<Result<Position | undefined>> {
  if (after) return ok({ stage, vault, after });
  const next = stages[index + 1];
  return next ? ok({ stage: next[0], vault, after: [] }) : following(vault);
}

/** The most statements of one batch of D1, which is one transaction. */
const BATCH_STATEMENTS_MAX = 100;

/** Repairs. Out: the findings, with the result of each repair. After a failed repair the next run has the finding again. */
async function repairAll({ store }: VerifyPorts, faults: readonly Fault[]): Promise<Finding[]> {
  const statements = faults.flatMap(({ repair }) => (repair?.by === "statement" ? [repair.statement] : []));
  let written = true;
  for (let from = 0; from < statements.length; from += BATCH_STATEMENTS_MAX)
    written = (await runBatch(store.db, ...statements.slice(from, from + BATCH_STATEMENTS_MAX))).ok && written;
  const calls = new Map<string, boolean>();
  for (const { repair } of faults)
    if (repair?.by === "call" && !calls.has(repair.key)) calls.set(repair.key, (await repair.run()).ok);
  return faults.map((one) => {
    if (!one.repair) return findingOf(one);
    return findingOf(one, one.repair.by === "call" ? calls.get(one.repair.key)! : written);
  });
}
