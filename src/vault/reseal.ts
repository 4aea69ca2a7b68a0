import type { Operation } from "../model/operation.ts";
import { type ResealPosition, START } from "../model/reseal.ts";
import { ok, type Result } from "../model/result.ts";
import type { ResealState } from "../store/rotation/reseal.ts";

/**
 * Gives a vault new keys and seals its rows again (contract 20.21 and on, decision 0032), a slice with each call. The keys are replaced by a
 * commit like any other; from then on the vault has two pairs of keys, until the last slice drops the previous ones.
 */

/** What a step of a reseal is, on its way to the coordinator: plain data, because it crosses Durable Object RPC. */
export interface ResealRequest {
  readonly vault: string;
  /** The id of the keys that are to be replaced. */
  readonly dataKeyId: string;
  /** The operation that replaces them. */
  readonly operation: Operation;
  /** Where the reseal is, as far as the caller knows. */
  readonly position: ResealPosition | undefined;
}

/** What a step has reached. */
export interface ResealStep {
  /** Where the next step begins. */
  readonly position: ResealPosition | undefined;
  /** The Items of the vault. */
  readonly items: number;
  /** Whether the vault has one pair of keys, which are others than those that are to be replaced. */
  readonly done: boolean;
}

export interface ResealPorts {
  /** Does one slice while no commit runs: see `resealSlice`. */
  readonly slice: (vault: string, expected: ResealPosition | undefined) => Promise<Result<ResealState>>;
  readonly write: (operation: Operation) => Promise<Result<unknown>>;
}

/**
 * Goes on with the reseal of the vault, if it is where the caller expects it; begins one when none is under way and the vault has these
 * keys. Otherwise it only reads. So a step that is repeated or late does no more than one slice, and what it answers is what D1 has.
 * Errors: those of `slice` and `write`.
 */
export async function resealVault(ports: ResealPorts, request: ResealRequest): Promise<Result<ResealStep>> {
  const slice = await ports.slice(request.vault, request.position);
  if (!slice.ok) return slice;
  const { vault, position, hasEnded } = slice.value;
  const { items, dataKeyId } = vault;
  // The step that removes the keys is not the last one: D1 may be restored to an earlier time before its answer arrives.
  if (position || hasEnded) return ok({ position, items, done: false });
  if (dataKeyId !== request.dataKeyId) return ok({ position, items, done: true });
  const begun = await ports.write(request.operation);
  return begun.ok ? ok({ position: START, items, done: false }) : begun;
}
