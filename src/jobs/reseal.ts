import type { ResealInput } from "../model/job.ts";
import { ADMIN, NO_ORIGIN, type Operation, OPERATION_FORMAT } from "../model/operation.ts";
import { NOTHING_RESEALED, type Resealed, type ResealPosition } from "../model/reseal.ts";
import { ok } from "../model/result.ts";
import { callObject } from "../retry.ts";
import { holdsVault, type KindOfJob } from "./kind.ts";

/**
 * The job that gives a vault new keys (contract 20.21, decision 0032). A step is one slice, which the coordinator of the vault makes, because
 * slices and commits take turns. D1 has the position: the one in the state only tells which slice the step is to make.
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
  start: (input) => ({ input, resealed: NOTHING_RESEALED }),
  mayPause: true,
  // The vault would keep the keys that are to be replaced.
  mayStop: () => false,
  async step({ bindings: { COORDINATOR } }, { input, position, resealed: before }) {
    const { vault, dataKeyId } = input;
    const request = { vault, dataKeyId, operation: operationOf(input), position };
    const step = await callObject(
      () => COORDINATOR.getByName(vault),
      "unavailable",
      (coordinator) => coordinator.reseal(request),
    );
    if (!step.ok) return step;
    const { position: next, items: total, done } = step.value;
    const resealed = next ? countsOf(next) : before;
    return ok({
      state: { input, position: next, resealed },
      progress: { done: done ? total : Math.min(resealed.items, total), total },
      result: { resealed },
      done,
    });
  },
};

const countsOf = ({ items, rows, unreadable }: ResealPosition): Resealed => ({ items, rows, unreadable });

/** The same in each step, so that it takes effect once. The log has the origin of the request with the job. */
const operationOf = ({ vault, dataKeyId, operation: id }: ResealInput): Operation => ({
  format: OPERATION_FORMAT,
  id,
  vault,
  actor: ADMIN,
  tokenHash: "",
  size: 0,
  origin: NO_ORIGIN,
  change: { kind: "reseal-vault", dataKeyId },
});
