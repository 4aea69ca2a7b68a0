import { operationId } from "../model/ids.ts";
import { ADMIN, type Operation, withoutRequest } from "../model/operation.ts";
import { type ResealPosition, START } from "../model/reseal.ts";
import { ok, type Result } from "../model/result.ts";
import type { RowCache } from "../store/commit/cache.ts";
import type { Store } from "../store/d1/database.ts";
import { resealSlice } from "../store/rotation/reseal.ts";
import type { Random } from "./complete.ts";
import type { Turns } from "./queue.ts";

/**
 * Gives a vault new keys and seals its rows again (contract 20.21 and on, decision 0032), a slice with each call. The keys are replaced by a
 * commit like any other; from then on the vault has two pairs of keys, until the last slice drops the previous ones.
 */

/** What a step of a reseal is, on its way to the coordinator: plain data, because it crosses Durable Object RPC. */
export interface ResealRequest {
  readonly vault: string;
  /** The id of the keys that are to be replaced. */
  readonly dataKey: string;
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

export interface ResealContext {
  readonly store: Store;
  readonly cache: RowCache;
  /** Runs a task when no commit is on its way. */
  readonly turn: Turns;
  readonly write: (operation: Operation) => Promise<Result<unknown>>;
  readonly random: Random;
}

/**
 * Goes on with the reseal of the vault, if it is where the caller expects it; begins one when none is under way and the vault has these
 * keys. Otherwise it only reads. So a step that is repeated or late does no more than one slice, and what it answers is what D1 has.
 * Errors: those of `resealSlice` and of writes.
 */
export async function resealVault(context: ResealContext, request: ResealRequest): Promise<Result<ResealStep>> {
  const { store, cache, turn, write, random } = context;
  const slice = await turn(async () => {
    const made = await resealSlice(store, request.vault, request.position);
    // The row of the vault in the cache has the earlier keys and a position, which a PATCH of the vault would show.
    if (!made.ok || !made.value.position) cache.update(undefined);
    return made;
  });
  if (!slice.ok) return slice;
  const { vault, position } = slice.value;
  const { items, dataKeyId, reseal } = vault;
  // The step that removes the keys is not the last one: D1 may be restored to an earlier time before its answer arrives.
  if (reseal) return ok({ position, items, done: false });
  if (dataKeyId !== request.dataKey) return ok({ position, items, done: true });
  // A new operation each time. It changes nothing when the vault has other keys by then; the log may have the one before from a time before
  // the vault was restored.
  const change = { kind: "reseal-vault", dataKeyId } as const;
  const begun = await write(withoutRequest(ADMIN, { id: operationId(store.now, random(10)), vault: vault.id, change }));
  return begun.ok ? ok({ position: START, items, done: false }) : begun;
}
