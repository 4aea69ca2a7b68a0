import type { ResealInput } from "../model/job.ts";
import { countsOf, type Resealed, type ResealPosition, START } from "../model/reseal.ts";
import { ok } from "../model/result.ts";
import { callObject } from "../durable-object-calls.ts";
import { holdsVault, type KindOfJob } from "./kind.ts";

/**
 * The job that gives a vault new keys (contract 20.21, decision 0032). A step is one slice. The coordinator of the vault makes it, because
 * slices and commits take turns. D1 has the position; the position in the state only selects the slice of the step.
 */

interface ResealState {
  readonly input: ResealInput;
  readonly position?: ResealPosition | undefined;
  /** The counts of the last position. The slice that removes the earlier keys also removes the position. */
  readonly resealed: Resealed;
}

export const RESEAL: KindOfJob<ResealInput, ResealState> = {
  format: 1,
  seals: true,
  holds: ({ vault }) => holdsVault(vault),
  start: (input) => ({ input, resealed: countsOf(START) }),
  mayPause: true,
  // The vault would keep the keys that are to be replaced.
  mayStop: () => false,
  async step({ bindings }, { input, position, resealed: before }) {
    const { vault, dataKey } = input;
    const step = await callObject(
      () => bindings.COORDINATOR.getByName(vault),
      "unavailable",
      (coordinator) => coordinator.reseal({ vault, dataKey, position }),
    );
    if (!step.ok) return step;
    const { position: next, items: total, done } = step.value;
    const resealed = next ? countsOf(next) : before;
    return ok({
      state: { input, position: next, resealed },
      progress: { done: Math.min(resealed.items, total), total },
      result: { resealed },
      done,
    });
  },
};
