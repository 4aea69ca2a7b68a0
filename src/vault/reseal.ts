import type { Operation } from "../model/operation.ts";
import { type ResealPosition, type ResealProgress, START } from "../model/reseal.ts";
import { ok, type Result } from "../model/result.ts";
import { SECOND } from "../model/time.ts";
import type { ResealState } from "../store/rotation/reseal.ts";

/**
 * Gives a vault new keys and seals its rows again (contract 20.20 and on, decision 0032), some slices a call. The keys are replaced by
 * a commit like any other; from then on the vault has two pairs of keys, until the last slice drops the previous ones.
 */

/** What a request to reseal a vault is, on its way to the coordinator: plain data, because it crosses Durable Object RPC. */
export interface ResealRequest {
  readonly vault: string;
  /** The id of the keys that are to be replaced. */
  readonly dataKeyId: string;
  /** The operation that replaces them. */
  readonly operation: Operation;
}

/** The most slices, and about the most milliseconds, of one call: two D1 calls a slice. */
export const RUN_MAX = { slices: 5, milliseconds: 5 * SECOND };

export interface ResealPorts {
  /** Does one slice while no commit runs: see `resealSlice`. */
  readonly slice: (vault: string, expected: ResealPosition | undefined) => Promise<Result<ResealState>>;
  readonly write: (operation: Operation) => Promise<Result<unknown>>;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Goes on with the reseal of the vault; begins one when none is under way and the vault has these keys. A vault with other keys is
 * done, so that a repeated request never begins a second one. Errors: those of `slice` and `write`.
 */
export async function resealVault(ports: ResealPorts, request: ResealRequest): Promise<Result<ResealProgress>> {
  const until = ports.clock() + RUN_MAX.milliseconds;
  let expected: ResealPosition | undefined;
  let state: ResealState | undefined;
  for (let slices = 0; slices < RUN_MAX.slices && (slices === 0 || ports.clock() < until); slices++) {
    const slice = await ports.slice(request.vault, expected);
    if (!slice.ok) return slice;
    state = slice.value;
    expected = state.position;
    if (expected) continue;
    if (state.vault.dataKeyId !== request.dataKeyId) break;
    const begun = await ports.write(request.operation);
    if (!begun.ok) return begun;
    expected = START;
  }
  return ok(progressOf(state!, expected));
}

function progressOf({ vault, reached }: ResealState, next: ResealPosition | undefined): ResealProgress {
  const of = vault.items;
  // A repeated request knows no more than that all rows were passed.
  const { items, rows, unreadable } = next ?? reached ?? { items: of, rows: 0, unreadable: 0 };
  return { done: next === undefined, stage: next?.stage, items: Math.min(items, of), of, rows, unreadable };
}
