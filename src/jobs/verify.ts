import { callObject } from "../durable-object-calls.ts";
import { addChecked, type Checked, type Finding, NOTHING_CHECKED } from "../model/finding.ts";
import type { VerifyInput, VerifyRequest } from "../model/job.ts";
import { ok } from "../model/result.ts";
import { withBuckets } from "../store/backup/load.ts";
import { fault, findingOf } from "../store/checks/fault.ts";
import { countCalls } from "../store/jobs/counted-calls.ts";
import { type Coordinators, type Position, runSlices } from "../store/verify/run.ts";
import { firstPosition, planOf } from "../store/verify/stages.ts";
import { holdsVault, type JobPorts, type KindOfJob, type Stepped } from "./kind.ts";

/** The job that checks stored data, and repairs it on request (contract 22). A step is some slices. */

interface VerifyState {
  readonly input: VerifyInput;
  readonly position: Position;
  readonly checked: Checked;
  /** True if the next step continues after the vault of the position, which is left out. */
  readonly skipped?: boolean;
  /** True if the previous vault was left out because the storage or a coordinator did not answer. */
  readonly unavailable?: boolean;
}

export const VERIFY: KindOfJob<VerifyInput, VerifyState> = {
  format: 1,
  writes: ({ input }) => input.repair,
  holds: ({ repair, vault }) => (repair ? holdsVault(vault) : undefined),
  start: (input) => ({
    input,
    position: firstPosition(input.vault, input.backup),
    checked: NOTHING_CHECKED,
  }),
  async step({ store, write, bindings, callsMax }, state) {
    const { input, position } = state;
    const opened = withBuckets(store, bindings);
    if (!opened.ok) return opened;
    const { storage, calls } = countCalls(opened.value);
    const acceptsLossOf = input.acceptLoss ? (input.vault ?? "") : undefined;
    const plan = planOf(storage, input);
    if (state.skipped) {
      const following = await plan.following(position.vault);
      return following.ok ? ok(reached({ ...state, skipped: false }, following.value)) : following;
    }
    const ports = {
      store: storage,
      files: storage.files,
      backups: storage.backups,
      coordinators: coordinatorsOf(bindings, acceptsLossOf),
      quick: input.quick,
      acceptsLossOf,
      write: input.repair ? write : undefined,
      calls,
      callsMax,
    };
    const slices = await runSlices(ports, plan, position);
    if (!slices.ok) return slices;
    const { next, findings } = slices.value;
    return ok(reached({ input, position, checked: addChecked(state.checked, slices.value.checked) }, next, findings));
  },
  /** Leaves out one of several vaults, for example if its coordinator does not answer. */
  skip(state, { kind }) {
    const { vault } = state.position;
    if (vault === "" || state.input.vault !== undefined || state.skipped) return undefined;
    const unavailable = kind === "unavailable";
    // Then nothing is wrong with the second vault, and every other vault would fail in the same way.
    if (unavailable && state.unavailable) return undefined;
    const finding = findingOf(fault("vault_skipped", { vault }, `it was not verified to its end: ${kind}`));
    return reached({ ...state, skipped: true, unavailable }, state.position, [finding]);
  },
};

/** Returns the result of a step. `next` is the position of the next step; absent if everything is verified. */
const reached = (state: VerifyState, next: Position | undefined, findings: readonly Finding[] = []): Stepped<VerifyState> => ({
  state: { ...state, position: next ?? state.position },
  progress: { done: state.checked.rows, total: next ? 0 : state.checked.rows },
  result: { checked: state.checked },
  findings,
  done: !next,
});

function coordinatorsOf(bindings: JobPorts["bindings"], acceptsLossOf: string | undefined): Coordinators {
  const send = (vault: string, request: VerifyRequest) =>
    callObject(
      () => bindings.COORDINATOR.getByName(vault),
      "unavailable",
      (coordinator) => coordinator.verify(vault, request),
    );
  return {
    pending: (vault, keys) => send(vault, { kind: "pending", keys }),
    recount: (vault) => send(vault, { kind: "recount", acceptLoss: acceptsLossOf === vault }),
  };
}
