import { REGISTRY } from "../../model/backup.ts";
import type { Finding } from "../../model/finding.ts";
import { PHASES, type Position, type Restoration, type RestoreRequest, stepsDone, stepsOf } from "../../model/restore.ts";
import { ok, type Result } from "../../model/result.ts";
import { begin } from "./begin.ts";
import { clearStep } from "./clear.ts";
import { contentsStep } from "./contents.ts";
import { planSlice } from "./plan.ts";
import type { RestorePorts } from "./ports.ts";
import { rowsStep } from "./rows.ts";
import { newBudget, type Step, type Stepped } from "./step.ts";

/**
 * Restores a vault from its backup, in slices. While the rows are written, the row of the vault itself is missing, so no request can read
 * or open the others. The last step inserts it, so the vault appears complete. Each step moves a position in D1 in the batch with its
 * effect. So an interrupted restore continues at its position, and a repeated step has no effect.
 */

type RunStep = (ports: RestorePorts, step: Step) => Promise<Result<Stepped>>;

const STEPS: Readonly<Record<Exclude<(typeof PHASES)[number], "done">, RunStep>> = {
  contents: contentsStep,
  clear: clearStep,
  rows: rowsStep,
  bucket: contentsStep,
};

/**
 * Carries out a slice of a restore. Out: its progress. Errors: those of `begin`; `backup_damaged`, with a detail that names the part or
 * content; `busy`, `database_full`, `unavailable`, after which the same request continues.
 */
export async function restoreSlice(
  ports: RestorePorts,
  request: RestoreRequest,
  clock: () => number,
): Promise<Result<Restoration>> {
  const begun = await begin(ports, request);
  if (!begun.ok) return begun;
  const { manifest, existing, skipped } = begun.value;
  const total = stepsOf(manifest.parts.length);
  const findings: Finding[] = [];
  const at = (position: Position): Restoration => {
    const state = position.phase === "done" ? "done" : "running";
    return { manifest, existing, state, done: stepsDone(position, manifest), total, findings, skipped };
  };
  const budget = newBudget(clock);
  if (request.dryRun) {
    const planned = await planSlice(ports, begun.value, budget, request.cursor);
    if (!planned.ok) return planned;
    return ok({ ...at(begun.value.position), ...planned.value, state: "planned", room: begun.value.room });
  }
  // The registry has neither contents nor earlier rows.
  const first = manifest.vault === REGISTRY && begun.value.position.phase === "contents" ? SKIPPED : begun.value.position;
  let last: Stepped = { position: first, saved: begun.value.position };
  while (last.position.phase !== "done") {
    const done = await STEPS[last.position.phase](ports, { ...begun.value, ...last, budget });
    if (!done.ok) return done;
    last = done.value;
    findings.push(...(last.findings ?? []));
    if (budget.isSpent() && last.position === last.saved) break;
  }
  return ok(at(last.position));
}

const SKIPPED: Position = { phase: "rows", part: 0, index: 0, rowsLeftOut: 0 };
