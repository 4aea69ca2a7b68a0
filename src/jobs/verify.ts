import { addChecked, type Checked, type Finding, NOTHING_CHECKED } from "../model/finding.ts";
import { ok } from "../model/result.ts";
import type { VerifyInput, VerifyRequest } from "../model/verify.ts";
import { withBuckets } from "../store/backup/ports.ts";
import { countCalls } from "../store/jobs/counted-calls.ts";
import { runSlices } from "../store/verify/run.ts";
import type { Coordinators, Position } from "../store/verify/stage.ts";
import { firstPosition, planOf } from "../store/verify/stages.ts";
import { callObject } from "../retry.ts";
import { fault, findingOf } from "../store/checks/fault.ts";
import { holdsVault, type JobPorts, type KindOfJob } from "./kind.ts";

/** The job that checks what is stored, and repairs it when told to (contract 22, decision 0035). A step is some slices. */

interface VerifyState {
  readonly input: VerifyInput;
  readonly position: Position;
  /** What the next step repairs first (store/verify/run.ts). */
  readonly found: readonly Finding[];
  readonly checked: Checked;
  /** Whether the next step goes on after the vault of the position, which is left out. */
  readonly skipped?: true;
}

export const VERIFY: KindOfJob<VerifyInput, VerifyState> = {
  format: 1,
  writes: ({ input }) => input.repair,
  holds: ({ repair, vault }) => (repair ? holdsVault(vault) : undefined),
  start: (input) => ({
    input,
    position: firstPosition(input.vault, input.backup),
    found: [],
    checked: NOTHING_CHECKED,
  }),
  async step({ store, write, bindings }, state) {
    const { input, position, found } = state;
    const { vault, quick, repair, acceptLoss } = input;
    const opened = withBuckets(store, bindings);
    if (!opened.ok) return opened;
    const { storage, calls } = countCalls(opened.value);
    const { files, backups } = storage;
    const coordinators = coordinatorsOf(bindings, acceptLoss);
    const ports = { store: storage, files, backups, coordinators, quick, acceptLoss, repair, calls };
    const plan = planOf(storage, vault);
    const first = state.skipped ? await plan(position.stage).following(position.vault) : ok(position);
    if (!first.ok) return first;
    const slices = await runSlices(ports, plan, first.value, repair ? { found, write } : undefined);
    if (!slices.ok) return slices;
    const { next } = slices.value;
    const checked = addChecked(state.checked, slices.value.checked);
    return ok({
      state: { input, position: next ?? position, found: slices.value.found, checked },
      progress: { done: checked.rows, total: next ? 0 : checked.rows },
      result: { checked },
      findings: slices.value.findings,
      done: !next,
    });
  },
  /**
   * Leaves out a vault of several, for example one whose coordinator does not answer. When the next step reaches nothing either, the fault is
   * none of the vault, and the job fails.
   */
  skip(state, { kind }) {
    const { vault } = state.position;
    if (vault === "" || state.input.vault !== undefined || state.skipped) return undefined;
    const detail = `it was not verified to its end: ${kind}`;
    const next = { ...state, found: [], skipped: true } as const;
    const progress = { done: state.checked.rows, total: 0 };
    return { state: next, progress, findings: [findingOf(fault("vault_skipped", { vault }, detail))], done: false };
  },
};

function coordinatorsOf(bindings: JobPorts["bindings"], acceptLoss: boolean): Coordinators {
  const send = (vault: string, request: VerifyRequest) =>
    callObject(
      () => bindings.COORDINATOR.getByName(vault),
      "unavailable",
      (coordinator) => coordinator.verify(vault, request),
    );
  return {
    pending: (vault, keys) => send(vault, { kind: "pending", keys }),
    release: (vault, keys) => send(vault, { kind: "release", keys }),
    recount: (vault) => send(vault, { kind: "recount", acceptLoss }),
  };
}
