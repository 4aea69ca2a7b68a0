import type { RewrapInput } from "../model/job.ts";
import { fail, ok } from "../model/result.ts";
import { FIRST_SLICE, type RewrapCursor, rewrapSlice } from "../store/rotation/rewrap.ts";
import type { KindOfJob } from "./kind.ts";

/** The job that puts all rows under the active root key (contract 20.3). A step is one slice; the slices from the first on are a pass. */

interface RewrapState extends RewrapInput {
  readonly cursor: RewrapCursor;
  /** Highest number of rows under other keys at one time. */
  readonly total: number;
  /** Number of complete passes, and whether the current pass has written rows. */
  readonly passes: number;
  readonly passHasWritten: boolean;
}

/**
 * After this number of passes, Workers with the old ROOT_KEYS add rows as fast as they are rewrapped. The progress shows the number of
 * remaining rows.
 */
const PASSES_MAX = 100;

export const REWRAP: KindOfJob<RewrapInput, RewrapState> = {
  format: 1,
  seals: true,
  writes: () => true,
  holds: () => "root keys",
  start: ({ activeKey }) => ({ activeKey, cursor: FIRST_SLICE, total: 0, passes: 0, passHasWritten: false }),
  async step({ store, write }, state) {
    // The operator may still have the old ROOT_KEYS, or already newer ones. The step is retried.
    if (store.keyring.active.id !== state.activeKey) return fail("misconfigured", "the active root key is another one");
    const slice = await rewrapSlice(store, state.cursor, write);
    if (!slice.ok) return slice;
    const { rows, findings, hasWritten, next } = slice.value;
    const total = Math.max(state.total, rows);
    const passHasWritten = state.passHasWritten || hasWritten;
    const passes = state.passes + (next ? 0 : 1);
    // Rows may have been added behind the cursor. After a pass without writes, all remaining rows are known to be broken.
    const done = rows === 0 || (!next && (!passHasWritten || passes === PASSES_MAX));
    return ok({
      state: { ...state, cursor: next ?? FIRST_SLICE, total, passes, passHasWritten: next ? passHasWritten : false },
      progress: { done: total - rows, total },
      findings,
      done,
    });
  },
};
